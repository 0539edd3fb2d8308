"""Rating finished games, once each.

Who waits for whom: whoever changes the ratings of a key holds its lock, an advisory one. Games share it; a replay
(accounts/services/ledgers.py) has it alone, so that games of the key which end meanwhile are rated after it, on what it
left. After that lock come rating rows in the order of their players, then the buckets of leaderboards.
"""

from collections.abc import Sequence

from accounts import rules
from accounts.models import LedgerRow, RatingRow
from accounts.rules import Rating, RatingChange
from common import database

_SHARE_KEY = "SELECT pg_advisory_xact_lock_shared(hashtextextended('rating:' || %s, 0))"
_TAKE_KEY = "SELECT pg_advisory_xact_lock(hashtextextended('rating:' || %s, 0))"


def rate_game(
    *, game_id: str, key: str, ranks: Sequence[tuple[int, int]], at: int
) -> list[RatingChange]:
    """Apply a finished game to its players' ratings and return the changes, in the order of `ranks`.

    `ranks` are pairs of player id and rank (1 is best, ties allowed) of at least two different players; `at` is when
    the game ended, in milliseconds. Runs in the caller's transaction and locks the rating rows in player id order to
    its end. A second call for the same game changes nothing and returns the changes that were made.
    """
    player_ids = [player_id for player_id, _ in ranks]
    if len(ranks) < 2 or len(set(player_ids)) != len(ranks):
        raise ValueError("a rated game has at least two players, each in one place")
    database.prepared(_SHARE_KEY, [key])
    rows = _locked_ratings(player_ids, key)
    # Only now: whoever rated this game at the same moment held one of these locks until its commit.
    stored = LedgerRow.objects.filter(game_id=game_id).order_by("id")
    if changes := [row.change for row in stored]:
        return changes
    before = [Rating(row.mu, row.sigma, row.games) for row in rows]
    after = rules.rate(before, [rank for _, rank in ranks])
    ledger = []
    for row, (_, rank), old, new in zip(rows, ranks, before, after, strict=True):
        row.mu, row.sigma, row.games = new.mu, new.sigma, new.games
        ledger.append(
            LedgerRow(
                game_id=game_id,
                player_id=row.player_id,
                key=key,
                sequence=new.games + row.annulled,
                rank=rank,
                mu_before=old.mu,
                sigma_before=old.sigma,
                mu_after=new.mu,
                sigma_after=new.sigma,
                at=at,
            )
        )
    RatingRow.objects.bulk_update(rows, ["mu", "sigma", "games"])
    LedgerRow.objects.bulk_create(ledger)
    return [row.change for row in ledger]


def take_key(key: str) -> None:
    """Let no game of this key be rated to the end of the caller's transaction; waits for those that are being rated."""
    database.prepared(_TAKE_KEY, [key])


def _locked_ratings(player_ids: Sequence[int], key: str) -> list[RatingRow]:
    """The rating rows in the order of `player_ids`, made if missing, locked in player id order.

    Missing rows are inserted before any lock is taken, by everybody: two games can wait for each other in neither step.
    """
    known = RatingRow.objects.filter(player_id__in=player_ids, key=key)
    missing = set(player_ids) - set(known.values_list("player_id", flat=True))
    RatingRow.objects.bulk_create(
        [RatingRow(player_id=player_id, key=key) for player_id in sorted(missing)],
        ignore_conflicts=True,
    )
    locked = (
        RatingRow.objects.select_for_update(no_key=True)
        .filter(player_id__in=player_ids, key=key)
        .order_by("player_id")
    )
    by_player = {row.player_id: row for row in locked}
    return [by_player[player_id] for player_id in player_ids]

"""A rated game that does not count any more, and one that counts again."""

from django.db import transaction
from django.db.models import F

from accounts import rules
from accounts.events import GameAnnulled, GameRestored
from accounts.models import LedgerRow, RatingRow, SeasonTable
from accounts.replay import Standing
from accounts.services import ledgers
from accounts.services.decisions import Action, checked_reason, note
from accounts.services.inbox import notify
from accounts.services.ratings import take_key


def annul_game(*, game_id: str, by: int, reason: str) -> ledgers.Report | None:
    """Let a game not count, for a reason; None if it does not count already.

    Its rows stay, and leave the ratings as they were. Whatever came after it in its key is rated again, for its players
    and whoever met them later, and so on. They learn it from their inboxes. Final tables of seasons stay as they are.
    Raises `LookupError` for a game that was not rated.
    """
    return _decide(True, game_id, by, reason)


def restore_game(*, game_id: str, by: int, reason: str) -> ledgers.Report | None:
    """Undo `annul_game`: everything is as if it had never been annulled. None if it counts."""
    return _decide(False, game_id, by, reason)


@transaction.atomic
def _decide(annul: bool, game_id: str, by: int, reason: str) -> ledgers.Report | None:
    reason = checked_reason(reason)
    key, _ = ledgers.first_of(game_id)
    take_key(key)
    _, rows = ledgers.first_of(game_id)
    if rows[0].annulled == annul:
        return None
    before = _shown(key, rows)
    LedgerRow.objects.filter(game_id=game_id).update(annulled=annul)
    report, standings = ledgers.replay_after(key, rows[0].pk)
    ledgers.write_ratings(key, _counted(standings, rows, annul))
    after = _shown(key, rows)
    tables = SeasonTable.objects.filter(
        key=key, season__starts_at__lte=rows[0].at, season__ends_at__gt=rows[0].at
    )
    stale = list(tables.order_by("id").values_list("season__name", flat=True))
    tables.update(late_changes=F("late_changes") + 1)
    note(
        Action.GAME_ANNULLED if annul else Action.GAME_RESTORED,
        by=by,
        reason=reason,
        key=key,
        game_id=game_id,
        facts={
            "ranks": {row.player_id: row.rank for row in rows},
            "ratings_before": before,
            "ratings_after": after,
            "games_rated_again": report.games - 1,
            "ratings_changed": report.ratings,
            "final_tables_left_as_they_are": stale,
        },
    )
    event = GameAnnulled if annul else GameRestored
    for player in sorted(before):
        told = event(
            game=game_id, key=key, reason=reason, before=before[player], after=after[player]
        )
        notify(player_id=player, event=told)
    return report


def _counted(
    standings: dict[int, Standing], rows: list[LedgerRow], annul: bool
) -> dict[int, Standing]:
    """What the replay says of mu and sigma; and one game less, or more, for those who played in it."""
    own = {row.player_id for row in rows}
    for player_id, standing in standings.items():
        by = (1 if annul else -1) if player_id in own else 0
        standing.games, standing.annulled = -by, by
    return standings


def _shown(key: str, rows: list[LedgerRow]) -> dict[int, str]:
    """The ratings of a game's players as shown."""
    ratings = RatingRow.objects.filter(key=key, player_id__in=[row.player_id for row in rows])
    return {
        rating.player_id: str(rules.Rating(rating.mu, rating.sigma, rating.games))
        for rating in ratings
    }

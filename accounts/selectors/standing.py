"""Ratings and their history."""

from collections.abc import Iterable, Mapping

from accounts.models import LedgerRow, RatingRow
from accounts.rules import Rating
from common import replica

_calibrated: dict[str, Mapping[str, Rating]] = {}


def offer_calibrated(ratings: Mapping[str, Mapping[str, Rating]]) -> None:
    """Show these as the ratings of CPU players, by level and key. The app that has the levels calls it at start-up."""
    _calibrated.clear()
    _calibrated.update(ratings)


def calibrated_ratings(level: str) -> Mapping[str, Rating]:
    """The measured ratings of a CPU level by key; none for people, whose level is empty."""
    return _calibrated.get(level, {})


def ratings_of(player_ids: Iterable[int], key: str) -> dict[int, Rating]:
    """The rating of each of the players in `key`; a newcomer's is the default."""
    ids = set(player_ids)
    rows = RatingRow.objects.filter(player_id__in=ids, key=key)
    known = {row.player_id: Rating(row.mu, row.sigma, row.games) for row in rows}
    return {player_id: known.get(player_id, Rating()) for player_id in ids}


@replica.may_lag
def profile_ratings(player_id: int, level: str = "") -> dict[str, Rating]:
    """All ratings that a player has, by key and in its order; with its `level` those of a CPU player."""
    rows = RatingRow.objects.filter(player_id=player_id, games__gt=0)
    earned = {row.key: Rating(row.mu, row.sigma, row.games) for row in rows}
    return dict(sorted({**calibrated_ratings(level), **earned}.items()))


@replica.may_lag
def rating_history(
    player_id: int, key: str, *, before: int | None = None, limit: int
) -> list[LedgerRow]:
    """The changes of a player's rating, the newest first, those with a `sequence` below `before`."""
    rows = LedgerRow.objects.filter(player_id=player_id, key=key).order_by("-sequence")
    return list((rows if before is None else rows.filter(sequence__lt=before))[:limit])

"""Ratings, their history, and leaderboards."""

import base64
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from django.db.models import Q

from accounts import rules
from accounts.errors import InvalidCursorError, UnknownLeaderboardError, UnknownPlayerError
from accounts.models import LedgerRow, Player, RatingRow
from accounts.rules import Rating
from accounts.selectors.people import PlayerCard, player_named


def ratings_of(player_ids: Iterable[int], key: str) -> dict[int, Rating]:
    """The rating of each of the players in `key`; a newcomer's is the default."""
    ids = set(player_ids)
    rows = RatingRow.objects.filter(player_id__in=ids, key=key)
    known = {row.player_id: Rating(row.mu, row.sigma, row.games) for row in rows}
    return {player_id: known.get(player_id, Rating()) for player_id in ids}


def profile_ratings(player_id: int) -> dict[str, Rating]:
    """All ratings that a player has, by key and in its order."""
    rows = RatingRow.objects.filter(player_id=player_id, games__gt=0).order_by("key")
    return {row.key: Rating(row.mu, row.sigma, row.games) for row in rows}


def rating_history(
    player_id: int, key: str, *, before: int | None = None, limit: int
) -> list[LedgerRow]:
    """The changes of a player's rating, the newest first, those with a `sequence` below `before`."""
    rows = LedgerRow.objects.filter(player_id=player_id, key=key).order_by("-sequence")
    return list((rows if before is None else rows.filter(sequence__lt=before))[:limit])


def ledger_games(key: str) -> Iterator[list[tuple[int, int]]]:
    """The rated games of `key` as lists of (player id, rank), in an order in which they can be replayed."""
    rows = LedgerRow.objects.filter(key=key).order_by("id").iterator()
    for _, game in groupby(rows, key=lambda row: row.game_id):
        yield [(row.player_id, row.rank) for row in game]


@dataclass(frozen=True, slots=True)
class LeaderboardEntry:
    """One line: players whose shown ratings are equal share the `rank`, and the next rank leaves a gap (1, 2, 2, 4)."""

    rank: int
    player: PlayerCard
    rating: Rating


@dataclass(frozen=True, slots=True)
class LeaderboardPage:
    """A part of a leaderboard; `next` is the cursor of the part after it, or None."""

    key: str
    entries: list[LeaderboardEntry]
    next: str | None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a page ends: its last line, the number of lines so far, and the rank that a tie would share."""

    mu: float
    sigma: float
    name: str
    position: int
    rank: int

    def cursor(self) -> str:
        fields = [self.mu, self.sigma, self.name, self.position, self.rank]
        return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")

    @classmethod
    def of(cls, cursor: str) -> "_Place":
        """Raises `InvalidCursorError` for what `cursor` did not write."""
        try:
            mu, sigma, name, position, rank = json.loads(
                base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
            )
            place = cls(float(mu), float(sigma), str(name), int(position), int(rank))
        except (ValueError, TypeError, OverflowError) as error:
            raise InvalidCursorError from error
        if not (abs(place.mu) < 1e9 and abs(place.sigma) < 1e9 and rules.is_name(place.name)):
            raise InvalidCursorError
        return place


def _after(place: _Place) -> Q:
    """Everything behind the place in the declared order; `mu <=` is what the index can start from."""
    try:
        player_id = player_named(place.name).pk
    except UnknownPlayerError as error:
        raise InvalidCursorError("Start again from the first page.") from error
    same_mu = Q(sigma__gt=place.sigma) | Q(sigma=place.sigma, player_id__gt=player_id)
    return Q(mu__lte=place.mu) & (Q(mu__lt=place.mu) | same_mu)


def leaderboard_page(
    key: str, *, cursor: str | None = None, limit: int = 50, bots: bool = False
) -> LeaderboardPage:
    """A page of the leaderboard of a rating key: of people, or of bots.

    Order: mu from high to low, then sigma from low to high (the surer first), then the older account. Ranks are by the
    shown rating. Left out: provisional ratings, banned players, and the built-in CPU players. The cost of a page does
    not depend on how deep it lies: the cursor carries the count so far.
    """
    if rules.KEY.fullmatch(key) is None:
        raise UnknownLeaderboardError(f"{key!r} is not of the form variant:speed.")
    rows = RatingRow.objects.filter(
        key=key,
        sigma__lt=rules.PROVISIONAL_SIGMA,
        player__is_active=True,
        player__level="",
    ).select_related("player")
    bot = Q(player__kind=Player.Kind.BOT)
    rows = rows.filter(bot if bots else ~bot)
    place = _Place.of(cursor) if cursor else None
    if place is not None:
        rows = rows.filter(_after(place))
    found = list(rows.order_by("-mu", "sigma", "player_id")[: limit + 1])
    entries: list[LeaderboardEntry] = []
    for row in found[:limit]:
        position = place.position + 1 if place else 1
        tied = place is not None and rules.shown(place.mu) == rules.shown(row.mu)
        rank = place.rank if place and tied else position
        place = _Place(row.mu, row.sigma, row.player.name, position, rank)
        rating = Rating(row.mu, row.sigma, row.games)
        entries.append(LeaderboardEntry(rank, PlayerCard.of(row.player), rating))
    return LeaderboardPage(key, entries, place.cursor() if place and len(found) > limit else None)

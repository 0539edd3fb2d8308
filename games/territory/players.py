"""Reading a player's games: the list by pages, and what they come to."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from accounts import selectors as accounts
from games.territory.models import Game, PlayerGame, Seat, Statistic
from games.territory.tally import COUNTED, Result, Tally


@dataclass(frozen=True, slots=True)
class Filters:
    """Which games are wanted; None for all of them. `opponent` is a player's id, `level` a CPU's."""

    variant: str | None = None
    rated: bool | None = None
    result: str | None = None
    status: str | None = None
    opponent: int | None = None
    level: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class SeatView:
    """A seat of a listed game; points and rank when there are some."""

    player: accounts.PlayerCard
    points: int | None
    rank: int | None


@dataclass(frozen=True, slots=True)
class GameView:
    """A game as the list of one of its players shows it."""

    game: Game
    key: str
    result: str
    points: int | None
    seats: list[SeatView]


STATUSES = {"started": [Result.OPEN], "aborted": [Result.ABORTED]}
"""The results that a status is; all others are those of finished games."""


def games_of(
    player_id: int, filters: Filters, *, before: tuple[datetime, str] | None, limit: int
) -> list[PlayerGame]:
    """A page of `rows_of`."""
    return list(rows_of(player_id, filters, before=before)[:limit])


def rows_of(
    player_id: int, filters: Filters, *, before: tuple[datetime, str] | None
) -> QuerySet[PlayerGame]:
    """The player's games, the newest first; `before` is the start and the id of the last one of the page before.

    However many there are, a page reads an index from where it begins. A filter that few games pass, and that has no
    index of its own (`level`, an `opponent` who plays as much as a CPU does), reads on until it has found enough.
    """
    rows = _filtered(PlayerGame.objects.filter(player_id=player_id), filters)
    if before is not None:
        started_at, game_id = before
        rows = rows.filter(
            Q(started_at__lt=started_at) | Q(started_at=started_at, game_id__lt=game_id),
            started_at__lte=started_at,
        )
    return rows.order_by("-started_at", "-game_id")


def _filtered(rows: QuerySet[PlayerGame], filters: Filters) -> QuerySet[PlayerGame]:
    if filters.opponent is not None:
        theirs = PlayerGame.objects.filter(player_id=filters.opponent).values("game_id")
        rows = rows.filter(game_id__in=theirs)
    if filters.status == "finished":
        rows = rows.exclude(result__in=[Result.OPEN, Result.ABORTED])
    elif filters.status is not None:
        rows = rows.filter(result__in=STATUSES[filters.status])
    wanted = {
        "variant": filters.variant,
        "rated": filters.rated,
        "result": filters.result,
        "levels__contains": None if filters.level is None else [filters.level],
        "started_at__gte": filters.since,
        "started_at__lt": filters.until,
    }
    return rows.filter(**{name: value for name, value in wanted.items() if value is not None})


def start_of(player_id: int, game_id: str) -> datetime | None:
    """When a game of the player's started; None if it is none of theirs."""
    rows = PlayerGame.objects.filter(player_id=player_id, game_id=game_id)
    return rows.values_list("started_at", flat=True).first()


def views_of(rows: list[PlayerGame]) -> list[GameView]:
    """The rows of a page with all their seats, in three queries."""
    ids = [row.game_id for row in rows]
    games = Game.objects.in_bulk(ids)
    seats: dict[str, list[Seat]] = {game_id: [] for game_id in ids}
    for seat in Seat.objects.filter(game_id__in=ids).order_by("game_id", "index"):
        seats[seat.game_id].append(seat)
    cards = accounts.players_by_id({seat.player_id for each in seats.values() for seat in each})
    return [
        GameView(
            game=games[row.game_id],
            key=row.key,
            result=row.result,
            points=row.points,
            seats=[
                SeatView(cards[seat.player_id], seat.points, seat.rank)
                for seat in seats[row.game_id]
            ],
        )
        for row in rows
    ]


# Statistics


def tally_of(player_id: int, key: str, level: str) -> Tally:
    """Counted anew from the player's games; `key` is `duo` or `duo:blitz`, `level` one of the CPUs' or empty."""
    variant, _, speed = key.partition(":")
    rows = PlayerGame.objects.filter(
        player_id=player_id, variant=variant, ended_at__isnull=False, result__in=COUNTED
    )
    if speed:
        rows = rows.filter(key=key)
    if level:
        rows = rows.filter(levels__contains=[level])
    tally = Tally()
    in_order = rows.order_by("ended_at", "game_id").values_list(
        "result", "points", "perfect", "ended_at", "game_id"
    )
    for result, points, perfect, ended_at, game_id in in_order.iterator(chunk_size=2_000):
        if ended_at is not None:  # the query says so; the column may be null
            tally.add(result, points or 0, perfect=perfect, ended=(ended_at, game_id))
    return tally


def statistics_of(player_id: int) -> Iterator[tuple[str, str, Tally]]:
    """Key, level and tally of all that a player has games in, by key and level."""
    for row in Statistic.objects.filter(player_id=player_id).order_by("key", "level"):
        tally = tally_of(player_id, row.key, row.level) if row.stale else as_tally(row)
        if tally.games:
            yield row.key, row.level, tally


def as_tally(row: Statistic) -> Tally:
    """What a row says."""
    return Tally(
        **{name: getattr(row, name) for name in FIGURES},
        last=(row.last_ended_at, row.last_game) if row.last_ended_at else None,
    )


FIGURES = (
    *("games", "won", "drawn", "lost", "points", "best_points", "perfect"),
    *("streak", "longest_streak"),
)
"""What a row of statistics and a tally call the same."""


def keys_with_games(player_id: int) -> set[tuple[str, str]]:
    """Key and level of everything that a player has counted games in."""
    rows = PlayerGame.objects.filter(player_id=player_id, ended_at__isnull=False)
    found: set[tuple[str, str]] = set()
    for variant, key, levels in rows.values_list("variant", "key", "levels").distinct():
        found |= {(variant, ""), (key, ""), *((variant, level) for level in levels)}
    return found

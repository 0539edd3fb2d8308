"""What games keep of a person (accounts/personal.py). The games stay, for those who played with them; the names go."""

import contextlib
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any

from msgspec import Struct

from accounts import personal
from accounts.names import Renaming
from common import database
from common.clock import now_ms, rfc3339
from common.errors import KadoError
from games.territory import archive, rules
from games.territory.models import Departure, Engagement, Game, Seat, Vacation
from games.territory.players import FIGURES, statistics_of
from games.territory.services.play import resign
from games.territory.services.settle import settle

NAMED = """
SELECT game_id, version, payload FROM territory_event
WHERE game_id = ANY(%s) AND payload LIKE ANY(%s)
"""
PUT = """
UPDATE territory_event e SET payload = n.payload
FROM unnest(%s::text[], %s::int[], %s::text[]) AS n(game_id, version, payload)
WHERE e.game_id = n.game_id AND e.version = n.version
"""
RENAMED_AT_ONCE = 500


class GameData(Struct, frozen=True):
    """A game: `seats` are the person's, and `record` has every move, as `GET /games/{id}/record` gives it."""

    game: str
    pool: str
    rated: bool
    status: str
    created_at: datetime
    finished_at: datetime | None
    seats: list[int]
    record: dict[str, Any]


class FiguresData(Struct, frozen=True):
    """What the person's games of a variant (and speed) come to; `level`: only those with a CPU of this level."""

    key: str
    level: str
    games: int
    won: int
    drawn: int
    lost: int
    points: int
    best_points: int | None
    perfect: int
    streak: int
    longest_streak: int


class DepartureData(Struct, frozen=True):
    """A game that the person has spoilt for others, which may have kept them from the pools for a while."""

    game: str
    kind: str
    at: str


class VacationData(Struct, frozen=True):
    """Vacation from correspondence: milliseconds used in a year, and since and until when it is taken now."""

    year: int
    used_ms: int
    began: str | None
    until: str | None


def register_sections() -> None:
    """Called when the app is ready."""
    personal.register(
        "games",
        shape=list[GameData],
        export=export_games,
        erase=erase_games,
        tables=("territory.Engagement",),
        kept={
            "territory.Seat": "the game belongs to its other players too; the name in it is replaced",
            "territory.PlayerGame": "lists the games that stay; nobody can ask for those of the player",
        },
        leave=leave_games,
        rename=rename_in_games,
        holders=who_has_played,
    )
    personal.register(
        "statistics",
        shape=list[FiguresData],
        export=export_statistics,
        erase=keep_statistics,
        kept={"territory.Statistic": "follows from the games that stay; nobody can ask for it"},
    )
    personal.register(
        "departures",
        shape=list[DepartureData],
        export=export_departures,
        erase=erase_departures,
        tables=("territory.Departure",),
    )
    personal.register(
        "vacations",
        shape=list[VacationData],
        export=export_vacations,
        erase=erase_vacations,
        tables=("territory.Vacation",),
    )


def export_games(player_id: int) -> Iterator[GameData]:
    for ids in archive.all_games_of(player_id):
        seats: dict[str, list[int]] = {}
        for seat in Seat.objects.filter(game_id__in=ids, player_id=player_id).order_by("index"):
            seats.setdefault(seat.game_id, []).append(seat.index)
        records = archive.records(ids)
        for game in Game.objects.filter(id__in=ids).order_by("id"):
            yield GameData(
                game=game.id,
                pool=game.pool,
                rated=game.rated,
                status=game.status,
                created_at=game.created_at,
                finished_at=game.finished_at,
                seats=seats[game.id],
                record=rules.as_dict(records[game.id]),
            )


def leave_games(player_id: int) -> None:
    """Resign whatever goes on, and settle it: ratings and inboxes of the others are not to wait."""
    live = Seat.objects.filter(player_id=player_id, game__status=Game.Status.STARTED)
    for game_id, seat in list(live.values_list("game_id", "index")):
        with contextlib.suppress(KadoError):  # it ended, or the seat was given up, meanwhile
            database.wait(resign(game_id=game_id, player_id=player_id, seat=seat))
    ended = Seat.objects.filter(player_id=player_id, game__settled_at=None)
    for game_id in set(ended.values_list("game_id", flat=True)):
        settle(game_id=game_id, now=now_ms())


def erase_games(player_id: int) -> None:
    Engagement.objects.filter(player_id=player_id).delete()


def rename_in_games(renaming: Renaming) -> None:
    """Events keep their versions: what was sent stays true, but for the name."""
    patterns = [f'%"{old.replace("_", chr(92) + "_")}"%' for old in sorted(renaming.olds)]
    for ids in archive.all_games_of(renaming.player_id, piece=RENAMED_AT_ONCE):
        changed = [
            (game_id, version, renamed)
            for game_id, version, payload in database.prepared(NAMED, [ids, patterns])
            if (renamed := renaming.in_json(payload)) != payload
        ]
        if changed:
            database.prepared(PUT, [list(column) for column in zip(*changed, strict=True)])


def who_has_played(player_ids: Collection[int]) -> set[int]:
    return set(Seat.objects.filter(player_id__in=player_ids).values_list("player_id", flat=True))


def export_statistics(player_id: int) -> Iterator[FiguresData]:
    for key, level, tally in statistics_of(player_id):
        yield FiguresData(key, level, **{name: getattr(tally, name) for name in FIGURES})


def keep_statistics(player_id: int) -> None:
    """Like the games that they follow from."""


def export_departures(player_id: int) -> Iterator[DepartureData]:
    for row in Departure.objects.filter(player_id=player_id).order_by("at"):
        yield DepartureData(row.game_id, row.kind, rfc3339(row.at))


def erase_departures(player_id: int) -> None:
    Departure.objects.filter(player_id=player_id).delete()


def erase_vacations(player_id: int) -> None:
    Vacation.objects.filter(player_id=player_id).delete()


def export_vacations(player_id: int) -> Iterator[VacationData]:
    for row in Vacation.objects.filter(player_id=player_id):
        began, until = (None if at is None else rfc3339(at) for at in (row.began, row.until))
        yield VacationData(row.year, row.used_ms, began, until)

"""What the end of a game means: results, ratings, engagements, the inbox. Once per end, whoever calls how often.

An unrated game has a second end when moves are taken back after the first (docs/adr/0012-undo-and-hints.md).

Lock order, here and everywhere: the game's row, then rating rows by player id, then statistics by player id and key,
then inbox heads by player id.
"""

from collections.abc import Collection
from dataclasses import astuple

from django.db import transaction
from msgspec import Struct

from accounts.services import inbox, ratings
from common import database, streams
from common.clock import to_datetime
from common.streams import Note
from games.territory import events as ev
from games.territory import selectors
from games.territory.models import Event, Game
from games.territory.rules import TimeControl, TimeKind
from games.territory.selectors import Seating
from games.territory.services.departures import note_departures
from games.territory.services.start import rating_key
from games.territory.services.statistics import note_end
from games.territory.tally import Chair

FINISHED = """
SELECT g.version, g.variant, g.rated, g.clock_kind, g.initial_ms, g.increment_ms, e.at, e.payload
FROM territory_game g JOIN territory_event e ON e.game_id = g.id AND e.version = g.version
WHERE g.id = %s AND g.settled_at IS NULL AND g.status <> 'started'
FOR NO KEY UPDATE OF g
"""

CLOSE = """
WITH results AS (
    UPDATE territory_seat s SET points = r.points, rank = r.rank
    FROM unnest(%s::int[], %s::int[], %s::int[]) AS r(index, points, rank)
    WHERE s.game_id = %s AND s.index = r.index
), released AS (
    DELETE FROM territory_engagement WHERE game_id = %s
)
UPDATE territory_game SET settled_at = to_timestamp(%s / 1000.0), version = %s WHERE id = %s
"""


class Finished(Struct, frozen=True):
    """A game that is over and not settled; its row is locked. The latest event is the one that ended it."""

    id: str
    version: int
    key: str
    rated: bool
    at: int
    outcome: ev.OutcomeData
    seating: Seating


def settle(*, game_id: str, now: int) -> bool:
    """Settle a game that is over. Returns False if there is nothing to do (not over, or settled already)."""
    note_departures(game_id=game_id, now=now)
    with transaction.atomic():
        game = _lock(game_id)
        if game is None:
            return False
        changes = _rate(game) if game.rated else None
        version = game.version
        if changes is not None:
            version += 1
            _append(game_id, version, ev.GameRated(changes), now)
        _close(game, version, now)
        _tell(game, changes)
    return True


def unsettled_rated(keys: Collection[str], before: int) -> int:
    """How many rated games of these keys that ended before an instant (milliseconds) are not rated yet."""
    ended = Game.objects.filter(
        rated=True,
        status=Game.Status.FINISHED,
        settled_at=None,
        finished_at__lt=to_datetime(before),
    )
    rows = ended.values_list("variant", "clock_kind", "initial_ms", "increment_ms")
    return sum(
        rating_key(variant, TimeControl(TimeKind(kind), initial_ms, increment_ms)) in keys
        for variant, kind, initial_ms, increment_ms in rows
    )


def _lock(game_id: str) -> Finished | None:
    for version, variant, rated, *control, at, payload in database.prepared(FINISHED, [game_id]):
        ended = ev.decode(payload)
        assert isinstance(ended, ev.GameFinished), f"{game_id} is over by {payload}"
        kind, initial_ms, increment_ms = control
        return Finished(
            id=game_id,
            version=version,
            key=rating_key(variant, TimeControl(TimeKind(kind), initial_ms, increment_ms)),
            rated=rated and ended.outcome.termination != "aborted",
            at=at,
            outcome=ended.outcome,
            seating=selectors.seating(game_id),
        )
    return None


def _close(game: Finished, version: int, now: int) -> None:
    """Write the results, count the game for its players, release them, and mark it as settled."""
    results = game.outcome.seats
    database.prepared(
        CLOSE,
        [
            [result.seat for result in results],
            [result.points for result in results],
            [result.rank for result in results],
            game.id,
            game.id,
            now,
            version,
            game.id,
        ],
    )
    note_end(
        game_id=game.id,
        key=game.key,
        status="aborted" if game.outcome.termination == "aborted" else "finished",
        ended_at=to_datetime(game.at),
        chairs=[
            Chair(player, level, result.points, result.rank)
            for player, level, result in zip(
                game.seating.players, game.seating.levels, results, strict=True
            )
        ],
    )


def _rate(game: Finished) -> list[ev.RatingData]:
    players, results = game.seating.players, game.outcome.seats
    changes = ratings.rate_game(
        game_id=game.id,
        key=game.key,
        ranks=[(player, result.rank) for player, result in zip(players, results, strict=True)],
        at=game.at,
    )
    return [
        ev.RatingData(
            seat=seat,
            before=change.before,
            after=change.after,
            mu_before=change.mu_before,
            mu_after=change.mu_after,
            sigma_before=change.sigma_before,
            sigma_after=change.sigma_after,
        )
        for seat, change in enumerate(changes)
    ]


def _append(game_id: str, version: int, event: ev.GameRated, now: int) -> None:
    """One more event. The game's row is locked here, and a game that is over takes no commands."""
    note = Note(selectors.stream_of(game_id), version, now, ev.encode(event))
    Event.objects.create(game_id=game_id, version=note.version, at=note.at, payload=note.payload)
    transaction.on_commit(lambda: streams.publish([note]))


def _tell(game: Finished, changes: list[ev.RatingData] | None) -> None:
    """An inbox item for each person, in the order of their ids; whoever holds several seats hears of the first."""
    seats: dict[int, int] = {}
    for seat, (player, level) in enumerate(zip(*astuple(game.seating), strict=True)):
        if not level:
            seats.setdefault(player, seat)
    for player, seat in sorted(seats.items()):
        inbox.notify(
            player_id=player,
            event=ev.GameEnded(
                game=game.id,
                termination=game.outcome.termination,
                rank=game.outcome.seats[seat].rank,
                rating=changes[seat].after if changes else None,
            ),
        )

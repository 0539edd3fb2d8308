"""Reading games. Nothing here changes anything."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from common import database, streams
from common.ids import is_id
from common.streams import Note
from games.territory import events as ev
from games.territory import rules
from games.territory import state as st
from games.territory.errors import (
    NotFinishedError,
    NotSeatedError,
    SpectatorsRefusedError,
    UnknownGameError,
)
from games.territory.models import Engagement, Game
from games.territory.record import record_of
from games.territory.rules import board_svg
from games.territory.snapshot import Snapshot, snapshot

PREFIX = "game"


MAX_VERSION = 2**31 - 1

EVENTS_AFTER = """
SELECT version, at, payload FROM territory_event WHERE game_id = %s AND version > %s ORDER BY version
"""
SEATS = "SELECT player_id, level FROM territory_seat WHERE game_id = %s ORDER BY index"
READERS = """
SELECT spectators, EXISTS (SELECT FROM territory_seat s WHERE s.game_id = g.id AND s.player_id = %s)
FROM territory_game g WHERE g.id = %s
"""


def stream_of(game_id: str) -> str:
    """The name of a game's stream."""
    return f"{PREFIX}:{game_id}"


@dataclass(frozen=True, slots=True)
class Seating:
    """Who sits where: player ids and CPU levels (empty for everybody else) by seat."""

    players: tuple[int, ...]
    levels: tuple[str, ...]

    @property
    def people(self) -> list[int]:
        """The players who are no CPUs, each once."""
        seats = zip(self.players, self.levels, strict=True)
        return sorted({player for player, level in seats if not level})

    def level_to_move(self, state: st.GameState) -> str:
        """The level of the CPU whose turn it is; empty when it is a person's, or the game is over."""
        seat = state.position.seat_to_move
        return "" if seat is None or state.is_over else self.levels[seat]

    def seats_of(self, player_id: int) -> tuple[int, ...]:
        return tuple(seat for seat, player in enumerate(self.players) if player == player_id)

    def seat_for(self, player_id: int, wanted: int | None) -> int:
        """The seat a player's command is for: `wanted` (whose turn it is) if it is the player's, else the first.

        Raises `NotSeatedError`.
        """
        mine = self.seats_of(player_id)
        if not mine:
            raise NotSeatedError
        return wanted if wanted in mine else mine[0]


class GameStreams:
    """The streams of games, for the feed."""

    def events_after(self, stream: str, cursor: int) -> list[Note]:
        game_id = stream.partition(":")[2]
        if not is_id(game_id):
            return []
        rows = database.prepared(EVENTS_AFTER, [game_id, min(cursor, MAX_VERSION)])
        return [Note(stream, *row) for row in rows]

    def versions(self, streams: Collection[str]) -> dict[str, int]:
        ids = [game_id for stream in streams if is_id(game_id := stream.partition(":")[2])]
        rows = Game.objects.filter(id__in=ids).values_list("id", "version")
        return {stream_of(game_id): version for game_id, version in rows}


def register_streams() -> None:
    streams.register(PREFIX, GameStreams())


def notes_after(game_id: str, cursor: int) -> list[Note]:
    """The events of a game after a version, in order; none for a game that does not exist."""
    return GameStreams().events_after(stream_of(game_id), cursor)


def events_after(game_id: str, cursor: int) -> list[tuple[ev.AnyEvent, int]]:
    """The same, decoded: each event and its instant."""
    return [(ev.decode(note.payload), note.at) for note in notes_after(game_id, cursor)]


def load_state(game_id: str) -> st.GameState:
    """The state of a game, folded from its events. Raises `UnknownGameError`."""
    happened = events_after(game_id, 0)
    if not happened:
        raise UnknownGameError
    return st.restore(happened)


def load_snapshot(game_id: str) -> Snapshot:
    """The game as clients get it. Raises `UnknownGameError`."""
    return snapshot(load_state(game_id))


def seating(game_id: str) -> Seating:
    """Who sits where. Raises `UnknownGameError`."""
    rows = database.prepared(SEATS, [game_id]) if is_id(game_id) else []
    if not rows:
        raise UnknownGameError
    return Seating(tuple(player for player, _ in rows), tuple(level for _, level in rows))


def engaged_games(player_ids: Collection[int]) -> dict[int, str]:
    """The live matched game of each of these players that has one."""
    return dict(
        Engagement.objects.filter(player_id__in=player_ids).values_list("player_id", "game_id")
    )


def require_reader(game_id: str, player_id: int | None) -> bool:
    """Whether everybody may read the game; a game that does not exist nobody is kept from.

    Raises `SpectatorsRefusedError` if it is for its players only, and this is none of them.
    """
    rows = database.prepared(READERS, [player_id, game_id]) if is_id(game_id) else []
    for spectators, seated in rows:
        if not (spectators or seated):
            raise SpectatorsRefusedError
        return bool(spectators)
    return True


def version_of(game_id: str) -> int:
    """The game's latest version. Raises `UnknownGameError`."""
    version = GameStreams().versions([stream_of(game_id)]).get(stream_of(game_id))
    if version is None:
        raise UnknownGameError
    return version


def state_after(game_id: str, plies: int | None) -> st.GameState:
    """The game right after so many plies of those that stand now; as it is, if there are fewer, or for None.

    No later event is decoded, but for undos. Raises `UnknownGameError`.
    """
    notes = notes_after(game_id, 0)
    if not notes:
        raise UnknownGameError
    return st.restore(_until(notes, plies))


def _until(notes: Sequence[Note], plies: int | None) -> Iterator[tuple[ev.AnyEvent, int]]:
    if plies is None:
        plies = MAX_VERSION
    start = 0  # after the latest undo that took one of these plies back
    for number, note in enumerate(notes):
        if ev.is_undo(note.payload):
            undone = ev.decode(note.payload)
            if isinstance(undone, ev.MovesUndone) and undone.ply < plies:
                start = number
    made = 0
    for number, note in enumerate(notes):
        event = ev.decode(note.payload)
        yield event, note.at
        if isinstance(event, ev.MovePlayed):
            made = event.ply + 1
        elif isinstance(event, ev.MovesUndone):
            made = event.ply
        if made == plies and number >= start:
            return


def draw(
    state: st.GameState,
    *,
    theme: str = "light",
    coordinates: bool = True,
    legend: bool = True,
    last_move: bool = True,
    attach: int | None = None,
) -> str:
    """A state's board as SVG text; `attach` is a colour whose attach points are shown."""
    position = state.position
    if state.is_over:
        position = replace(position, turn=None)  # in an aborted game it was still somebody's
    return board_svg(
        position,
        last_move=state.plies[-1].move if last_move and state.plies else None,
        theme=theme,
        coordinates=coordinates,
        legend=legend,
        attach=attach,
    )


@dataclass(frozen=True, slots=True)
class Ended:
    """A game that is over, as a record."""

    record: rules.Record
    version: int
    """Of the event that ended it: another end, after moves were taken back, has another one."""
    is_final: bool
    """Whether it can never change again."""


def load_ended(game_id: str) -> Ended:
    """A game that is over. Raises `UnknownGameError`, `NotFinishedError`."""
    happened = events_after(game_id, 0)
    if not happened:
        raise UnknownGameError
    record = record_of(happened)
    if record.result is None:
        raise NotFinishedError(version=len(happened))
    started, _ = happened[0]
    assert isinstance(started, ev.GameStarted)
    completed = record.result.termination is rules.Termination.COMPLETED
    last = next(
        version
        for version in range(len(happened), 0, -1)
        if isinstance(happened[version - 1][0], ev.GameFinished)
    )
    return Ended(record, last, not (started.played_alone and completed))


def still_ends_at(game_id: str, version: int) -> bool:
    """Whether no move was taken back since the game ended by its event of this version."""
    return not any(ev.is_undo(note.payload) for note in notes_after(game_id, version))


def warm_up() -> None:
    """Build the tables of all boards, so that no player's first move waits for them (a tenth of a second)."""
    for variant in rules.VARIANTS.values():
        list(rules.Position.start(variant).legal())

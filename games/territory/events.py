"""The events of a game's stream: past-tense facts, exactly as they stand in the table and go over the wire.

Each carries what happened and what a client needs to draw it, so that no client must know the rules.
"""

from typing import Literal

import msgspec
from msgspec import Struct

Termination = Literal["completed", "resigned", "timeout", "abandoned", "aborted"]
UndoRule = Literal["none", "ask", "free"]
"""Whether moves may be taken back: never, when all other people agree, or at once."""


class Event(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    """The base of all events."""


class TimeControlData(Struct, frozen=True):
    """`realtime`: `initial_ms` and `increment_ms` a move; `correspondence`: `initial_ms` for each move; `none`."""

    kind: Literal["realtime", "correspondence", "none"]
    initial_ms: int = 0
    increment_ms: int = 0


class SeatData(Struct, frozen=True):
    """Who sits where: `level` is a CPU player's, `rating` as shown when the game began (`1500?` is uncertain)."""

    seat: int
    player: str
    kind: Literal["registered", "guest", "bot"]
    colours: list[str]
    level: str | None = None
    rating: str | None = None


class Turn(Struct, frozen=True):
    """Whose move it is. `clocks_ms` is the time left of each seat at the event; the clock of `seat` runs since
    then and ends at `deadline`. Both are null in a game without clocks.
    """

    ply: int
    colour: str
    seat: int
    clocks_ms: list[int] | None = None
    deadline: str | None = None


class SeatResult(Struct, frozen=True):
    """One seat's result: `penalty_points` is the classic view, `points` minus all squares of its colours."""

    seat: int
    points: int
    penalty_points: int
    rank: int


class ColourData(Struct, frozen=True):
    """One colour: who plays it (null for a shared one), its points, its pieces left, whether it is out."""

    colour: str
    seat: int | None
    points: int
    pieces_left: list[str]
    out: bool


class OutcomeData(Struct, frozen=True):
    termination: Termination
    seats: list[SeatResult]


class RatingData(Struct, frozen=True):
    """One seat's rating before and after: as shown, and exactly."""

    seat: int
    before: str
    after: str
    mu_before: float
    mu_after: float
    sigma_before: float
    sigma_after: float


class GameStarted(Event, frozen=True, tag="game_started"):
    """Always version 1. Without `spectators`, nobody but its players may read the game."""

    game: str
    variant: str
    rated: bool
    pool: str | None
    time_control: TimeControlData
    seats: list[SeatData]
    turn: Turn
    undo: UndoRule = "none"
    spectators: bool = True

    @property
    def played_alone(self) -> bool:
        """Whether one person has every seat that no CPU has, and nothing is rated: then moves are taken back freely."""
        people = {seat.player for seat in self.seats if seat.level is None}
        return len(people) == 1 and not self.rated


class MovePlayed(Event, frozen=True, tag="move_played"):
    """A colour placed a piece; `points` are that colour's now. `skipped` are the colours, in order, whose turn
    was passed over afterwards because they are out. `turn` is null when nobody can move any more.
    """

    ply: int
    colour: str
    seat: int
    piece: str
    move: str
    points: int
    skipped: list[str]
    turn: Turn | None


class ColoursOut(Event, frozen=True, tag="colours_out"):
    """These colours were found to have no placement left; their turns are skipped from now on."""

    colours: list[str]


class SeatLeft(Event, frozen=True, tag="seat_left"):
    """A seat stopped playing; with two seats the game ends by it, with more the others play on."""

    seat: int
    reason: Literal["resigned", "timeout", "abandoned"]
    skipped: list[str]
    turn: Turn | None


class MovesUndone(Event, frozen=True, tag="moves_undone"):
    """Move number `ply` and all after it were taken back; a game that was over goes on. `colours` are all of them,
    as in a snapshot.
    """

    ply: int
    colours: list[ColourData]
    turn: Turn


class UndoAsked(Event, frozen=True, tag="undo_asked"):
    """A seat would take its latest move back, so that only the moves before `ply` stood; the other people are asked.

    The wish is over with the next move, with an answer that is no, when a seat leaves, and when the game ends.
    """

    seat: int
    ply: int


class UndoAnswered(Event, frozen=True, tag="undo_answered"):
    """A seat agrees to the undo that is asked for, or does not. When the last one agrees, `moves_undone` follows."""

    seat: int
    agreed: bool


class GameFinished(Event, frozen=True, tag="game_finished"):
    outcome: OutcomeData
    clocks_ms: list[int] | None


class GameRated(Event, frozen=True, tag="game_rated"):
    """The ratings have been settled; the last event of a rated game."""

    changes: list[RatingData]


class GameEnded(Struct, frozen=True, tag="game_ended", tag_field="type"):
    """Not of the game's stream: to the inbox of each person of a game that was settled."""

    game: str
    termination: Termination
    rank: int
    rating: str | None


AnyEvent = (
    GameStarted
    | MovePlayed
    | ColoursOut
    | SeatLeft
    | UndoAsked
    | UndoAnswered
    | MovesUndone
    | GameFinished
    | GameRated
)

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


def encode(event: AnyEvent) -> str:
    """The event's JSON text, as it is kept and sent."""
    return _encoder.encode(event).decode()


def decode(payload: str) -> AnyEvent:
    """The reverse of `encode`."""
    return _decoder.decode(payload)


def is_undo(payload: str) -> bool:
    """Whether this is the text of a `moves_undone`, without decoding it."""
    return payload.startswith('{"type":"moves_undone"')

"""The events of a run's stream: past-tense facts, exactly as they stand in the table and go over the wire.

Each that changes the run carries the whole of it (`state`), so that no client must know the rules.
"""

from typing import Literal

import msgspec
from msgspec import Struct

Reason = Literal["no-block-fits", "abandoned", "day-over"]


class Event(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    """The base of all events."""


class RulesData(Struct, frozen=True):
    """What is played: `key` is what the best is kept under, `size` the cells along one side of the board."""

    key: str
    level: str
    board: str
    size: int
    rotation: bool
    dealing: str
    shapes: str
    undo: str


class BlockData(Struct, frozen=True):
    """A block of the hand; `cells` as if it lay in the lower left corner. One that does not fit is shown faded."""

    block: str
    cells: list[str]
    fits: bool


class StatisticsData(Struct, frozen=True):
    placements: int
    squares: int
    lines: int
    largest_clear: int
    longest_streak: int


class StateData(Struct, frozen=True):
    """The run at a turn: `board` has the rows, the top one first, `#` for a covered cell and `.` for an empty one."""

    turn: int
    board: list[str]
    hand: list[BlockData | None]
    score: int
    streak: int
    streak_at_risk: bool
    undos_left: int
    statistics: StatisticsData


class PointsData(Struct, frozen=True):
    """One reason for points: `squares`, or `lines` with what the streak multiplied them by."""

    reason: Literal["squares", "lines"]
    count: int
    multiplier: int
    points: int


class EndData(Struct, frozen=True):
    """How a run ended. `best` is the player's best of these rules, null for practice; `new_best`: it is this run's."""

    reason: Reason
    duration_ms: int
    best: int | None
    new_best: bool


class RunStarted(Event, frozen=True, tag="run_started"):
    """Always version 1."""

    run: str
    player: str
    rules: RulesData
    date: str | None
    counted: bool
    generator: str
    seed_hash: str
    state: StateData


class BlockPlaced(Event, frozen=True, tag="block_placed"):
    """The answer to turn number `turn`. `dealt` is the new hand if this was the last block of the old one.

    `end` is there when no block left in the hand fits: the run is over.
    """

    turn: int
    slot: int
    rotation: int
    at: str
    block: str
    cells: list[str]
    lines: list[str]
    cleared: list[str]
    points: list[PointsData]
    dealt: list[str]
    state: StateData
    end: EndData | None


class PlacementUndone(Event, frozen=True, tag="placement_undone"):
    """The answer to turn number `turn`: the latest placement was taken back. A run that was over goes on."""

    turn: int
    state: StateData


class RunEnded(Event, frozen=True, tag="run_ended"):
    """The run ended without a placement: another one was started, or the day was over."""

    end: EndData


class SeedRevealed(Event, frozen=True, tag="seed_revealed"):
    """The last event of a run: its end can no longer be taken back, and whoever wants can check the deal."""

    seed: str


AnyEvent = RunStarted | BlockPlaced | PlacementUndone | RunEnded | SeedRevealed

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


def encode(event: AnyEvent) -> str:
    """The event's JSON text, as it is kept and sent."""
    return _encoder.encode(event).decode()


def decode(payload: str) -> AnyEvent:
    """The reverse of `encode`."""
    return _decoder.decode(payload)

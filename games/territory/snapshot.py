"""The state of a game as clients get it; every later event changes it in a way that needs no rules."""

from typing import Literal

from msgspec import Struct

from games.territory import events as ev
from games.territory.state import GameState, clocks_of, colours_of, turn_of


class PlyView(Struct, frozen=True):
    ply: int
    colour: str
    seat: int
    piece: str
    move: str


class UndoView(Struct, frozen=True):
    """The undo that is asked for: by whom, how many moves would stand, and the seats that have agreed."""

    seat: int
    ply: int
    agreed: list[int]


class LeaverView(Struct, frozen=True):
    seat: int
    reason: str


class Snapshot(Struct, frozen=True):
    """A game at `version`. `turn` is the latest event's; `clocks_ms` are the final ones of a game that is over."""

    game: str
    version: int
    variant: str
    size: int
    rated: bool
    pool: str | None
    time_control: ev.TimeControlData
    status: Literal["started", "finished", "aborted"]
    seats: list[ev.SeatData]
    colours: list[ev.ColourData]
    moves: list[PlyView]
    turn: ev.Turn | None
    leavers: list[LeaverView]
    outcome: ev.OutcomeData | None
    clocks_ms: list[int] | None
    rating_changes: list[ev.RatingData] | None
    undo: ev.UndoRule
    undo_asked: UndoView | None
    spectators: bool


def status_of(state: GameState) -> Literal["started", "finished", "aborted"]:
    """The status word of a state."""
    if state.outcome is None:
        return "started"
    return "aborted" if state.outcome.termination == "aborted" else "finished"


def snapshot(state: GameState) -> Snapshot:
    """The view of a state."""
    started, variant = state.started, state.position.variant
    return Snapshot(
        game=started.game,
        version=state.version,
        variant=variant.key,
        size=variant.size,
        rated=started.rated,
        pool=started.pool,
        time_control=started.time_control,
        status=status_of(state),
        seats=started.seats,
        colours=colours_of(state),
        moves=[
            PlyView(ply, variant.colours[p.colour], p.seat, p.move.piece, p.move.text)
            for ply, p in enumerate(state.plies)
        ],
        turn=None if state.is_over else turn_of(state),
        leavers=[LeaverView(seat, reason.value) for seat, reason in state.leavers],
        outcome=state.outcome,
        clocks_ms=clocks_of(state) if state.is_over else None,
        rating_changes=None if state.ratings is None else list(state.ratings),
        undo=started.undo,
        undo_asked=_wish(state),
        spectators=started.spectators,
    )


def _wish(state: GameState) -> UndoView | None:
    asked = state.asked
    return (
        None
        if asked is None
        else UndoView(asked.seat, asked.ply, [seat for seat, _ in asked.agreed])
    )

"""A game, started and folded from its events.

Pure. `fold(old, events)` gives the very state that `decide` gave (decide.py), which is what lets every process keep its
own copy.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from games.territory import events as ev
from games.territory import lag, rules
from games.territory.game import (
    FIRST_MOVE_MS,
    IDLE_MS,
    MAX_UNDONE,
    Asked,
    GameState,
    Undone,
    clocks_of,
    colours_of,
    turn_of,
)
from games.territory.plies import Played
from games.territory.rules import Clock, Position, Termination, TimeControl, TimeKind
from games.territory.steps import (
    after_answer,
    after_asking,
    after_claim,
    after_end,
    after_leaving,
    after_move,
    after_outage,
    after_return,
    after_undo,
    after_vacation,
)

__all__ = [
    "FIRST_MOVE_MS",
    "IDLE_MS",
    "MAX_UNDONE",
    "Asked",
    "GameState",
    "Undone",
    "after_answer",
    "after_asking",
    "after_claim",
    "after_end",
    "after_leaving",
    "after_move",
    "after_outage",
    "after_return",
    "after_undo",
    "after_vacation",
    "clocks_of",
    "colours_of",
    "fold",
    "restore",
    "start",
    "turn_of",
]


def start(
    *,
    game: str,
    variant: rules.Variant,
    control: TimeControl,
    seats: Sequence[ev.SeatData],
    rated: bool,
    pool: str | None,
    now: int,
    undo: ev.UndoRule = "none",
    spectators: bool = True,
) -> tuple[GameState, ev.GameStarted]:
    """A new game and its first event."""
    position = Position.start(variant)
    clock = Clock.start(control, variant.seats, now, position.seat_to_move)
    draft = ev.GameStarted(
        game=game,
        variant=variant.key,
        rated=rated,
        pool=pool,
        time_control=ev.TimeControlData(
            control.kind.value, control.initial_ms, control.increment_ms
        ),
        seats=list(seats),
        turn=ev.Turn(0, variant.colours[0], 0),
        undo=undo,
        spectators=spectators,
    )
    turn = turn_of(GameState(draft, 1, position, clock))
    assert turn is not None
    started = replace(draft, turn=turn)
    return _at_start(started, position, clock, now), started


def _at_start(started: ev.GameStarted, position: Position, clock: Clock, now: int) -> GameState:
    seats = position.variant.seats
    return GameState(
        started,
        1,
        position,
        clock,
        began_at=now,
        moved_at=(now,) * seats,
        lag_accounts=(lag.ACCOUNT_MS,) * seats,
    )


def fold(state: GameState, events: Iterable[tuple[ev.AnyEvent, int]]) -> GameState:
    """The state after further events, each with its instant."""
    for event, at in events:
        state = _apply(state, event, at)
    return state


def restore(events: Iterable[tuple[ev.AnyEvent, int]]) -> GameState:
    """The state from all of a game's events, the first one included."""
    rest = iter(events)
    started, at = next(rest)
    assert isinstance(started, ev.GameStarted)
    variant = rules.variant(started.variant)
    data = started.time_control
    control = TimeControl(TimeKind(data.kind), data.initial_ms, data.increment_ms)
    position = Position.start(variant)
    clock = Clock.start(control, variant.seats, at, position.seat_to_move)
    return fold(_at_start(started, position, clock, at), rest)


def _apply(state: GameState, event: ev.AnyEvent, at: int) -> GameState:
    match event:
        case ev.MovePlayed():
            move = rules.parse_move(event.move, state.position.variant)
            colour = state.position.turn
            assert colour is not None
            played = Played(colour, event.seat, move, state.version + 1, state.position.out)
            position = state.position.apply(move, _newly_out(state.position, event))
            return after_move(state, played, position, at, event.lag_ms)
        case ev.SeatLeft():
            position = state.position.without_seat(event.seat).position
            return after_leaving(state, event.seat, Termination(event.reason), position, at)
        case ev.ColoursOut():
            return replace(state, version=state.version + 1)
        case ev.MovesUndone():
            return after_undo(state, event.ply, at)
        case ev.GameFinished():
            return after_end(replace(state, clock=state.clock.stop(at)), event.outcome)
        case ev.GameRated():
            return replace(state, version=state.version + 1, ratings=tuple(event.changes))
        case ev.GameStarted():
            raise ValueError("a game starts once")
        case _:
            return _apply_aside(state, event, at)


Aside = (
    ev.SeatClaimed
    | ev.SeatReturned
    | ev.TimeGiven
    | ev.VacationBegan
    | ev.VacationEnded
    | ev.UndoAsked
    | ev.UndoAnswered
)
"""What happens around the board."""


def _apply_aside(state: GameState, event: Aside, at: int) -> GameState:
    match event:
        case ev.SeatClaimed():
            return after_claim(state, event)
        case ev.SeatReturned():
            return after_return(state, event.seat, at)
        case ev.TimeGiven():
            return after_outage(state, event.outage, event.ms, at)
        case ev.VacationBegan() | ev.VacationEnded():
            return after_vacation(state, event.seat, at, on=isinstance(event, ev.VacationBegan))
        case ev.UndoAsked():
            return after_asking(state, event.seat, event.ply)
        case ev.UndoAnswered():
            return after_answer(state, event.seat, agreed=event.agreed)


def _newly_out(position: Position, event: ev.MovePlayed) -> frozenset[int]:
    """The colours that a recorded move found to be out, so that nothing has to be searched again."""
    names = position.variant.colours
    if event.turn is None:
        return frozenset(range(len(names)))
    return frozenset(names.index(name) for name in event.skipped) - position.out

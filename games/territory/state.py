"""A whole game as data: `decide(state, command, now) -> Decision(state, events)`, and `fold` back from events.

Pure. Time is in milliseconds since the epoch and always an argument. `fold(old, events)` gives the very state that
`decide` gave, which is what lets every process keep its own copy.
"""

from collections.abc import Iterable, Sequence
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from common.clock import rfc3339
from common.errors import KadoError
from games.territory import events as ev
from games.territory import rules
from games.territory.errors import (
    GameOverError,
    IllegalMoveError,
    MalformedMoveError,
    NothingToUndoError,
    NotYourTurnError,
    StalePlyError,
    TooLateError,
    UndoNotAllowedError,
)
from games.territory.plies import Played, latest_of, position_before
from games.territory.rules import Clock, Move, Outcome, Position, Termination, TimeControl, TimeKind

FIRST_MOVE_MS = 30_000
"""How long a seat has for its first move in a realtime game; after that the game is aborted, unrated."""


IDLE_MS = 7 * 24 * 60 * 60 * 1000
"""How long a game without clocks may wait for a move; after that it is aborted, so that every game ends."""


MAX_UNDONE = 200
"""How often moves may be taken back in one game; its log would grow without bound otherwise."""


class Undone(Struct, frozen=True):
    """One undo: the ply from which moves were taken back, and the version of its event."""

    ply: int
    version: int


class GameState(Struct, frozen=True):
    """Everything that is known of a game at `version`. `started` is its first event.

    No move before `floor` is taken back: a seat left after it.
    """

    started: ev.GameStarted
    version: int
    position: Position
    clock: Clock
    plies: tuple[Played, ...] = ()
    leavers: tuple[tuple[int, Termination], ...] = ()
    floor: int = 0
    undone: tuple[Undone, ...] = ()
    outcome: ev.OutcomeData | None = None
    ratings: tuple[ev.RatingData, ...] | None = None

    @property
    def ply(self) -> int:
        """The number of the move that is to come."""
        return len(self.plies)

    @property
    def is_over(self) -> bool:
        return self.outcome is not None

    @property
    def may_go_back(self) -> bool:
        """Whether moves may be taken back at all: one person plays alone, and no more than moves has ended the game."""
        ended_otherwise = self.outcome is not None and self.outcome.termination != "completed"
        return self.started.played_alone and not ended_otherwise

    @property
    def deadline(self) -> int | None:
        """The first instant at which the seat to move is too late; None when the game is over.

        The first move of a realtime game has a bound of its own, and so has any move of a game without clocks.
        """
        since, seat = self.clock.since, self.clock.running
        if since is None or seat is None:
            return None
        deadline = self.clock.deadline
        if deadline is None:
            return since + IDLE_MS
        if self.started.time_control.kind == "realtime" and not self.has_moved(seat):
            return min(deadline, since + FIRST_MOVE_MS)
        return deadline

    def has_moved(self, seat: int) -> bool:
        # The first moves are made within the first plies of a game: this looks at one or two of them.
        return any(played.seat == seat for played in self.plies)

    def earliest_deadline(self, now: int) -> int | None:
        """An instant that no deadline from `now` on can come before, whoever moves until then.

        A seat's clock only runs on its own turn, so none can end before the least time left has passed. (An undo may
        bring an earlier one, and its entry in the journal says so.)
        """
        if self.deadline is None or self.clock.deadline is None:
            return self.deadline
        gone = self.position.gone  # their clocks stand for good, perhaps at nothing
        seats = [seat for seat in range(self.position.variant.seats) if seat not in gone]
        left = [self.clock.remaining(seat, now) or 0 for seat in seats]
        if self.started.time_control.kind == "realtime":
            left += [FIRST_MOVE_MS for seat in seats if not self.has_moved(seat)]
        return min(now + min(left), self.deadline)


class PlayMove(Struct, frozen=True):
    """`seat` places a piece as move number `ply`; `move` is text as the client sent it.

    A move that was `chosen_at` a version is for the position of that version only (docs/adr/0012-undo-and-hints.md).
    """

    seat: int
    ply: int
    move: str
    chosen_at: int | None = None


class Undo(Struct, frozen=True):
    """The one person of a game, which is at `ply`, takes back the latest own move and what came after it."""

    ply: int


class Resign(Struct, frozen=True):
    seat: int


class CheckClock(Struct, frozen=True):
    """End the turn if its time is up; otherwise nothing happens."""


Command = PlayMove | Undo | Resign | CheckClock


class Decision(Struct, frozen=True):
    """What a command does: the new state and its events, or no events for one that changes nothing.

    `refusal` is for the sender; a move that comes too late is refused and yet has events. `version` is the
    version to acknowledge: that of the first time, when a move is said twice.
    """

    state: GameState
    events: tuple[ev.AnyEvent, ...] = ()
    refusal: KadoError | None = None
    version: int = 0


def start(
    *,
    game: str,
    variant: rules.Variant,
    control: TimeControl,
    seats: Sequence[ev.SeatData],
    rated: bool,
    pool: str | None,
    now: int,
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
    )
    turn = turn_of(GameState(draft, 1, position, clock))
    assert turn is not None
    started = replace(draft, turn=turn)
    return GameState(started, 1, position, clock), started


def decide(state: GameState, command: Command, now: int) -> Decision:
    """What `command` does at `now`."""
    late = state.deadline is not None and now >= state.deadline
    match command:
        case CheckClock():
            return _time_up(state, now) if late else Decision(state)
        case Resign(seat):
            if state.is_over or any(seat == leaver for leaver, _ in state.leavers):
                return _refuse(state, GameOverError(version=state.version))
            return _resign_late(state, seat, now) if late else _resign(state, seat, now)
        case PlayMove():
            return _play(state, command, now, late=late)
        case Undo():
            return _undo(state, command, now, late=late)
        case _:
            assert_never(command)


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
    return fold(GameState(started, 1, position, clock), rest)


# Deciding


def _refuse(state: GameState, refusal: KadoError) -> Decision:
    return Decision(state, refusal=refusal)


def _stale(state: GameState, why: str) -> Decision:
    return _refuse(state, StalePlyError(why, version=state.version, ply=state.ply))


def _play(state: GameState, command: PlayMove, now: int, *, late: bool) -> Decision:
    position, version = state.position, state.version
    if command.ply < state.ply and (said := _said_before(state, command)):
        return Decision(state, version=said.version)
    if state.is_over:
        return _refuse(state, GameOverError(version=version))
    if command.ply != state.ply:
        why = f"The move is for ply {command.ply}, the game is at ply {state.ply}."
        return _stale(state, why)
    if command.chosen_at not in (None, version):
        return _stale(state, "The position has changed since the move was chosen.")
    if command.seat != position.seat_to_move:
        return _refuse(
            state, NotYourTurnError(version=version, ply=state.ply, seat=position.seat_to_move)
        )
    if late:
        return replace(_time_up(state, now), refusal=TooLateError(version=version))
    try:
        move = rules.parse_move(command.move, position.variant)
        step = position.advance(move)
    except rules.MalformedMoveError as error:
        return _refuse(state, MalformedMoveError(str(error), version=version))
    except rules.IllegalMoveError as error:
        return _refuse(state, IllegalMoveError(str(error), reason=error.code, version=version))
    return _placed(state, command.seat, move, step, now)


def _placed(state: GameState, seat: int, move: Move, step: rules.Step, now: int) -> Decision:
    colour = state.position.turn
    assert colour is not None
    made = Played(colour, seat, move, state.version + 1, state.position.out)
    after = _after_move(state, made, step.position, now)
    names = state.position.variant.colours
    played = ev.MovePlayed(
        ply=state.ply,
        colour=names[colour],
        seat=seat,
        piece=move.piece,
        move=move.text,
        points=step.position.points(colour),
        skipped=[names[skipped] for skipped in step.skipped],
        turn=turn_of(after),
    )
    return _conclude(after, played, step, now)


def _undo(state: GameState, command: Undo, now: int, *, late: bool) -> Decision:
    version = state.version
    if not state.started.played_alone:
        return _refuse(state, UndoNotAllowedError(version=version))
    if command.ply != state.ply:
        for undone in reversed(state.undone):
            if undone.ply == command.ply:
                return Decision(state, version=undone.version)
    if not state.may_go_back:
        return _refuse(state, GameOverError(version=version))
    if command.ply != state.ply:
        why = f"The undo is for ply {command.ply}, the game is at ply {state.ply}."
        return _stale(state, why)
    if late:
        return replace(_time_up(state, now), refusal=TooLateError(version=version))
    own = [seat.seat for seat in state.started.seats if seat.level is None]
    ply = latest_of(state.plies, own, state.floor)
    if ply is None:
        return _refuse(state, NothingToUndoError(version=version))
    if len(state.undone) >= MAX_UNDONE:
        text = f"Moves have been taken back {MAX_UNDONE} times in this game."
        return _refuse(state, UndoNotAllowedError(text, version=version))
    after = _after_undo(state, ply, now)
    turn = turn_of(after)
    assert turn is not None
    return Decision(after, (ev.MovesUndone(ply, colours_of(after), turn),), version=after.version)


def _leave(state: GameState, seat: int, reason: Termination, now: int) -> Decision:
    step = state.position.without_seat(seat)
    after = _after_leaving(state, seat, reason, step.position, now)
    names = state.position.variant.colours
    left = ev.SeatLeft(
        seat=seat,
        reason=reason.value,  # type: ignore[arg-type]  # only the three reasons of a seat come here
        skipped=[names[skipped] for skipped in step.skipped],
        turn=turn_of(after),
    )
    return _conclude(after, left, step, now)


def _resign(state: GameState, seat: int, now: int) -> Decision:
    return _leave(state, seat, Termination.RESIGNED, now)


def _resign_late(state: GameState, seat: int, now: int) -> Decision:
    """The time of the seat to move was up before this resignation: that comes first, and may be the end of it."""
    first = _time_up(state, now)
    if first.state.is_over or seat == state.clock.running:
        return replace(first, refusal=TooLateError(version=first.state.version))
    second = _resign(first.state, seat, now)
    return replace(second, events=(*first.events, *second.events))


def _time_up(state: GameState, now: int) -> Decision:
    """The time of the seat to move is up; before its first move, or without clocks, that aborts the game."""
    seat = state.clock.running
    assert seat is not None
    if not state.has_moved(seat) or state.clock.deadline is None:
        result = rules.outcome(
            state.position, [*state.leavers, (seat, Termination.ABANDONED)], aborted=True
        )
        return _finish(replace(state, clock=state.clock.stop(now)), (), result)
    return _leave(state, seat, Termination.TIMEOUT, now)


def _conclude(after: GameState, first: ev.AnyEvent, step: rules.Step, now: int) -> Decision:
    """Add what follows from a step: colours found to be out, and the end."""
    happened: tuple[ev.AnyEvent, ...] = (first,)
    if step.newly_out:
        names = after.position.variant.colours
        happened += (ev.ColoursOut([names[colour] for colour in step.newly_out]),)
        after = replace(after, version=after.version + 1)
    if after.position.is_over:
        return _finish(after, happened, rules.outcome(after.position, after.leavers))
    return Decision(after, happened, version=after.version - len(happened) + 1)


def _finish(state: GameState, happened: tuple[ev.AnyEvent, ...], result: Outcome) -> Decision:
    data = ev.OutcomeData(
        result.termination.value,
        [
            ev.SeatResult(seat, points, penalty, rank)
            for seat, (points, penalty, rank) in enumerate(
                zip(result.points, result.penalty_points, result.ranks, strict=True)
            )
        ],
    )
    finished = ev.GameFinished(data, clocks_of(state))
    after = replace(state, version=state.version + 1, outcome=data)
    events = (*happened, finished)
    return Decision(after, events, version=after.version - len(events) + 1)


def _said_before(state: GameState, command: PlayMove) -> Played | None:
    """The move that was accepted at this ply, if the command is the same one said again."""
    if command.ply < 0:
        return None
    played = state.plies[command.ply]
    if played.seat != command.seat:
        return None
    try:
        move = rules.parse_move(command.move, state.position.variant)
    except rules.RulesError:
        return None
    return played if move == played.move else None


# What deciding and folding share


def _after_move(state: GameState, played: Played, position: Position, now: int) -> GameState:
    return GameState(
        state.started,
        state.version + 1,
        position,
        state.clock.press(now, position.seat_to_move),
        (*state.plies, played),
        state.leavers,
        state.floor,
        state.undone,
    )


def _after_undo(state: GameState, ply: int, now: int) -> GameState:
    """The game as it was before move number `ply`, except for its clocks: time that was used does not come back.

    In correspondence, where every move has the whole time, all have it again.
    """
    position = position_before(state.plies, ply, state.position)
    seat, clock = position.seat_to_move, state.clock
    assert seat is not None
    if clock.control.kind is TimeKind.CORRESPONDENCE:
        clock = Clock.start(clock.control, position.variant.seats, now, seat)
    else:
        clock = clock.run(seat, now)
    undone = Undone(state.ply, state.version + 1)
    return GameState(
        state.started,
        state.version + 1,
        position,
        clock,
        state.plies[:ply],
        state.leavers,
        state.floor,
        (*state.undone, undone),
    )


def _after_leaving(
    state: GameState, seat: int, reason: Termination, position: Position, now: int
) -> GameState:
    clock = state.clock
    if position.seat_to_move != clock.running:
        clock = clock.stop(now)
        if position.seat_to_move is not None:
            clock = clock.run(position.seat_to_move, now)
    return replace(
        state,
        version=state.version + 1,
        position=position,
        clock=clock,
        leavers=(*state.leavers, (seat, reason)),
        floor=state.ply,
    )


def _apply(state: GameState, event: ev.AnyEvent, at: int) -> GameState:
    match event:
        case ev.MovePlayed():
            move = rules.parse_move(event.move, state.position.variant)
            colour = state.position.turn
            assert colour is not None
            played = Played(colour, event.seat, move, state.version + 1, state.position.out)
            position = state.position.apply(move, _newly_out(state.position, event))
            return _after_move(state, played, position, at)
        case ev.SeatLeft():
            position = state.position.without_seat(event.seat).position
            return _after_leaving(state, event.seat, Termination(event.reason), position, at)
        case ev.ColoursOut():
            return replace(state, version=state.version + 1)
        case ev.MovesUndone():
            return _after_undo(state, event.ply, at)
        case ev.GameFinished():
            clock = state.clock.stop(at)
            return replace(state, version=state.version + 1, clock=clock, outcome=event.outcome)
        case ev.GameRated():
            return replace(state, version=state.version + 1, ratings=tuple(event.changes))
        case ev.GameStarted():
            raise ValueError("a game starts once")
        case _:
            assert_never(event)


def _newly_out(position: Position, event: ev.MovePlayed) -> frozenset[int]:
    """The colours that a recorded move found to be out, so that nothing has to be searched again."""
    names = position.variant.colours
    if event.turn is None:
        return frozenset(range(len(names)))
    return frozenset(names.index(name) for name in event.skipped) - position.out


def clocks_of(state: GameState) -> list[int] | None:
    """The time left of each seat at the last event, in milliseconds; None in a game without clocks."""
    if state.clock.control.kind is TimeKind.NONE:
        return None
    return list(state.clock.left_ms)


def colours_of(state: GameState) -> list[ev.ColourData]:
    """What there is to see of each colour, in turn order."""
    position, variant = state.position, state.position.variant
    return [
        ev.ColourData(
            colour=name,
            seat=variant.owners[colour],
            points=position.points(colour),
            pieces_left=list(position.left[colour]),
            out=colour in position.out,
        )
        for colour, name in enumerate(variant.colours)
    ]


def turn_of(state: GameState) -> ev.Turn | None:
    """Whose move it is, with the clocks as they stood when the turn began."""
    position = state.position
    seat = position.seat_to_move
    if position.turn is None or seat is None:
        return None
    colour = position.variant.colours[position.turn]
    clocks = clocks_of(state)
    deadline = state.deadline if clocks else None
    return ev.Turn(state.ply, colour, seat, clocks, None if deadline is None else rfc3339(deadline))

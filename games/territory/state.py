"""A whole game as data, and how it is folded from its events.

Pure. Time is in milliseconds since the epoch and always an argument. `fold(old, events)` gives the very state that
`decide` gave (decide.py), which is what lets every process keep its own copy.
"""

from collections.abc import Iterable, Sequence
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from common.clock import rfc3339
from games.territory import events as ev
from games.territory import rules
from games.territory.plies import Played, position_before
from games.territory.rules import Clock, Position, Termination, TimeControl, TimeKind

FIRST_MOVE_MS = 30_000
"""How long a seat has for its first move in a realtime game; after that the game is aborted, unrated."""


IDLE_MS = 7 * 24 * 60 * 60 * 1000
"""How long a game without clocks may wait for a move; after that it is aborted, so that every game ends."""


MAX_UNDONE = 200
"""How often moves may be taken back in one game; its log would grow without bound otherwise."""


class Undone(Struct, frozen=True):
    """One undo: the ply at which the game was, the version of its event, and whose move was taken back."""

    ply: int
    version: int
    seat: int


class Asked(Struct, frozen=True):
    """A seat's wish to go back to move number `ply`, by the event of `version`; who has agreed, and when."""

    seat: int
    ply: int
    version: int
    agreed: tuple[tuple[int, int], ...] = ()


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
    asked: Asked | None = None
    declined: tuple[int, ...] = ()
    """The seats whose wish to go back was declined since the latest move."""
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
        """Whether moves may be taken back at all: by the game's rule while it is played, and after its end if one
        person plays alone and no more than moves has ended it.
        """
        if not self.started.played_alone:
            return self.started.undo != "none" and not self.is_over
        return self.outcome is None or self.outcome.termination == "completed"

    @property
    def people(self) -> list[int]:
        """The seats of people who have not left."""
        left = {seat for seat, _ in self.leavers}
        return [s.seat for s in self.started.seats if s.level is None and s.seat not in left]

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
    return GameState(started, 1, position, clock), started


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


# What deciding and folding share


def after_move(state: GameState, played: Played, position: Position, now: int) -> GameState:
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


def after_undo(state: GameState, ply: int, now: int) -> GameState:
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
    undone = Undone(state.ply, state.version + 1, state.plies[ply].seat)
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


def after_leaving(
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
        asked=None,
    )


def after_asking(state: GameState, seat: int, ply: int) -> GameState:
    version = state.version + 1
    return replace(state, version=version, asked=Asked(seat, ply, version))


def after_answer(state: GameState, seat: int, *, agreed: bool) -> GameState:
    """A no is the end of the wish, and until the next move of all wishes of that seat."""
    asked, version = state.asked, state.version + 1
    assert asked is not None
    if agreed:
        asked = replace(asked, agreed=(*asked.agreed, (seat, version)))
        return replace(state, version=version, asked=asked)
    return replace(state, version=version, asked=None, declined=(*state.declined, asked.seat))


def after_end(state: GameState, outcome: ev.OutcomeData) -> GameState:
    """The clock has been stopped."""
    return replace(state, version=state.version + 1, outcome=outcome, asked=None)


def _apply(state: GameState, event: ev.AnyEvent, at: int) -> GameState:
    match event:
        case ev.MovePlayed():
            move = rules.parse_move(event.move, state.position.variant)
            colour = state.position.turn
            assert colour is not None
            played = Played(colour, event.seat, move, state.version + 1, state.position.out)
            position = state.position.apply(move, _newly_out(state.position, event))
            return after_move(state, played, position, at)
        case ev.SeatLeft():
            position = state.position.without_seat(event.seat).position
            return after_leaving(state, event.seat, Termination(event.reason), position, at)
        case ev.ColoursOut():
            return replace(state, version=state.version + 1)
        case ev.UndoAsked():
            return after_asking(state, event.seat, event.ply)
        case ev.UndoAnswered():
            return after_answer(state, event.seat, agreed=event.agreed)
        case ev.MovesUndone():
            return after_undo(state, event.ply, at)
        case ev.GameFinished():
            return after_end(replace(state, clock=state.clock.stop(at)), event.outcome)
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

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
from games.territory import lag, rules
from games.territory.plies import Played, position_before
from games.territory.rules import (
    Clock,
    Leavers,
    Position,
    Termination,
    TimeControl,
    TimeKind,
    with_leaver,
)

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

    No move before `floor` is taken back: a seat left after it. `stand_ins` are the seats that a CPU plays for, each
    with its level; `moved_at` when each seat moved last, came back, or the game began; `lag_accounts` what each seat
    may still be given for its lag; `outages` the numbers of those whose time has been given back.
    """

    started: ev.GameStarted
    version: int
    position: Position
    clock: Clock
    plies: tuple[Played, ...] = ()
    leavers: Leavers = ()
    floor: int = 0
    undone: tuple[Undone, ...] = ()
    began_at: int = 0
    moved_at: tuple[int, ...] = ()
    lag_accounts: tuple[int, ...] = ()
    stand_ins: tuple[tuple[int, str], ...] = ()
    outages: tuple[int, ...] = ()
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

    @property
    def is_realtime(self) -> bool:
        return self.clock.control.kind is TimeKind.REALTIME

    @property
    def expiry(self) -> int | None:
        """When the turn is over for everybody: no move that was made before the deadline can still be on its way."""
        deadline = self.deadline
        return deadline + lag.MOST_MS if deadline is not None and self.is_realtime else deadline

    def is_late(self, now: int) -> bool:
        """Whether the clock of a realtime game has run out: what is decided now may end the turn."""
        return self.is_realtime and self.deadline is not None and now >= self.deadline

    def lag_of(self, seat: int, measured_ms: int, now: int) -> int:
        """How much of the time that has passed is not counted for a move of the running seat that arrives now."""
        since = self.clock.since
        if since is None or not self.is_realtime:
            return 0
        return lag.compensation(measured_ms, self.lag_accounts[seat], now - since)

    def stand_in(self, seat: int) -> str:
        """The level of the CPU that plays for a seat whose player went away; empty for any other."""
        return dict(self.stand_ins).get(seat, "")

    def has_moved(self, seat: int) -> bool:
        # The first moves are made within the first plies of a game: this looks at one or two of them.
        return any(played.seat == seat for played in self.plies)

    def earliest_deadline(self, now: int) -> int | None:
        """An instant that no turn can be over before, from `now` on, whoever moves until then.

        A seat's clock only runs on its own turn, so none can end before the least time left has passed. (An undo may
        bring an earlier one, and its entry in the journal says so.)
        """
        expiry = self.expiry
        if expiry is None or self.clock.deadline is None:
            return expiry
        gone = self.position.gone  # their clocks stand for good, perhaps at nothing
        seats = [seat for seat in range(self.position.variant.seats) if seat not in gone]
        left = [self.clock.remaining(seat, now) or 0 for seat in seats]
        if self.started.time_control.kind == "realtime":
            left += [FIRST_MOVE_MS for seat in seats if not self.has_moved(seat)]
        return min(now + min(left) + lag.MOST_MS * self.is_realtime, expiry)


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


# What deciding and folding share


def after_move(
    state: GameState, played: Played, position: Position, now: int, lag_ms: int
) -> GameState:
    account = lag.account_after(state.lag_accounts[played.seat], lag_ms)
    return replace(
        state,
        version=state.version + 1,
        position=position,
        clock=state.clock.press(now, position.seat_to_move, lag_ms),
        plies=(*state.plies, played),
        moved_at=_put(state.moved_at, played.seat, now),
        lag_accounts=_put(state.lag_accounts, played.seat, account),
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
    undone = Undone(state.ply, state.version + 1)
    return replace(
        state,
        version=state.version + 1,
        position=position,
        clock=clock,
        plies=state.plies[:ply],
        outcome=None,
        undone=(*state.undone, undone),
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
        leavers=with_leaver(state.leavers, seat, reason),
        floor=state.ply,
    )


def after_claim(state: GameState, claimed: ev.SeatClaimed) -> GameState:
    """A seat whose player went away was claimed: a CPU plays for it, or the next event ends the game."""
    state = replace(state, version=state.version + 1)
    if claimed.level is None:
        return state
    return replace(
        state,
        stand_ins=(*state.stand_ins, (claimed.seat, claimed.level)),
        leavers=with_leaver(state.leavers, claimed.seat, Termination.REPLACED),
    )


def after_return(state: GameState, seat: int, now: int) -> GameState:
    """The player of a seat that a CPU played for is back."""
    return replace(
        state,
        version=state.version + 1,
        stand_ins=tuple(each for each in state.stand_ins if each[0] != seat),
        leavers=tuple(each for each in state.leavers if each[0] != seat),
        moved_at=_put(state.moved_at, seat, now),
    )


def after_outage(state: GameState, outage: int, by_ms: int, now: int) -> GameState:
    """Every seat has so much more time, and the turn goes on from now, with its whole bound if it is a first move."""
    clock = state.clock.extended(by_ms)
    if clock.running is not None:
        clock = clock.run(clock.running, now)
    return replace(state, version=state.version + 1, clock=clock, outages=(*state.outages, outage))


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
        case ev.SeatClaimed():
            return after_claim(state, event)
        case ev.SeatReturned():
            return after_return(state, event.seat, at)
        case ev.TimeGiven():
            return after_outage(state, event.outage, event.ms, at)
        case ev.MovesUndone():
            return after_undo(state, event.ply, at)
        case ev.GameFinished():
            clock = state.clock.stop(at)
            return replace(state, version=state.version + 1, clock=clock, outcome=event.outcome)
        case ev.GameRated():
            return replace(state, version=state.version + 1, ratings=tuple(event.changes))
        case ev.GameStarted():
            raise ValueError("a game starts once")
        case _:
            assert_never(event)


def _put(row: tuple[int, ...], seat: int, value: int) -> tuple[int, ...]:
    return (*row[:seat], value, *row[seat + 1 :])


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

"""The steps by which a game goes on: what deciding (decide.py) and folding (state.py) share. Pure."""

from msgspec.structs import replace

from games.territory import events as ev
from games.territory import lag
from games.territory.game import Asked, GameState, Undone
from games.territory.plies import Played, position_before
from games.territory.rules import Clock, Position, Termination, TimeKind, with_leaver


def after_move(
    state: GameState, played: Played, position: Position, now: int, lag_ms: int
) -> GameState:
    account = lag.account_after(state.lag_accounts[played.seat], lag_ms)
    return replace(
        state,
        version=state.version + 1,
        position=position,
        clock=_standing(state, state.clock.press(now, position.seat_to_move, lag_ms), now),
        plies=(*state.plies, played),
        asked=None,
        declined=(),
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
    undone = Undone(state.ply, state.version + 1, state.plies[ply].seat)
    return replace(
        state,
        version=state.version + 1,
        position=position,
        clock=_standing(state, clock, now),
        plies=state.plies[:ply],
        outcome=None,
        asked=None,
        declined=(),
        undone=(*state.undone, undone),
    )


def after_leaving(
    state: GameState, seat: int, reason: Termination, position: Position, now: int
) -> GameState:
    clock = state.clock
    if position.seat_to_move != clock.running:
        clock = clock.stop(now)
        if position.seat_to_move is not None:
            clock = _standing(state, clock.run(position.seat_to_move, now), now)
    return replace(
        state,
        version=state.version + 1,
        position=position,
        clock=clock,
        leavers=with_leaver(state.leavers, seat, reason),
        floor=state.ply,
        asked=None,
    )


def after_vacation(state: GameState, seat: int, now: int, *, on: bool) -> GameState:
    """The player of a seat is on vacation, or back: its time stands, or runs again, when it is to move."""
    others = tuple(other for other in state.vacations if other != seat)
    clock = state.clock
    if clock.running == seat:
        clock = clock.paused(now) if on else clock.run(seat, now)
    return replace(
        state,
        version=state.version + 1,
        clock=clock,
        vacations=(*others, seat) if on else others,
    )


def _standing(state: GameState, clock: Clock, now: int) -> Clock:
    """A clock that has just begun to run; it stands if the player is on vacation."""
    return clock.paused(now) if clock.running in state.vacations else clock


def after_claim(state: GameState, claimed: ev.SeatClaimed) -> GameState:
    """A seat whose player went away was claimed: a CPU plays for it, or the next event ends the game."""
    state = replace(state, version=state.version + 1)
    if claimed.level is None:
        return state
    return replace(
        state,
        asked=None,
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


def _put(row: tuple[int, ...], seat: int, value: int) -> tuple[int, ...]:
    return (*row[:seat], value, *row[seat + 1 :])

"""Who leaves a game and comes back: claims, CPUs that play on, aborting, time given back. Pure.

The figures and what they mean for ratings are published in docs/leaving.md and docs/clocks.md.
"""

from typing import Final, Literal

from msgspec import Struct

from common.clock import rfc3339
from common.errors import KadoError
from games.territory import events as ev
from games.territory.errors import (
    AbortNotAllowedError,
    ClaimNotAllowedError,
    NotReplacedError,
    OpponentPresentError,
)
from games.territory.rules import Speed, Termination, TimeKind
from games.territory.state import (
    GameState,
    after_claim,
    after_outage,
    after_return,
    after_vacation,
    turn_of,
)

AWAY_MS: Final = {Speed.BLITZ: 20_000, Speed.RAPID: 60_000}
"""How long a player has to be away before the seat can be claimed. Other games can wait for their clocks."""
STAND_IN: Final = "intermediate"
"""The level of the CPU that plays for a seat whose player went away."""

LONG_OUTAGE_MS: Final = 10 * 60_000
"""A realtime game is aborted after an outage that was longer; a shorter one is given back."""

Result = Literal["win", "draw", "cpu"]
RESULTS: Final[tuple[Result, ...]] = ("win", "draw", "cpu")


class Claim(Struct, frozen=True):
    """`seat` claims, because the last connection of the player of the seat `away` ended at `away_since`.

    It is None if the player is connected, or nothing is known.
    """

    seat: int
    away: int
    result: Result
    away_since: int | None


class Return(Struct, frozen=True):
    """The player of `seat` takes it back from the CPU."""

    seat: int


class Abort(Struct, frozen=True):
    """The player of `seat`, who has made no move yet, does not want this game."""

    seat: int


class GiveTime(Struct, frozen=True):
    """The service was away from `began` to `ended`: outage number `outage`."""

    outage: int
    began: int
    ended: int


class Vacation(Struct, frozen=True):
    """The player of `seat` is on vacation until then at the latest; None: is back."""

    seat: int
    until: int | None


class Change(Struct, frozen=True):
    """What such a command does; then a seat `leaves` for a reason, or the game is `aborted`, perhaps `by` a seat."""

    state: GameState
    events: tuple[ev.AnyEvent, ...] = ()
    leaves: tuple[int, Termination] | None = None
    aborted: bool = False
    by: int | None = None


def claimable(state: GameState, seat: int) -> int | None:
    """How long the player of `seat` has to be away before others may claim; None if nothing can be claimed."""
    plays = not state.is_over and seat not in state.position.gone and not state.stand_in(seat)
    person = state.started.seats[seat].level is None
    if not plays or not person or state.started.played_alone or not state.has_moved(seat):
        return None
    return AWAY_MS.get(state.clock.control.speed)


def away_from(state: GameState, seat: int, away_since: int | None) -> int | None:
    """Since when the player of `seat` has been away from this game; None for who is there, or was never connected.

    Who plays by REST has no connection to lose: only one that ended during the game counts, and no earlier than the
    player's latest move.
    """
    if away_since is None or away_since < state.began_at:
        return None
    return max(away_since, state.moved_at[seat])


def change(state: GameState, command: Claim | Return | Abort, now: int) -> Change | KadoError:
    """What the command does in a game that is not over and whose turn is not either."""
    match command:
        case Claim():
            return _claim(state, command, now)
        case Return(seat):
            if seat in state.position.gone or not state.stand_in(seat):
                return NotReplacedError(version=state.version)
            return come_back(state, seat, now)
        case Abort(seat):
            if state.position.variant.seats != 2 or state.has_moved(seat):
                return AbortNotAllowedError(version=state.version)
            return Change(state, aborted=True, by=seat)


def come_back(state: GameState, seat: int, now: int) -> Change:
    """The player of a seat that a CPU plays for takes it back."""
    return Change(after_return(state, seat, now), (ev.SeatReturned(seat),))


def give_time(state: GameState, command: GiveTime, now: int) -> Change:
    """Every seat gets the time that the service was away, once for each outage, for the game's own part of it.

    After a long one nobody can be expected to be there still: the game is aborted.
    """
    ms = command.ended - max(command.began, state.began_at)
    if ms <= 0 or state.is_over or not state.is_realtime or command.outage in state.outages:
        return Change(state)
    aborted = ms > LONG_OUTAGE_MS
    ms = 0 if aborted else ms
    after = after_outage(state, command.outage, ms, now)
    turn = turn_of(after)
    assert turn is not None
    began, ended = rfc3339(command.began), rfc3339(command.ended)
    return Change(after, (ev.TimeGiven(command.outage, began, ended, ms, turn),), aborted=aborted)


def vacation(state: GameState, command: Vacation, now: int) -> Change:
    """The seat's time stands or runs again, in a correspondence game that goes on; saying it twice changes nothing."""
    seat, on = command.seat, command.until is not None
    control, gone = state.clock.control, state.position.gone
    if control.kind is not TimeKind.CORRESPONDENCE or state.is_over or seat in gone:
        return Change(state)
    if on == (seat in state.vacations) or state.started.played_alone:
        return Change(state)
    after = after_vacation(state, seat, now, on=on)
    turn = turn_of(after)
    assert turn is not None
    if command.until is None:
        return Change(after, (ev.VacationEnded(seat, turn),))
    return Change(after, (ev.VacationBegan(seat, rfc3339(command.until), turn),))


def _claim(state: GameState, claim: Claim, now: int) -> Change | KadoError:
    if refusal := _why_not(state, claim):
        return ClaimNotAllowedError(refusal, version=state.version)
    needed = claimable(state, claim.away)
    assert needed is not None
    since = away_from(state, claim.away, claim.away_since)
    if since is None or now < since + needed:
        at = None if since is None else rfc3339(since + needed)
        return OpponentPresentError(version=state.version, claimable_at=at)
    rated = state.started.rated
    claimed = ev.SeatClaimed(
        seat=claim.away,
        by=claim.seat,
        result=claim.result,
        away_ms=now - since,
        level=STAND_IN if claim.result == "cpu" else None,
        rating=_RATING[claim.result] if rated else "unrated",
    )
    after = after_claim(state, claimed)
    match claim.result:
        case "win":
            return Change(after, (claimed,), leaves=(claim.away, Termination.ABANDONED))
        case "draw":
            return Change(after, (claimed,), leaves=(claim.away, Termination.DRAWN))
        case "cpu":
            return Change(after, (claimed,))


_RATING: Final[dict[Result, Literal["loss", "draw", "below-who-stays"]]] = {
    "win": "loss",
    "draw": "draw",
    "cpu": "below-who-stays",
}


def _why_not(state: GameState, claim: Claim) -> str:
    """Why this can never be claimed, as a sentence; empty if it can when the other one is away for long enough."""
    seats = state.started.seats
    if claim.seat in state.position.gone or state.stand_in(claim.seat):
        return "You do not play in this game any more."
    if seats[claim.seat].player == seats[claim.away].player:
        return "That is your own seat."
    two = state.position.variant.seats == 2
    if two != (claim.result != "cpu"):
        return "With two seats claim a win or a draw, with more that the CPU takes the seat."
    if claimable(state, claim.away) is None:
        return "Only a seat of a realtime game whose player has moved can be claimed."
    return ""

"""Deciding: `decide(state, command, now) -> Decision(state, events)`, what a command does to a game.

Pure. `fold(state, decision.events)` is the very state that was decided; both go by the steps in `state`.
"""

from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from common.errors import KadoError
from games.territory import events as ev
from games.territory import leaving, rules
from games.territory.decision import Decision, refuse, stale
from games.territory.errors import (
    GameOverError,
    IllegalMoveError,
    MalformedMoveError,
    NotYourTurnError,
    TooLateError,
)
from games.territory.leaving import Abort, Claim, GiveTime, Return, Vacation
from games.territory.plies import Played
from games.territory.rules import Move, Outcome, Termination
from games.territory.state import (
    GameState,
    after_end,
    after_leaving,
    after_move,
    clocks_of,
    turn_of,
)
from games.territory.undoing import AnswerUndo, Undo, answer_undo, undo


class PlayMove(Struct, frozen=True):
    """`seat` places a piece as move number `ply`; `move` is text as the client sent it.

    A move that was `chosen_at` a version is a CPU's, for the position of that version only
    (docs/adr/0012-undo-and-hints.md). `lag_ms` is the round trip to the player as this server measured it.
    """

    seat: int
    ply: int
    move: str
    chosen_at: int | None = None
    lag_ms: int = 0


class Resign(Struct, frozen=True):
    seat: int


class CheckClock(Struct, frozen=True):
    """End the turn if its time is up; otherwise nothing happens."""


__all__ = [
    "Abort",
    "AnswerUndo",
    "CheckClock",
    "Claim",
    "Command",
    "Decision",
    "GiveTime",
    "PlayMove",
    "Resign",
    "Return",
    "Undo",
    "Vacation",
    "decide",
]

Command = (
    PlayMove
    | Undo
    | AnswerUndo
    | Resign
    | CheckClock
    | Claim
    | Return
    | Abort
    | GiveTime
    | Vacation
)


def decide(state: GameState, command: Command, now: int) -> Decision:
    """What `command` does at `now`."""
    late = state.deadline is not None and now >= state.deadline
    # The seat to move knows when its own time is up; for everybody else a move may still be on its way.
    expired = state.expiry is not None and now >= state.expiry
    match command:
        case CheckClock():
            return _time_up(state, now) if expired else Decision(state)
        case Resign(seat):
            if state.is_over or seat in state.position.gone:
                return refuse(state, GameOverError(version=state.version))
            up = late if seat == state.clock.running else expired
            return _resign_late(state, seat, now) if up else _resign(state, seat, now)
        case PlayMove():
            return _play(state, command, now)
        case Undo():
            return _unless_late(state, undo(state, command, now), now, late=late)
        case AnswerUndo():
            return _unless_late(state, answer_undo(state, command, now), now, late=late)
        case Claim() | Return() | Abort() | GiveTime() | Vacation():
            return _presence(state, command, now, expired=expired)
        case _:
            assert_never(command)


# Parts of it


def _unless_late(state: GameState, decision: Decision, now: int, *, late: bool) -> Decision:
    """What was decided, unless it would change something and the time of the seat to move was up before."""
    if late and decision.events:
        return replace(_time_up(state, now), refusal=TooLateError(version=state.version))
    return decision


def _play(state: GameState, command: PlayMove, now: int) -> Decision:
    position, version = state.position, state.version
    if command.ply < state.ply and (said := _said_before(state, command)):
        return Decision(state, version=said.version)
    if state.is_over:
        return refuse(state, GameOverError(version=version))
    if command.ply != state.ply:
        why = f"The move is for ply {command.ply}, the game is at ply {state.ply}."
        return stale(state, why)
    if command.chosen_at not in (None, version):
        return stale(state, "The position has changed since the move was chosen.")
    if command.seat != position.seat_to_move:
        return refuse(
            state, NotYourTurnError(version=version, ply=state.ply, seat=position.seat_to_move)
        )
    lag_ms = state.lag_of(command.seat, command.lag_ms, now)
    if state.deadline is not None and now - lag_ms >= state.deadline:
        return replace(_time_up(state, now), refusal=TooLateError(version=version))
    try:
        move = rules.parse_move(command.move, position.variant)
        step = position.advance(move)
    except rules.MalformedMoveError as error:
        return refuse(state, MalformedMoveError(str(error), version=version))
    except rules.IllegalMoveError as error:
        return refuse(state, IllegalMoveError(str(error), reason=error.code, version=version))
    if command.chosen_at is None and state.stand_in(command.seat):
        back = leaving.come_back(state, command.seat, now)
        placed = _placed(back.state, move, step, now, lag_ms)
        return replace(placed, events=(*back.events, *placed.events), version=version + 1)
    return _placed(state, move, step, now, lag_ms)


def _placed(state: GameState, move: Move, step: rules.Step, now: int, lag_ms: int) -> Decision:
    colour, seat = state.position.turn, state.position.seat_to_move
    assert colour is not None
    assert seat is not None
    made = Played(colour, seat, move, state.version + 1, state.position.out)
    after = after_move(state, made, step.position, now, lag_ms)
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
        lag_ms=lag_ms,
    )
    return _conclude(after, played, step, now)


def _leave(state: GameState, seat: int, reason: Termination, now: int) -> Decision:
    step = state.position.without_seat(seat)
    after = after_leaving(state, seat, reason, step.position, now)
    names = state.position.variant.colours
    left = ev.SeatLeft(
        seat=seat,
        reason=reason.value,  # type: ignore[arg-type]  # only the reasons of a seat come here
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
        return _abort(state, seat, now)
    return _leave(state, seat, Termination.TIMEOUT, now)


def _abort(
    state: GameState, by: int | None, now: int, happened: tuple[ev.AnyEvent, ...] = ()
) -> Decision:
    """The game ends as if it had never been; `by` is the seat that is answerable, if one is."""
    leavers = state.leavers
    if by is not None:
        leavers = rules.with_leaver(leavers, by, Termination.ABANDONED)
    result = rules.outcome(state.position, leavers, aborted=True)
    return _finish(replace(state, clock=state.clock.stop(now)), happened, result, by)


def _presence(
    state: GameState,
    command: Claim | Return | Abort | GiveTime | Vacation,
    now: int,
    *,
    expired: bool,
) -> Decision:
    """Who is there and who is not. What is due comes first, but for the time that an outage has cost."""
    match command:
        case GiveTime():
            return _change(state, leaving.give_time(state, command, now), now)
        case Vacation():
            if expired:
                return _time_up(state, now)
            return _change(state, leaving.vacation(state, command, now), now)
        case _:
            if state.is_over:
                return refuse(state, GameOverError(version=state.version))
            if expired:
                return replace(_time_up(state, now), refusal=TooLateError(version=state.version))
            return _change(state, leaving.change(state, command, now), now)


def _change(state: GameState, change: leaving.Change | KadoError, now: int) -> Decision:
    """What a change of who plays leads to."""
    if isinstance(change, KadoError):
        return refuse(state, change)
    if change.aborted:
        return _abort(change.state, change.by, now, change.events)
    if change.leaves is None:
        version = state.version + 1 if change.events else 0
        return Decision(change.state, change.events, version=version)
    left = _leave(change.state, *change.leaves, now)
    return replace(left, events=(*change.events, *left.events), version=state.version + 1)


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


def _finish(
    state: GameState,
    happened: tuple[ev.AnyEvent, ...],
    result: Outcome,
    by: int | None = None,
) -> Decision:
    data = ev.OutcomeData(
        result.termination.value,  # type: ignore[arg-type]  # no game ends by a seat that is replaced
        [
            ev.SeatResult(seat, points, penalty, rank)
            for seat, (points, penalty, rank) in enumerate(
                zip(result.points, result.penalty_points, result.ranks, strict=True)
            )
        ],
        by,
    )
    finished = ev.GameFinished(data, clocks_of(state))
    after = after_end(state, data)
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

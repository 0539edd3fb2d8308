"""Deciding: `decide(state, command, now) -> Decision(state, events)`, what a command does to a game.

Pure. `fold(state, decision.events)` is the very state that was decided; both go by the steps in `state`.
"""

from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from games.territory import events as ev
from games.territory import rules
from games.territory.decision import Decision, refuse, stale
from games.territory.errors import (
    GameOverError,
    IllegalMoveError,
    MalformedMoveError,
    NotYourTurnError,
    TooLateError,
)
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

    A move that was `chosen_at` a version is for the position of that version only (docs/adr/0012-undo-and-hints.md).
    """

    seat: int
    ply: int
    move: str
    chosen_at: int | None = None


class Resign(Struct, frozen=True):
    seat: int


class CheckClock(Struct, frozen=True):
    """End the turn if its time is up; otherwise nothing happens."""


__all__ = [
    "AnswerUndo",
    "CheckClock",
    "Command",
    "Decision",
    "PlayMove",
    "Resign",
    "Undo",
    "decide",
]

Command = PlayMove | Undo | AnswerUndo | Resign | CheckClock


def decide(state: GameState, command: Command, now: int) -> Decision:
    """What `command` does at `now`."""
    late = state.deadline is not None and now >= state.deadline
    match command:
        case CheckClock():
            return _time_up(state, now) if late else Decision(state)
        case Resign(seat):
            if state.is_over or any(seat == leaver for leaver, _ in state.leavers):
                return refuse(state, GameOverError(version=state.version))
            return _resign_late(state, seat, now) if late else _resign(state, seat, now)
        case PlayMove():
            return _play(state, command, now, late=late)
        case Undo():
            return _unless_late(state, undo(state, command, now), now, late=late)
        case AnswerUndo():
            return _unless_late(state, answer_undo(state, command, now), now, late=late)
        case _:
            assert_never(command)


# Parts of it


def _unless_late(state: GameState, decision: Decision, now: int, *, late: bool) -> Decision:
    """What was decided, unless it would change something and the time of the seat to move was up before."""
    if late and decision.events:
        return replace(_time_up(state, now), refusal=TooLateError(version=state.version))
    return decision


def _play(state: GameState, command: PlayMove, now: int, *, late: bool) -> Decision:
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
    if late:
        return replace(_time_up(state, now), refusal=TooLateError(version=version))
    try:
        move = rules.parse_move(command.move, position.variant)
        step = position.advance(move)
    except rules.MalformedMoveError as error:
        return refuse(state, MalformedMoveError(str(error), version=version))
    except rules.IllegalMoveError as error:
        return refuse(state, IllegalMoveError(str(error), reason=error.code, version=version))
    return _placed(state, command.seat, move, step, now)


def _placed(state: GameState, seat: int, move: Move, step: rules.Step, now: int) -> Decision:
    colour = state.position.turn
    assert colour is not None
    made = Played(colour, seat, move, state.version + 1, state.position.out)
    after = after_move(state, made, step.position, now)
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


def _leave(state: GameState, seat: int, reason: Termination, now: int) -> Decision:
    step = state.position.without_seat(seat)
    after = after_leaving(state, seat, reason, step.position, now)
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

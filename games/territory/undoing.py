"""Deciding what becomes of a wish to take moves back: at once, when all other people agree, or not. Pure.

Which games let it, and how far back it goes: docs/adr/0012-undo-and-hints.md.
"""

from msgspec import Struct

from games.territory import events as ev
from games.territory.decision import Decision, refuse, stale
from games.territory.errors import (
    GameOverError,
    NothingToUndoError,
    NoUndoAskedError,
    UndoAskedError,
    UndoDeclinedError,
    UndoNotAllowedError,
)
from games.territory.plies import latest_of
from games.territory.state import (
    MAX_UNDONE,
    GameState,
    after_answer,
    after_asking,
    after_undo,
    colours_of,
    turn_of,
)


class Undo(Struct, frozen=True):
    """`seat` takes back its latest move and what came after it, in a game that is at `ply`; or asks to.

    Who plays alone takes back the latest move of any own seat.
    """

    ply: int
    seat: int = 0


class AnswerUndo(Struct, frozen=True):
    """`seat` agrees to the undo that is asked for in a game at `ply`, or does not."""

    ply: int
    seat: int
    agreed: bool


def undo(state: GameState, command: Undo, now: int) -> Decision:
    """What the wish does at `now`: the clock has been looked at."""
    version, alone = state.version, state.started.played_alone
    if not alone and state.started.undo == "none":
        return refuse(state, UndoNotAllowedError(version=version))
    if command.ply != state.ply:
        for undone in reversed(state.undone):
            if undone.ply == command.ply and (alone or undone.seat == command.seat):
                return Decision(state, version=undone.version)
    if not state.may_go_back:
        return refuse(state, GameOverError(version=version))
    if command.ply != state.ply:
        return stale(state, f"The undo is for ply {command.ply}, the game is at ply {state.ply}.")
    own = [s.seat for s in state.started.seats if s.level is None] if alone else [command.seat]
    ply = latest_of(state.plies, own, state.floor)
    if ply is None:
        return refuse(state, NothingToUndoError(version=version))
    if len(state.undone) >= MAX_UNDONE:
        text = f"Moves have been taken back {MAX_UNDONE} times in this game."
        return refuse(state, UndoNotAllowedError(text, version=version))
    if alone or state.started.undo == "free" or state.people == [command.seat]:
        return _take_back(state, ply, now)
    return _ask(state, command.seat, ply)


def answer_undo(state: GameState, command: AnswerUndo, now: int) -> Decision:
    """What an answer does at `now`: the clock has been looked at."""
    asked, version = state.asked, state.version
    if command.ply != state.ply:
        if command.agreed:
            for undone in reversed(state.undone):
                if undone.ply == command.ply and undone.seat != command.seat:
                    return Decision(state, version=undone.version)
        if not state.is_over:
            text = f"The answer is for ply {command.ply}, the game is at ply {state.ply}."
            return stale(state, text)
    if state.is_over or command.seat not in state.people:
        return refuse(state, GameOverError(version=version))
    if asked is None or asked.seat == command.seat:
        return refuse(state, NoUndoAskedError(version=version))
    if command.agreed and (said := dict(asked.agreed).get(command.seat)):
        return Decision(state, version=said)
    after = after_answer(state, command.seat, agreed=command.agreed)
    answered = ev.UndoAnswered(command.seat, command.agreed)
    if after.asked and {seat for seat, _ in after.asked.agreed} >= {*state.people} - {asked.seat}:
        taken = _take_back(after, asked.ply, now)
        return Decision(taken.state, (answered, *taken.events), version=after.version)
    return Decision(after, (answered,), version=after.version)


def _ask(state: GameState, seat: int, ply: int) -> Decision:
    if state.asked is not None:
        if state.asked.seat == seat:
            return Decision(state, version=state.asked.version)
        return refuse(state, UndoAskedError(version=state.version, seat=state.asked.seat))
    if seat in state.declined:
        return refuse(state, UndoDeclinedError(version=state.version))
    after = after_asking(state, seat, ply)
    return Decision(after, (ev.UndoAsked(seat, ply),), version=after.version)


def _take_back(state: GameState, ply: int, now: int) -> Decision:
    after = after_undo(state, ply, now)
    turn = turn_of(after)
    assert turn is not None
    return Decision(after, (ev.MovesUndone(ply, colours_of(after), turn),), version=after.version)

"""Placing a block and taking one back: one transaction under the run's row lock (docs/adr/0014-puzzle-runs.md).

lock (rows.py) → decide (snapshot.py and the rules, pure) → end, if it is one (finish.py) → write → publish.
"""

from collections.abc import Callable

import msgspec
import psycopg
from django.db import transaction

from common.clock import now_ms
from common.errors import KadoError
from common.streams import Note
from games.puzzle import errors, rules, selectors
from games.puzzle import events as ev
from games.puzzle.models import Run
from games.puzzle.services import days, finish
from games.puzzle.services.rows import Held, hold, write
from games.puzzle.snapshot import Placing, TakingBack

Command = Placing | TakingBack

REFUSALS = {
    error.code: error
    for error in (
        errors.RunOverError,
        errors.BlockNotInHandError,
        errors.RotationNotAllowedError,
        errors.OutsideBoardError,
        errors.CellsOccupiedError,
        errors.UndoOffError,
        errors.UndoUsedError,
        errors.NothingToUndoError,
    )
}
"""The refusals of the rules, by the code that both have."""

STARTED_SINCE = "It was over, and another run with its rules was started since."


def place(
    *,
    run_id: str,
    player_id: int,
    turn: int,
    slot: int,
    rotation: int,
    at: str,
    clock: Callable[[], int] = now_ms,
) -> Note:
    """Place the block of a slot, and return the event that came of it; the first one when this is said again.

    Raises the refusals of `games.puzzle.errors`, each with the run's turn and version.
    """
    return _perform(run_id, player_id, Placing(turn, slot, rotation, at), clock)


def take_back(*, run_id: str, player_id: int, turn: int, clock: Callable[[], int] = now_ms) -> Note:
    """Take the latest placement back, also after the end, and return the event; the first one when said again."""
    return _perform(run_id, player_id, TakingBack(turn), clock)


def _perform(run_id: str, player_id: int, command: Command, clock: Callable[[], int]) -> Note:
    with transaction.atomic():
        held = hold(run_id, player_id)
        if (first := _first_answer(held, command)) is not None:
            return first
        try:
            return _decide(held, command, clock)
        except rules.RulesError as error:
            raise _refused(held, REFUSALS[error.code], str(error)) from None


def _first_answer(held: Held, command: Command) -> Note | None:
    """The event that this command brought about before. Every turn is one event, and the first event is no turn's."""
    if not 0 <= command.turn < held.turn:
        return None
    version = command.turn + 2
    (note,) = selectors.notes_after(held.id, version - 1, version)
    return note if command.is_told_by(ev.decode(note.payload)) else None


def _decide(held: Held, command: Command, clock: Callable[[], int]) -> Note:
    now = _now(held, clock)
    if held.status in {Run.Status.ABANDONED, Run.Status.CLOSED}:
        raise _refused(held, errors.RunOverError, "Another run was started, or its day has ended.")
    if command.turn != held.turn:
        detail = f"The command is for turn {command.turn}, the run is at turn {held.turn}."
        raise _refused(held, errors.StaleTurnError, detail)
    after, event = command.decide(held.run, held.seed)
    if after.over:
        return _end(held, after, event, now)
    if held.status == Run.Status.OVER:
        _reopen(held)
    try:
        return write(held, after, event, status=Run.Status.RUNNING, at=now)
    except psycopg.errors.UniqueViolation:
        raise _refused(held, errors.OtherRunStartedError, STARTED_SINCE) from None


def _now(held: Held, clock: Callable[[], int]) -> int:
    """The instant of the command: read when nothing can change the run, or close its day, any more."""
    if not held.counted:
        return clock()
    assert held.date is not None
    try:
        return days.keep_open(held.date, clock)
    except errors.DailyClosedError as error:
        raise _refused(held, errors.DailyClosedError, error.detail) from None


def _end(held: Held, after: rules.Run, event: ev.AnyEvent, now: int) -> Note:
    may_go_on = after.rules.undo == "once" and not after.undo_used
    return finish.finish_run(
        held,
        after,
        reason="no-block-fits",
        status=Run.Status.OVER,
        event_of=lambda end: msgspec.structs.replace(event, end=end),
        at=now,
        finished_at=now,
        final=not may_go_on and not held.counted,
    )


def _reopen(held: Held) -> None:
    if held.revealed:
        raise _refused(held, errors.OtherRunStartedError, STARTED_SINCE)
    finish.reopen(held)


def _refused(held: Held, error: type[KadoError], detail: str) -> KadoError:
    return error(detail, turn=held.turn, version=held.version)

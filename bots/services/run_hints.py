"""Hints for runs of the block puzzle: asked for by the player, found by a worker, given in the inbox.

There may be one at every turn. What is found after the run has moved on is dropped. See docs/adr/0020-puzzle-hints.md.
"""

from dataclasses import dataclass
from typing import Any

from django.db import transaction

from accounts.services import inbox
from bots.errors import HintNotAllowedError
from bots.events import RunHintGiven
from bots.models import RunHint
from bots.queue import HINT_LINE
from bots.services.hints import PATIENCE_MS
from common.clock import to_datetime
from common.errors import UnavailableError
from games.puzzle import rules
from games.puzzle import selectors as runs
from games.puzzle.errors import RunOverError, StaleTurnError


@dataclass(frozen=True, slots=True)
class AskedRunHint:
    """A hint that was asked for; `given` is None until it is there."""

    turn: int
    given: RunHintGiven | None

    def wire(self) -> dict[str, Any]:
        names = ("slot", "rotation", "at", "cells", "lines")
        return {"turn": self.turn} | {name: getattr(self.given, name, None) for name in names}


def ask_run_hint(*, run_id: str, player_id: int, turn: int | None, now: int) -> AskedRunHint:
    """Ask for a placement at the run's present turn; with `turn`, only if the run is there.

    Asked again at the same turn, the answer is the same. Raises `HintNotAllowedError` and the refusals of runs;
    `UnavailableError` when no worker can be asked.
    """
    _check(run_id, player_id, turn)
    with transaction.atomic():
        hint, _ = RunHint.objects.select_for_update().get_or_create(
            run_id=run_id, defaults={"player_id": player_id, "turn": 0, "asked_at": 0}
        )
        # Read again: nobody else changes the hint now, and it is for no later turn than this one.
        state = _check(run_id, player_id, turn)
        wanted = _renew(hint, state.turn, now)
    if wanted:
        _ask_worker(hint)
    return AskedRunHint(state.turn, None if hint.slot is None else _event(hint, state))


def give_run_hint(*, run_id: str, turn: int, slot: int, rotation: int, at: str, now: int) -> bool:
    """Keep the placement that was found for a turn, and tell the player. False: it is not wanted any more."""
    with transaction.atomic():
        wanted = RunHint.objects.select_for_update().filter(run_id=run_id, turn=turn, slot=None)
        hint = wanted.first()
        if hint is None:
            return False
        state = runs.running_at(run_id, turn)
        if state is None:
            hint.delete()
            return False
        hint.slot, hint.rotation, hint.at = slot, rotation, at
        hint.given_at = to_datetime(now)
        hint.save(update_fields=["slot", "rotation", "at", "given_at"])
        inbox.notify(player_id=hint.player_id, event=_event(hint, state), at=now)
    return True


def drop_run_hint(*, run_id: str, turn: int) -> None:
    """Forget a hint that was asked for at a turn at which the run is no more."""
    RunHint.objects.filter(run_id=run_id, turn=turn, slot=None).delete()


def _check(run_id: str, player_id: int, turn: int | None) -> rules.Run:
    """The run, if its player may have a hint now."""
    row = runs.run_of(run_id, player_id)
    if row.counted:
        detail = "It is a counted attempt at a daily puzzle."
        raise HintNotAllowedError(detail, turn=row.turn, version=row.version)
    if row.status != row.Status.RUNNING:
        raise RunOverError(turn=row.turn, version=row.version)
    if turn not in (None, row.turn):
        detail = f"The hint is for turn {turn}, the run is at turn {row.turn}."
        raise StaleTurnError(detail, turn=row.turn, version=row.version)
    return runs.state_of_row(row)


def _renew(hint: RunHint, turn: int, now: int) -> bool:
    """Make the row that of this turn; whether a worker has to look for it, for the first time or again."""
    if hint.turn == turn and (hint.slot is not None or hint.asked_at > now - PATIENCE_MS):
        return False
    hint.turn, hint.asked_at = turn, now
    hint.slot = hint.rotation = hint.given_at = None
    hint.at = ""
    hint.save()
    return True


def _event(hint: RunHint, state: rules.Run) -> RunHintGiven:
    assert hint.slot is not None
    assert hint.rotation is not None
    plan = rules.preview(state, hint.slot, hint.rotation, hint.at)
    return RunHintGiven(
        run=hint.run_id,
        turn=hint.turn,
        slot=hint.slot,
        rotation=hint.rotation,
        at=hint.at,
        cells=list(state.rules.board.split(plan.mask)),
        lines=[line.text for line in plan.lines],
    )


def _ask_worker(hint: RunHint) -> None:
    """Raises `UnavailableError`; then asking again asks at once."""
    try:
        wish = hint.run_id, hint.turn
        HINT_LINE.send("bots.find_run_hint", wish, [hint.player_id], hint.run_id, ms=PATIENCE_MS)
    except Exception as error:
        RunHint.objects.filter(pk=hint.pk, turn=hint.turn, slot=None).update(asked_at=0)
        raise UnavailableError("No worker can be asked just now; ask again.") from error

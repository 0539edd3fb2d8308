"""What the end of a run means: the player's best, the number of runs, and the leaderboards. And what its undoing means.

Everything here runs in the transaction that ends the run, while its row is locked.
"""

from collections.abc import Callable

from accounts.services import scores
from common.clock import from_datetime, to_datetime
from common.streams import Note
from games.puzzle import events as ev
from games.puzzle import rules
from games.puzzle.models import Best, Run
from games.puzzle.selectors import all_time_board, daily_board
from games.puzzle.services.rows import Held, reveal, write


def finish_run(
    held: Held,
    run: rules.Run,
    *,
    reason: ev.Reason,
    status: str,
    event_of: Callable[[ev.EndData], ev.AnyEvent],
    at: int,
    finished_at: int,
    final: bool,
) -> Note:
    """End a run whose last state is `run`, and return the event that says so, made by `event_of` at the instant `at`.

    `final`: nothing can change any more, so the seed is revealed. A run without a placement, and practice of a daily
    puzzle, leave no trace in bests and leaderboards.
    """
    counts = held.kept_best and run.statistics.placements > 0
    if counts:
        _keep(held, run, finished_at)
    end = _end_of(held, reason, finished_at)
    note = write(held, run, event_of(end), status=status, at=at, finished_at=finished_at)
    if final:
        reveal(held, version=note.version, at=at)
    if counts:  # last: others who enter the same leaderboard wait from here to the commit
        _submit(held, run, finished_at)
    return note


def _end_of(held: Held, reason: ev.Reason, finished_at: int) -> ev.EndData:
    best = None
    if held.kept_best:
        best = Best.objects.filter(player_id=held.player_id, key=held.key).first()
    return ev.EndData(
        reason=reason,
        duration_ms=max(0, finished_at - from_datetime(held.started_at)),
        best=None if best is None else best.score,
        new_best=best is not None and best.run_id == held.id,
    )


def _keep(held: Held, run: rules.Run, finished_at: int) -> None:
    """Count the run, and let it be the best if it is."""
    result = {
        "run_id": held.id,
        "score": run.score,
        "placements": run.statistics.placements,
        "finished_at": to_datetime(finished_at),
    }
    best, made = Best.objects.select_for_update().get_or_create(
        player_id=held.player_id, key=held.key, defaults={**result, "runs": 1}
    )
    if made:
        return
    if _order(run.score, run.statistics.placements, finished_at) < _order(
        best.score, best.placements, from_datetime(best.finished_at)
    ):
        for name, value in result.items():
            setattr(best, name, value)
    best.runs += 1
    best.save()


def _order(score: int, placements: int, finished_at: int) -> tuple[int, int, int]:
    """Results in the order of leaderboards."""
    return -score, placements, finished_at


def _submit(held: Held, run: rules.Run, finished_at: int) -> None:
    boards = [all_time_board(held.key)]
    if held.date is not None:
        boards.insert(0, daily_board(held.date))
    for board in boards:
        scores.submit_score(
            board=board,
            player_id=held.player_id,
            score=run.score,
            placements=run.statistics.placements,
            finished_at=finished_at,
            source=held.id,
        )


def enter_bests(*, player_id: int) -> None:
    """Enter what a player achieved as a guest: the bests, and the attempts at daily puzzles whose board is open.

    Runs in the caller's transaction, which holds the player's row. Twice is once.
    """
    entries = [
        (all_time_board(best.key), best.run_id, best.score, best.placements, best.finished_at)
        for best in Best.objects.filter(player_id=player_id)
    ]
    attempts = Run.objects.filter(
        player_id=player_id, counted=True, placements__gt=0, daily__frozen_at=None
    )
    for run in attempts.exclude(status=Run.Status.RUNNING):
        assert run.daily_id is not None
        assert run.finished_at is not None
        board = daily_board(run.daily_id)
        entries.append((board, run.id, run.score, run.placements, run.finished_at))
    for board, run_id, score, placements, finished_at in sorted(entries):
        scores.submit_score(
            board=board,
            player_id=player_id,
            score=score,
            placements=placements,
            finished_at=from_datetime(finished_at),
            source=run_id,
        )


def reopen(held: Held) -> None:
    """Forget the result of a run whose end is taken back: the best is again that of the player's other runs."""
    best = Best.objects.select_for_update().get(player_id=held.player_id, key=held.key)
    board = all_time_board(held.key)
    scores.withdraw_score(board=board, player_id=held.player_id, source=held.id)
    others = Run.objects.filter(player_id=held.player_id, key=held.key, placements__gt=0)
    other = (
        others.exclude(status=Run.Status.RUNNING)
        .exclude(id=held.id)
        .order_by("-score", "placements", "finished_at")
        .first()
    )
    if other is None:
        best.delete()
        return
    assert other.finished_at is not None
    best.run, best.score, best.placements = other, other.score, other.placements
    best.finished_at, best.runs = other.finished_at, best.runs - 1
    best.save()
    scores.submit_score(
        board=board,
        player_id=held.player_id,
        score=other.score,
        placements=other.placements,
        finished_at=from_datetime(other.finished_at),
        source=other.id,
    )

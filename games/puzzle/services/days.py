"""The days of daily puzzles: published, kept open while something is placed, closed when they are over.

A placement holds a share lock on its day's row to its commit, and reads the clock after it has it. Closing takes the
row for itself first: from then on every placement that was accepted is committed, and no other will be. After that
attempts are closed one by one, and the leaderboard is frozen when none is left. See docs/adr/0014-puzzle-runs.md.
"""

from collections.abc import Callable
from datetime import date

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Q

from accounts.services import scores
from common import database
from common.clock import to_datetime
from games.puzzle import events as ev
from games.puzzle import rules
from games.puzzle.errors import DailyClosedError, DailyOpenError, UnknownDailyError
from games.puzzle.models import Daily, Run
from games.puzzle.selectors import daily_board
from games.puzzle.services.finish import finish_run
from games.puzzle.services.rows import Held, hold_unrevealed, reveal

logger = structlog.get_logger(__name__)

FIRST = date(2026, 1, 1)
"""There is no daily puzzle before this date."""

LIMIT = 200
"""Attempts closed in one round of a sweeper, so that a round stays short."""

SHARE = "SELECT closed_at FROM puzzle_daily WHERE date = %s FOR SHARE"


def publish_day(*, day: date, now: int) -> Daily:
    """The row of a day that has begun, made when it is first asked for. Raises `UnknownDailyError`.

    The secret is needed only here: another one, later, does not change a day that was published. A day that nobody
    asked for while it was open is closed from the start.
    """
    if not FIRST <= day <= rules.date_at(now):
        raise UnknownDailyError(f"Daily puzzles are those from {FIRST} to {rules.date_at(now)}.")
    known = Daily.objects.filter(date=day).first()
    if known is not None:
        return known
    seed = rules.daily_seed(settings.DAILY_SECRET, day)
    over = None if now < rules.closes_at(day) else to_datetime(now)
    made = Daily(
        date=day, seed=seed, seed_hash=rules.seed_hash(seed), closed_at=over, frozen_at=over
    )
    Daily.objects.bulk_create([made], ignore_conflicts=True)
    return Daily.objects.get(date=day)


def keep_open(day: date, clock: Callable[[], int]) -> int:
    """Keep the day from being closed to the end of the transaction; the instant at which it is open.

    Raises `DailyClosedError`.
    """
    _check(day, clock())  # whoever is late anyway must not hold up the closing
    ((closed_at,),) = database.prepared(SHARE, [day])
    if closed_at is not None:  # by a process whose clock is ahead
        raise DailyClosedError(f"The puzzle of {day} is closed.")
    return _check(day, clock())


def _check(day: date, now: int) -> int:
    if now >= rules.closes_at(day):
        raise DailyClosedError(f"The puzzle of {day} closed at the end of that day, UTC.")
    return now


def close(*, day: Daily, now: int) -> None:
    """Let nothing more be placed on a day that is over, once what is under way is committed. Twice is once.

    Raises `DailyOpenError`.
    """
    if now < rules.closes_at(day.date):
        raise DailyOpenError(f"The puzzle of {day.date} closes at 00:00 UTC.")
    if day.closed_at is None:  # the update waits for the share locks of those placements
        Daily.objects.filter(date=day.date, closed_at=None).update(closed_at=to_datetime(now))


def sweep_days(*, now: int) -> int:
    """A round of closing: the attempts that were closed, of days that are over. Sweepers may do this together."""
    closed = 0
    for day in Daily.objects.filter(frozen_at=None, date__lt=rules.date_at(now)).order_by("date"):
        close(day=day, now=now)
        closed += _close_attempts(day.date, LIMIT - closed, now)
        if _freeze(day.date, now):
            logger.info("daily_closed", date=str(day.date), seed_hash=day.seed_hash)
        if closed >= LIMIT:
            break
    return closed


def _close_attempts(day: date, limit: int, now: int) -> int:
    """End what is still running with the score it has, and reveal the seed of every attempt; each by itself."""
    attempts = Run.objects.filter(daily=day, counted=True, revealed=False)
    closed = 0
    for run_id in attempts.order_by("player_id").values_list("id", flat=True)[:limit]:
        try:
            with transaction.atomic():
                # One that somebody else holds, another sweeper as a rule, is left to them, or to the next round.
                for held in hold_unrevealed(Q(id=run_id), skip_locked=True):
                    _close_attempt(held, rules.closes_at(day), now)
                    closed += 1
        except Exception:
            logger.exception("sweep_failed", run=run_id)
    return closed


def _close_attempt(held: Held, ended: int, now: int) -> None:
    if held.status != Run.Status.RUNNING:
        reveal(held, version=held.version, at=now)
        return
    finish_run(
        held,
        held.run,
        reason="day-over",
        status=Run.Status.CLOSED,
        event_of=ev.RunEnded,
        at=now,
        finished_at=ended,
        final=True,
    )


def _freeze(day: date, now: int) -> bool:
    """Make the day's leaderboard final when every attempt has its end. False if that is not so yet, or was before."""
    with transaction.atomic():
        held = Daily.objects.select_for_update(skip_locked=True).filter(date=day, frozen_at=None)
        if held.first() is None:
            return False
        if Run.objects.filter(daily=day, counted=True, revealed=False).exists():
            return False
        scores.freeze_board(board=daily_board(day), at=now)
        Daily.objects.filter(date=day).update(frozen_at=to_datetime(now))
        return True

"""Analyses of games that are over: asked for by a player, made by workers ply by ply, ready in the inbox.

The table is the queue. A task in Celery names no analysis: it takes the next ply of the one that has waited longest,
and asks for one task more as long as there is something left. So analyses share the workers, a worker that dies loses
one ply, and a task that comes twice finds other work or none. Why so is in docs/adr/0016-analysis.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import redis
import structlog
from celery import current_app
from django.db import connection, transaction

from accounts.services import inbox
from bots.analysis import SIMULATIONS, Finding
from bots.errors import NothingToAnalyseError, TooManyAnalysesError
from bots.events import AnalysisReady
from bots.models import AnalysedPly, Analysis, AnalysisWish
from bots.queue import LAST, QUEUE, list_of
from bots.selectors import AnalysisView, view_of
from common.clock import to_datetime
from common.redis import tasks_client
from games.territory import selectors as games
from games.territory import viewing
from games.territory.errors import NotSeatedError
from games.territory.selectors import Ended

logger = structlog.get_logger(__name__)

TASK = "bots.analyse_ply"
LEASE_MS = 30_000
"""How long a worker may have a ply in hand before it counts as dead; it needs a second or two."""
PATIENCE_MS = 10_000
"""How long work may lie there, with no task waiting to be taken, before the sweeper asks for tasks again."""
TASKS = 4
"""So many at most it asks for at a time; each goes on by itself."""
TRIES = 5
"""So often a ply is tried. One that ends its worker each time would otherwise end workers for ever."""
MOST = 3
"""Analyses that one player may wait for at a time."""
MOST_OF_ALL = 500
"""Analyses that may be made at a time: a few hours' work for one worker."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One ply that a worker has taken."""

    analysis_id: int
    game_id: str
    version: int
    ply: int
    simulations: int


def ask_analysis(*, game_id: str, player_id: int, now: int) -> AnalysisView:
    """Have a game that is over analysed; the player is told when that is done. Asked again, it is the same analysis.

    Raises `NothingToAnalyseError`, `TooManyAnalysesError`, and from games `UnknownGameError`, `NotSeatedError`,
    `NotFinishedError`.
    """
    seating = games.seating(game_id)
    ended = viewing.ended(viewing.spectators_view(game_id))
    if not seating.seats_of(player_id):
        raise NotSeatedError
    plies = len(list(ended.record.replay().plies()))
    if not plies:
        raise NothingToAnalyseError
    with transaction.atomic():
        _wait_for_others(game_id, player_id)
        analysis, is_new = _reserve(game_id, player_id, ended, plies, now)
        if analysis.status == Analysis.Status.RUNNING:
            AnalysisWish.objects.get_or_create(analysis=analysis, player_id=player_id)
    if is_new:
        ask_workers(1)
    return view_of(analysis, ended)


def claim_ply(*, now: int) -> Claim | None:
    """Take the next ply of the analysis that has waited longest; none if there is nothing to take.

    It is this worker's until it is kept, or for `LEASE_MS`.
    """
    while True:
        with transaction.atomic():
            analysis = (
                Analysis.objects.select_for_update(skip_locked=True)
                .filter(status=Analysis.Status.RUNNING, free_at__lte=now)
                .order_by("free_at")
                .first()
            )
            if analysis is None:
                return None
            if not games.still_ends_at(analysis.game_id, analysis.version):
                analysis.delete()
                continue
            if analysis.tries >= TRIES:
                analysis.status = Analysis.Status.FAILED
                analysis.save(update_fields=["status"])
                logger.error("analysis_failed", game=analysis.game_id, ply=analysis.done)
                continue
            analysis.tries += 1
            analysis.free_at = now + LEASE_MS
            analysis.save(update_fields=["tries", "free_at"])
        return Claim(
            analysis.pk, analysis.game_id, analysis.version, analysis.done, analysis.simulations
        )


def keep_finding(
    *, claim: Claim, finding: Finding, end: Sequence[float] | None, engine: str, now: int
) -> bool:
    """Keep what was found of a ply; with the last one the analysis is done, and who asked for it is told.

    `end` are the rewards of the game's result. False: it was kept before, or is not wanted any more. If another engine
    has found what is there, that is forgotten and the analysis begins anew, for one of two engines cannot be had again.
    """
    with transaction.atomic():
        analysis = (
            Analysis.objects.select_for_update()
            .filter(pk=claim.analysis_id, done=claim.ply, status=Analysis.Status.RUNNING)
            .first()
        )
        if analysis is None:
            return False
        if not games.still_ends_at(analysis.game_id, analysis.version):
            analysis.delete()
            return False
        if analysis.engine not in ("", engine):
            AnalysedPly.objects.filter(analysis=analysis).delete()
            analysis.done = 0
        else:
            _add(analysis, finding)
        analysis.engine, analysis.tries, analysis.free_at = engine, 0, now
        if analysis.done == analysis.plies:
            analysis.status, analysis.finished_at = Analysis.Status.DONE, to_datetime(now)
            analysis.end = end
            _tell(analysis, now)
        analysis.save()
    return True


def ask_workers(count: int) -> None:
    """Queue so many tasks, by name, so that no web process imports an engine. If that fails, the sweeper does later."""
    try:
        for _ in range(count):
            current_app.send_task(TASK, queue=QUEUE, priority=LAST)
    except Exception as error:  # noqa: BLE001  (Celery lets through whatever its transport raises)
        logger.warning("analysis_not_queued", reason=str(error))


def go_on(*, now: int) -> None:
    """After a ply: ask for the next task, if there is anything left to do."""
    if Analysis.objects.filter(status=Analysis.Status.RUNNING, free_at__lte=now).exists():
        ask_workers(1)


def resume_analyses(*, now: int) -> int:
    """Ask for tasks if work has been left lying and none is waiting; gives how many.

    Any number of sweepers may call: whoever finds the work marks it, and nobody looks at it again for `PATIENCE_MS`,
    also if Redis does not answer.
    """
    before = now - PATIENCE_MS
    running = Analysis.objects.filter(status=Analysis.Status.RUNNING)
    left = running.filter(free_at__lte=before, missed_at__lte=before).update(missed_at=now)
    if not left or _tasks_wait():
        return 0
    logger.warning("analyses_resumed", left=left)
    ask_workers(min(left, TASKS))
    return min(left, TASKS)


def _tasks_wait() -> bool:
    """Whether a task waits in the queue: then workers are busy, and nothing has been lost."""
    try:
        return bool(tasks_client().llen(list_of(LAST)))
    except redis.RedisError:
        return True


def _wait_for_others(game_id: str, player_id: int) -> None:
    """Let requests of one player, and for one game, go one after another, to the end of the transaction.

    Everybody takes the two locks in this order, and waits for a game only with a player in hand: no circle is possible.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('analyst'), %s)", [player_id % 2**31])
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtext('analysis'), hashtext(%s))", [game_id]
        )


def _reserve(
    game_id: str, player_id: int, ended: Ended, plies: int, now: int
) -> tuple[Analysis, bool]:
    """The analysis of this end of the game, and whether it is new. What is of an earlier end, or failed, is dropped."""
    there = Analysis.objects.select_for_update().filter(game_id=game_id).first()
    if there is not None:
        # A later end than the one that was read here is the one that counts.
        if there.version >= ended.version and there.status != Analysis.Status.FAILED:
            return there, False
        there.delete()
    running = Analysis.objects.filter(status=Analysis.Status.RUNNING)
    if running.filter(wishes__player_id=player_id).count() >= MOST:
        raise TooManyAnalysesError(f"You wait for {MOST} analyses already.", limit=MOST)
    if running.count() >= MOST_OF_ALL:
        raise TooManyAnalysesError("Everybody waits for analyses; ask later.", limit=MOST_OF_ALL)
    analysis = Analysis.objects.create(
        game_id=game_id,
        version=ended.version,
        plies=plies,
        simulations=SIMULATIONS,
        free_at=now,
        asked_at=to_datetime(now),
    )
    return analysis, True


def _add(analysis: Analysis, finding: Finding) -> None:
    AnalysedPly.objects.create(
        analysis=analysis,
        ply=analysis.done,
        values=finding.values,
        best=finding.best.text,
        best_value=finding.best_value,
        after=finding.after,
    )
    analysis.done += 1


def _tell(analysis: Analysis, now: int) -> None:
    """News for everybody who asked, in the order of their ids."""
    event = AnalysisReady(game=analysis.game_id, plies=analysis.plies)
    wishes = AnalysisWish.objects.filter(analysis=analysis).order_by("player_id")
    for player_id in wishes.values_list("player_id", flat=True):
        inbox.notify(player_id=player_id, event=event, at=now)

"""Work on standing that is too long for a request: an admin asks for it, a worker does it, its row says how far it is.

A job is done in one transaction that holds its row. A worker that dies leaves it `running` and free, and whoever looks
for work next does it from the start.
"""

from collections.abc import Callable, Mapping
from typing import Final

import structlog
from django.db import OperationalError, transaction

from accounts import rules
from accounts.errors import UnknownLeaderboardError
from accounts.models import StandingJob
from accounts.services.annulment import annul_game, restore_game
from accounts.services.decisions import Action, checked_reason, name_of, note
from accounts.services.ledgers import check_key, repair_key
from accounts.services.seasons import close_season, refreeze_season
from common.clock import now_ms
from common.errors import KadoError

logger = structlog.get_logger(__name__)

Kind = StandingJob.Kind
State = StandingJob.State


def ask_job(*, kind: str, subject: str, by: int, reason: str) -> StandingJob:
    """Note what is to be done. Whoever asks sends the task `accounts.do_jobs` after the commit.

    Raises `UnknownLeaderboardError` for a key that no rating can have, `ValueError` without a reason.
    """
    if kind in (Kind.CHECK, Kind.RECOMPUTE) and not rules.is_rating_key(subject):
        raise UnknownLeaderboardError(f"{subject!r} is not of the form variant:speed.")
    return StandingJob.objects.create(
        kind=kind,
        subject=subject,
        by_id=by,
        by_name=name_of(by),
        reason=checked_reason(reason),
        asked_at=now_ms(),
    )


def do_jobs() -> int:
    """Do all jobs that nobody is at, the oldest first; how many."""
    done = 0
    open_states = (State.WAITING, State.RUNNING)
    while True:
        jobs = StandingJob.objects.filter(state__in=open_states).order_by("id")
        ids = list(jobs.values_list("pk", flat=True))
        did = sum(map(_do, ids))
        if not did:
            return done
        done += did


def _do(job_id: int) -> bool:
    """Do a job, unless another worker holds it or has done it."""
    StandingJob.objects.filter(pk=job_id, state=State.WAITING).update(
        state=State.RUNNING, started_at=now_ms()
    )
    with transaction.atomic():
        held = StandingJob.objects.select_for_update(no_key=True, skip_locked=True)
        job = held.filter(pk=job_id, state=State.RUNNING).first()
        if job is None:
            return False
        job.state, job.outcome = _outcome(job)
        job.ended_at = now_ms()
        job.save(update_fields=["state", "outcome", "ended_at"])
    return True


def _outcome(job: StandingJob) -> tuple[StandingJob.State, str]:
    try:
        with transaction.atomic():
            return State.DONE, WORK[job.kind](job)
    except OperationalError:
        raise  # the database is away: the job is done later
    except (KadoError, LookupError, ValueError) as error:
        return State.FAILED, str(error)
    except Exception:
        logger.exception("job_failed", job=job.pk, kind=job.kind, subject=job.subject)
        return State.FAILED, "An unforeseen error: see the log."


def _check(job: StandingJob) -> str:
    found: list[str] = []
    report = check_key(
        job.subject, found=lambda each: found.append(str(each)) if len(found) < 20 else None
    )
    return "\n".join([str(report), *found])


def _recompute(job: StandingJob) -> str:
    report = repair_key(job.subject)
    facts = {"differences": report.differences, "rows": report.lines}
    note(Action.RATINGS_RECOMPUTED, by=job.by_id, reason=job.reason, key=job.subject, facts=facts)
    return str(report)


def _annul(job: StandingJob) -> str:
    report = annul_game(game_id=job.subject, by=_who(job), reason=job.reason)
    return "It did not count already." if report is None else str(report)


def _restore(job: StandingJob) -> str:
    report = restore_game(game_id=job.subject, by=_who(job), reason=job.reason)
    return "It counted already." if report is None else str(report)


def _close(job: StandingJob) -> str:
    closed = close_season(season_id=job.subject, now=now_ms(), by=_who(job), reason=job.reason)
    return "Closed." if closed else "It was closed already."


def _refreeze(job: StandingJob) -> str:
    lines = refreeze_season(season_id=job.subject, now=now_ms(), by=_who(job), reason=job.reason)
    return ", ".join(f"{key}: {count:,} lines" for key, count in lines.items())


def _who(job: StandingJob) -> int:
    if job.by_id is None:
        raise LookupError("Whoever asked for it is gone.")
    return job.by_id


WORK: Final[Mapping[str, Callable[[StandingJob], str]]] = {
    Kind.CHECK: _check,
    Kind.RECOMPUTE: _recompute,
    Kind.ANNUL: _annul,
    Kind.RESTORE: _restore,
    Kind.CLOSE: _close,
    Kind.REFREEZE: _refreeze,
}

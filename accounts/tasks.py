"""What the default workers do for people and standing. All of it may be delivered twice or late."""

import structlog
from celery import shared_task

from accounts.services import seasons, standing_jobs
from accounts.services.erasure import finish_erasures
from accounts.services.jobs import claimed, day_of
from accounts.services.retention import RULES
from common.clock import now_ms

logger = structlog.get_logger(__name__)


@shared_task(name="accounts.forget")
def forget() -> None:
    """Each rule of retention once a day; one that fails does not stop the others, and is tried again in an hour."""
    for name, rule in RULES.items():
        try:
            with claimed(f"forget-{name}", day_of(now_ms())) as claim:
                if claim is not None:
                    logger.info("forgotten", what=name, rows=rule())
        except Exception:
            logger.exception("forgetting_failed", what=name)


@shared_task(name="accounts.finish_erasures")
def finish_erasures_begun() -> None:
    """Whoever wants to be erased is, a moment later; and what a dead worker left is done by the next."""
    finish_erasures()


@shared_task(name="accounts.do_jobs")
def do_jobs() -> None:
    """Do the jobs that admins have asked for, and those that a worker left when it died."""
    standing_jobs.do_jobs()


@shared_task(name="accounts.turn_seasons")
def turn_seasons() -> None:
    """Make the seasons that plans want, and close those whose end is past."""
    now = now_ms()
    seasons.make_due_seasons(now=now)
    seasons.close_due_seasons(now=now)

"""What runs in the default Celery workers. All of it may be delivered twice or late."""

from celery import shared_task

from accounts.services import seasons, standing_jobs
from common.clock import now_ms


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

"""What is done by the calendar: a name, the task, and when. `manage.py scheduler` sends the tasks, any number of them.

A schedule says when a task is *asked for*, not how often its work is done: tasks are idempotent, or take the period's
row first (accounts/services/jobs.py). So what is due once a night is asked for every hour from then on, and a night in
which no worker was there is made up for.
"""

from typing import Any, Final, TypedDict

from celery.schedules import crontab

EXPIRES_SECONDS: Final = 3_000
"""A task that no worker has taken by then is dropped: the next hour asks again."""


class Entry(TypedDict):
    """One row, as Celery beat reads it."""

    task: str
    schedule: crontab
    options: dict[str, Any]


def nightly(task: str, *, hour: int, minute: int) -> Entry:
    """Due at this time (UTC), and every hour after it until midnight in case it was not done."""
    when = crontab(minute=minute, hour=f"{hour}-23")
    return Entry(task=task, schedule=when, options={"expires": EXPIRES_SECONDS})


def every_minutes(task: str, minutes: int) -> Entry:
    """Due again and again; one that nobody has taken when the next comes is dropped."""
    when = crontab(minute=f"*/{minutes}")
    return Entry(task=task, schedule=when, options={"expires": minutes * 60})


SCHEDULE: Final[dict[str, Entry]] = {
    "fair-play": nightly("territory.fair_play", hour=4, minute=20),
    "erasures": every_minutes("accounts.finish_erasures", 5),
    "jobs": every_minutes("accounts.do_jobs", 5),
    "seasons": every_minutes("accounts.turn_seasons", 5),
    "retention": nightly("accounts.forget", hour=3, minute=10),
    "tables": nightly("matchmaking.forget_tables", hour=3, minute=20),
}

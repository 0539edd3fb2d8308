"""A scheduler or a worker with a calendar of its own, in seconds. Run as a file, with the arguments of `manage.py`.

`tests.tick` does its work once in two seconds. `tests.nightly` does its work once; whoever takes it first stops in the
middle, as a worker does that is about to be killed.
"""

import os
import sys
import time
from pathlib import Path

import django
from django.core.management import call_command

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

TICK_SECONDS = 2.0
FOREVER_SECONDS = 600.0


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from celery import shared_task
    from celery.schedules import schedule
    from django.db import transaction

    from accounts.services.jobs import once
    from common.redis import client
    from config.celery import app

    def work(job: str, period: str) -> None:
        with transaction.atomic():
            if not once(job, period):
                return
            note_effect(f"{job} {period}")
            if job == "nightly" and client().incr("nights_begun") == 1:
                time.sleep(FOREVER_SECONDS)

    @shared_task(name="tests.tick")
    def tick() -> None:
        period = str(int(time.time() // TICK_SECONDS))
        client().hincrby("ticks", period, 1)
        work("tick", period)

    @shared_task(name="tests.nightly")
    def nightly() -> None:
        work("nightly", "2026-11-30")

    app.conf.beat_schedule = {
        name: {"task": f"tests.{name}", "schedule": schedule(TICK_SECONDS)}
        for name in ("tick", "nightly")
    }
    call_command(*sys.argv[1:])


def note_effect(what: str) -> None:
    """A row that is only there if the transaction was committed, and as often as it was."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO effects (what) VALUES (%s)", [what])


if __name__ == "__main__":
    main()

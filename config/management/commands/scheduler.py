"""`manage.py scheduler`: ask for what is due by the calendar (config/schedule.py). Run as many as you like."""

import signal
from types import FrameType
from typing import Any

from celery.beat import Scheduler, Service
from django.core.management.base import CommandParser

from common.commands import ExampleCommand
from config.celery import app

EXAMPLES = """\
  python manage.py scheduler              until it is stopped
  python manage.py scheduler --list       what is due, and when
"""
LONGEST_PAUSE = 60
"""Seconds after which it looks at the clock again, whatever is due: somebody may have set it."""


class Command(ExampleCommand):
    help = (
        "Send the tasks of the schedule to the workers when they are due. It keeps nothing: what was done is "
        "in the database, so several schedulers may run, and each thing is done once."
    )
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--list", action="store_true", help="print the schedule and stop")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["list"]:
            for name, entry in sorted(app.conf.beat_schedule.items()):
                self.stdout.write(f"{name:<20} {entry['task']:<28} {entry['schedule']}")
            return
        signal.signal(signal.SIGTERM, _end)
        # The base class keeps its state in memory; Celery's default writes a file into the current folder.
        Service(app, max_interval=LONGEST_PAUSE, scheduler_cls=Scheduler).start()


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)

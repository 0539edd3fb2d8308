"""`manage.py worker`: one Celery worker for one queue, set up as its tasks need it."""

import os
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from celery.exceptions import SecurityWarning
from django.core.management.base import CommandParser

from common.commands import ExampleCommand
from config.celery import app

EXAMPLES = """\
  python manage.py worker --queue default
  python manage.py worker --queue bots --concurrency 2   CPU players' moves, one process a core
  python manage.py worker --queue bots --nice 0          where nothing else runs on the machine
"""
NICE = {"bots": 5}
"""Searches use whole cores, for seconds; what answers people goes first."""


class Command(ExampleCommand):
    """A process takes one task at a time and fetches none ahead, so that a long search delays no other."""

    help = "Run a Celery worker for one queue: `bots` chooses CPU players' moves, `default` does the rest."
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--queue", choices=("default", "bots"), required=True)
        parser.add_argument(
            "--concurrency", type=int, default=1, help="tasks at a time (default: %(default)s)"
        )
        parser.add_argument(
            "--nice",
            type=int,
            choices=range(20),
            metavar="0–19",
            help=f"how far it steps back for other processes (default: {NICE['bots']} for `bots`, else 0)",
        )

    def handle(
        self, *args: Any, queue: str, concurrency: int, nice: int | None = None, **options: Any
    ) -> None:
        step_back(NICE.get(queue, 0) if nice is None else nice)
        # In a container or the embedded set-up being root is meant; tasks are JSON, so nothing is unpickled.
        warnings.simplefilter("ignore", SecurityWarning)
        app.worker_main(
            [
                *("--quiet", "worker"),
                *("--queues", queue, "--hostname", f"{queue}-{os.getpid()}@%h"),
                *("--concurrency", str(concurrency), "--prefetch-multiplier", "1"),
                *("--loglevel", "INFO", "--without-gossip", "--without-mingle"),
            ]
        )


def step_back(nice: int) -> None:
    """Give this process and its children that much less of a core for which others compete, as `nice` does.

    Linux may put each session into a group of its own (sched_autogroup), and then compares groups only. So if the
    session is this worker's own, as under a supervisor, its group steps back as well.
    """
    os.nice(nice)
    if nice and os.getsid(0) == os.getpid():
        with suppress(OSError):  # there are no such groups
            Path("/proc/self/autogroup").write_text(str(nice))

"""`manage.py worker`: one Celery worker for one queue, set up as its tasks need it."""

import os
import warnings
from typing import Any

from celery.exceptions import SecurityWarning
from django.core.management.base import CommandParser

from common.commands import ExampleCommand
from config.celery import app

EXAMPLES = """\
  python manage.py worker --queue default
  python manage.py worker --queue bots --concurrency 2   CPU players' moves, one process a core
"""


class Command(ExampleCommand):
    """A process takes one task at a time and fetches none ahead, so that a long search delays no other."""

    help = "Run a Celery worker for one queue: `bots` chooses CPU players' moves, `default` does the rest."
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--queue", choices=("default", "bots"), required=True)
        parser.add_argument(
            "--concurrency", type=int, default=1, help="tasks at a time (default: %(default)s)"
        )

    def handle(self, *args: Any, queue: str, concurrency: int, **options: Any) -> None:
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

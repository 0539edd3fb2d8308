"""`manage.py sweeper`: keep the promises of processes that died, and close what is over. Run as many as you like."""

import signal
import threading
from typing import Any

import structlog
from django.core.management.base import CommandParser
from django.db import Error, connections

from accounts.services.sanctions import end_bans
from common.clock import now_ms
from common.commands import ExampleCommand
from common.heartbeat import beat
from games.puzzle.services.days import sweep_days
from games.territory.services.sweep import sweep

logger = structlog.get_logger(__name__)

EXAMPLES = """\
  python manage.py sweeper                      a round every half second, until it is stopped
  python manage.py sweeper --interval-ms 2000   a round every two seconds
  python manage.py sweeper --once               one round, and what it did
"""


class Command(ExampleCommand):
    help = (
        "End turns whose time is up, ask again for lost CPU moves, settle finished games that nobody settled, "
        "close daily puzzles whose day is over, and bring players back onto the leaderboards whose ban is over. Several "
        "sweepers may run."
    )
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--interval-ms",
            type=int,
            default=500,
            help="pause between rounds (default: %(default)s)",
        )
        parser.add_argument("--once", action="store_true", help="do one round, report, and stop")

    def handle(self, *args: Any, interval_ms: int, once: bool, **options: Any) -> None:
        if once:
            swept, closed = sweep(now=now_ms()), sweep_days(now=now_ms())
            back = end_bans(now=now_ms())
            self.stdout.write(
                f"looked at {swept.woken} games, settled {swept.settled}, "
                f"closed {closed} attempts at daily puzzles, "
                f"brought {back} players back onto the leaderboards"
            )
            return
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        while not stop.is_set():
            for work in (_sweep_games, _sweep_puzzles, _sweep_bans):
                try:
                    work()
                except Error as error:  # the database is away; the next round tries again
                    logger.warning("sweep_postponed", reason=str(error))
                finally:
                    connections.close_all()
            beat("sweeper")
            stop.wait(interval_ms / 1000)


def _sweep_games() -> None:
    swept = sweep(now=now_ms())
    if swept.settled:
        logger.info("swept", woken=swept.woken, settled=swept.settled)


def _sweep_puzzles() -> None:
    if closed := sweep_days(now=now_ms()):
        logger.info("swept", attempts_closed=closed)


def _sweep_bans() -> None:
    if back := end_bans(now=now_ms()):
        logger.info("swept", bans_over=back)

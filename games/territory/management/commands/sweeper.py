"""`manage.py sweeper`: keep the promises of processes that died. Run as many as you like."""

import signal
import threading
from typing import Any

import structlog
from django.core.management.base import BaseCommand, CommandParser
from django.db import Error, connections

from common.clock import now_ms
from games.territory.services.sweep import sweep

logger = structlog.get_logger(__name__)


class Command(BaseCommand):
    help = (
        "End turns whose time is up, ask again for lost CPU moves, settle finished games that nobody settled. "
        "Several sweepers may run. Example: manage.py sweeper --interval-ms 500"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--interval-ms", type=int, default=500, help="pause between rounds")
        parser.add_argument("--once", action="store_true", help="do one round, report, and stop")

    def handle(self, *args: Any, interval_ms: int, once: bool, **options: Any) -> None:
        if once:
            swept = sweep(now=now_ms())
            self.stdout.write(f"looked at {swept.woken} games, settled {swept.settled}")
            return
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        while not stop.is_set():
            try:
                swept = sweep(now=now_ms())
                if swept.settled:
                    logger.info("swept", woken=swept.woken, settled=swept.settled)
            except Error as error:
                logger.warning("sweep_postponed", reason=str(error))
            finally:
                connections.close_all()
            stop.wait(interval_ms / 1000)

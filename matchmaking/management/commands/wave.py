"""`manage.py wave`: the process that pairs the waiting players. Run as many as you like."""

import signal
import threading
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

import structlog
from django.core.management.base import BaseCommand
from django.db import connections

from common.clock import now_ms
from common.heartbeat import beat
from matchmaking.selectors import pool_cards
from matchmaking.services.waves import run_wave, sweep_tickets

log = structlog.get_logger("matchmaking.wave")

BACK_OFF_SECONDS = 5.0
"""The longest pause between two tries while PostgreSQL or Redis is away."""


class Command(BaseCommand):
    """Pair the pools again and again, until SIGTERM or SIGINT; a wave that has begun is finished."""

    help = "Pair waiting players, once or again and again.\n\nExample: manage.py wave --interval-ms 500"

    def create_parser(self, *args: Any, **options: Any) -> Any:
        return super().create_parser(*args, formatter_class=RawDescriptionHelpFormatter, **options)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--interval-ms",
            type=int,
            default=500,
            metavar="MS",
            help="milliseconds from the start of one wave to the next (default 500)",
        )
        parser.add_argument("--once", action="store_true", help="one wave, then stop")

    def handle(self, *args: Any, interval_ms: int, once: bool, **options: Any) -> None:
        if once:
            tick()
            return
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        log.info("waves begin", interval_ms=interval_ms)
        run(stop, interval_ms / 1000)
        log.info("waves end")


def run(stop: threading.Event, interval: float) -> None:
    """Tick every `interval` seconds until `stop` is set, slower while the servers behind are away."""
    failures = 0
    while not stop.is_set():
        began = time.monotonic()
        try:
            again = tick()
            failures = 0
            beat("wave")
        except Exception as error:  # noqa: BLE001  # the loop outlives every outage
            failures += 1
            again = False
            log.warning(
                "wave failed", failures=failures, error=str(error), kind=type(error).__name__
            )
        finally:
            # A connection that has seen an outage is of no use; a good one goes back to the process's pool.
            connections.close_all()
        pause = min(BACK_OFF_SECONDS, interval * 2 ** min(failures, 8)) if failures else interval
        if not again:
            stop.wait(max(0.0, pause - (time.monotonic() - began)))


def tick() -> bool:
    """Sweep, then one wave for every pool. True if a pool has more to do than its wave had time for."""
    sweep_tickets(now=now_ms())
    again = False
    for pool in pool_cards():
        try:
            report = run_wave(pool=pool, clock=now_ms)
        except Exception:
            log.exception("wave failed", pool=pool.key)
            continue
        if report is None:
            continue
        again = again or report.unfinished
        if report.proposals:
            log.info(
                "wave",
                pool=report.pool,
                waiting=report.waiting,
                proposals=report.proposals,
                matches=report.matches,
                pairing_ms=round(report.pairing_ms, 1),
                took_ms=round(report.took_ms, 1),
            )
    return again

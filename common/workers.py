"""What commands that take their time share: work on every core, progress for a person, and a quiet end on Ctrl-C."""

import os
import signal
import sys
import time
from argparse import ArgumentTypeError
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from multiprocessing import active_children, get_context
from multiprocessing.pool import Pool
from threading import Event, Thread
from typing import Final, TypeVar

from django.core.management.base import CommandParser

from common.commands import ExampleCommand

Item = TypeVar("Item")
Result = TypeVar("Result")

PROGRESS_AFTER_SECONDS: Final = 1.0
PROGRESS_EVERY_SECONDS: Final = 0.2
_INTERRUPTS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class PatientCommand(ExampleCommand):
    """Ctrl-C, or another wish that the command end, ends it with the status 130 and no traceback."""

    def run_from_argv(self, argv: list[str]) -> None:
        for number in _INTERRUPTS:
            signal.signal(number, signal.default_int_handler)
        try:
            super().run_from_argv(argv)
        except KeyboardInterrupt:
            raise SystemExit(130) from None


class ParallelCommand(PatientCommand):
    """The same with `--jobs`."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--jobs",
            type=whole_number,
            default=len(os.sched_getaffinity(0)),
            help="processes that work at a time (default: %(default)s, one a core)",
        )


def on_each(
    function: Callable[[Item], Result], items: Iterable[Item], *, jobs: int
) -> Iterator[Result]:
    """The results in the order of the items; a single job works in this process.

    Leaving the iterator early ends the processes at once.
    """
    if jobs == 1:
        yield from map(function, items)
        return
    # Held back until the processes know what to do: none is lost, and none takes a process by surprise.
    signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTS)
    try:
        pool = get_context("fork").Pool(jobs, initializer=_leave_interrupts_to_the_command)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPTS)
    heard = False
    try:
        yield from pool.imap(function, items)
        heard = True
    finally:
        if heard:
            pool.close()
        else:
            _terminate(pool)
        pool.join()


def _terminate(pool: Pool) -> None:
    """End the processes now. They are told again and again: one that just begins to wait for a lock may miss it."""
    pids = [child.pid for child in active_children() if child.pid]
    over = Event()

    def insist() -> None:
        while not over.wait(0.2):
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGTERM)

    Thread(target=insist, daemon=True).start()
    pool.terminate()
    over.set()


def _leave_interrupts_to_the_command() -> None:
    """In a new process: what a terminal sends to all is for the command, which ends this one by SIGTERM."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPTS)


def _end(number: int, frame: object) -> None:
    """End this process, and let go of the queue's lock on the way: the command could not end without it."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(128 + number)


def watched(
    results: Iterable[Result], total: int, what: str, so_far: Callable[[], str] = str
) -> Generator[Result, None, None]:
    """The same results; a person at a terminal sees how many there are already, if they take long.

    `so_far` says what is known of them, as a text that follows.
    """
    shows = sys.stderr.isatty()
    began = time.monotonic()
    due = began + PROGRESS_AFTER_SECONDS
    try:
        for number, result in enumerate(results, 1):
            yield result
            now = time.monotonic()
            if shows and now >= due:
                due = now + PROGRESS_EVERY_SECONDS
                counted = f"{number:,} of {total:,} {what}, {now - began:.0f} s"
                sys.stderr.write(f"\r{counted}{so_far()}\x1b[K")
                sys.stderr.flush()
    finally:
        if shows:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def whole_number(text: str) -> int:
    """An argument from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number from 1.")
    return int(text)

"""The product with bots workers beside it, on cores of their own or not, and games that keep them searching."""

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import redis

from benchmarks.lib.http import post
from benchmarks.lib.kado import Kado
from benchmarks.lib.processes import StartError
from bots.queue import list_of

WORKERS = 2
READY_SECONDS = 90.0
WAITING = 2
"""So many moves wait all the time: enough to keep the workers busy, too few to shorten searches."""


@contextmanager
def on_cores(cores: set[int] | None) -> Iterator[None]:
    """What is started meanwhile runs on these cores only."""
    before = os.sched_getaffinity(0)
    if cores:
        os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Searching(Kado):
    """Two web processes and two bots workers of one search each."""

    def __init__(self, scratch: Path, *, nice: int, bots_cores: set[int] | None = None) -> None:
        super().__init__(scratch)
        self.nice = nice
        self.bots_cores = bots_cores
        self._feeding: asyncio.Task[None] | None = None

    def start(self) -> None:
        super().start()
        with on_cores(self.bots_cores):
            for _ in range(WORKERS):
                self._run("bots", "worker", "--queue", "bots", "--nice", str(self.nice))
        deadline = time.monotonic() + READY_SECONDS
        while not all("ready." in log.read_text() for log in self._logs()):
            self.processes.check()
            if time.monotonic() > deadline:
                raise StartError("the bots workers do not get ready")
            time.sleep(0.1)

    def _logs(self) -> list[Path]:
        return sorted(self.processes.logs.glob("bots-*.log"))

    async def begin_load(self) -> None:
        """Start games of three experts and a person who never moves, as many as the workers can take."""
        guest = await post(self.ports[0], "/api/v1/guests", {})
        self._feeding = asyncio.create_task(self._feed(guest["token"]))
        await asyncio.sleep(2.0)

    async def end_load(self) -> None:
        if self._feeding is not None:
            self._feeding.cancel()
            await asyncio.wait([self._feeding])
            if not self._feeding.cancelled() and (error := self._feeding.exception()):
                raise error
            self._feeding = None

    async def _feed(self, token: str) -> None:
        wish = {"variant": "classic", "seats": [*[{"level": "expert"}] * 3, {}]}
        with redis.Redis.from_url(self.environ["REDIS_URL"]) as client:
            raw: Any = client
            while True:
                if sum(raw.llen(list_of(priority)) for priority in range(3)) < WAITING:
                    await post(self.ports[0], "/api/v1/games", wish, token=token)
                await asyncio.sleep(0.1)

"""What every server under load has to offer to the benchmark."""

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Iterable
from pathlib import Path
from typing import ClassVar

from benchmarks.lib.load import Meter, Table
from benchmarks.lib.processes import Parts
from benchmarks.lib.websocket import Socket

CONNECTING_AT_ONCE = 25
"""Sockets that are opened together while a window is prepared."""


class UnavailableError(Exception):
    """This server cannot be measured here; the message says why."""


class Contender(ABC):
    """One server: started for a round, filled with tables, measured, stopped."""

    name: ClassVar[str]
    keeps: ClassVar[str]
    """Where a move is kept when its mover learns of it."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.processes = Parts(scratch / "logs")
        self.sockets: list[Socket] = []

    def install(self) -> str:
        """Fetch what the server needs and return its version; raises `UnavailableError`."""
        return ""

    @abstractmethod
    def start(self) -> None:
        """Start the server's processes; raises `StartError`."""

    @abstractmethod
    async def tables(self, count: int, meter: Meter, *, games: int) -> list[Table]:
        """`count` tables with both sockets connected, ready to play about `games` games each."""

    def cpu_seconds(self) -> dict[str, float]:
        return self.processes.cpu_seconds()

    def verify(self, moves: int) -> str:
        """What is wrong with what was kept of the `moves` that arrived since the last call; empty if nothing."""
        return ""

    def leave(self) -> None:
        """Close every socket."""
        for socket in self.sockets:
            socket.close()
        self.sockets.clear()

    def stop(self) -> None:
        with contextlib.suppress(RuntimeError):  # no loop any more: the sockets are gone with it
            self.leave()
        self.processes.stop()


async def in_groups(work: Iterable[Awaitable[None]]) -> None:
    """Await all, `CONNECTING_AT_ONCE` at a time."""
    limit = asyncio.Semaphore(CONNECTING_AT_ONCE)

    async def one(item: Awaitable[None]) -> None:
        async with limit:
            await item

    await asyncio.gather(*(one(item) for item in work))

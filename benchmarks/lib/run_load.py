"""Clients that play runs of the block puzzle as fast as they are answered: over HTTP keep-alive, and by socket.

Each has a run of its own and placements that are known beforehand, as bytes that are ready to be sent.
"""

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.lib.websocket import Socket, frame


@dataclass(slots=True)
class Tally:
    """What clients have done since they were let go."""

    open: bool = False
    placed: int = 0
    latencies: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def answered(self, began: float, answer: bytes) -> None:
        if b'"event":{"type":"block_placed"' in answer:
            self.placed += 1
            self.latencies.append(time.perf_counter() - began)
        else:
            self.failures.append(answer[-300:].decode(errors="replace"))
            self.open = False


class HttpPlayer:
    """One connection that is kept, one request at a time."""

    def __init__(self, tally: Tally, port: int, token: str, run: str, wishes: Sequence[bytes]):
        self.tally, self.port = tally, port
        self.requests = iter([self._request(token, run, wish) for wish in wishes])

    @staticmethod
    def _request(token: str, run: str, wish: bytes) -> bytes:
        lines = (
            f"POST /api/v1/puzzles/runs/{run}/placements HTTP/1.1",
            *("Host: 127.0.0.1", f"Authorization: Bearer {token}"),
            *("Content-Type: application/json", f"Content-Length: {len(wish)}"),
        )
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + wish

    async def play(self) -> None:
        """Place until the tally is closed."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            for request in self.requests:
                if not self.tally.open:
                    return
                began = time.perf_counter()
                writer.write(request)
                head = await reader.readuntil(b"\r\n\r\n")
                size = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
                self.tally.answered(began, await reader.readexactly(size))
        finally:
            writer.close()


class SocketPlayer(Socket):
    """One socket, one command at a time."""

    def __init__(self, tally: Tally, port: int, token: str, run: str, wishes: Sequence[bytes]):
        super().__init__("/ws/v1", port, (f"Authorization: Bearer {token}",))
        self.tally, self.port = tally, port
        self.commands = iter([self._command(run, wish) for wish in wishes])
        self.began = 0.0
        self.greeted = asyncio.Event()
        self.done = asyncio.Event()

    @staticmethod
    def _command(run: str, wish: bytes) -> bytes:
        return frame(f'{{"type":"run.place","id":"1","run":"{run}",'.encode() + wish[1:])

    async def play(self) -> None:
        """Place until the tally is closed."""
        await self.connect(self.port)
        await self.greeted.wait()
        self._next()
        await self.done.wait()
        self.close()

    def received(self, message: bytes) -> None:
        if not self.greeted.is_set():
            self.greeted.set()
            return
        self.tally.answered(self.began, message)
        self._next()

    def lost(self) -> None:
        self.tally.failures.append(self.closed)
        self.greeted.set()
        self.done.set()

    def _next(self) -> None:
        command = next(self.commands, None) if self.tally.open else None
        if command is None:
            self.done.set()
            return
        self.began = time.perf_counter()
        self.send(command)


def bodies(wishes: Sequence[dict[str, Any]]) -> list[bytes]:
    """Placements as JSON."""
    return [json.dumps(wish, separators=(",", ":")).encode() for wish in wishes]

"""Colyseus as a host of matches: `joinOrCreate` over HTTP, then the room's socket, as its own client does it.

The room says to both that it is full. HTTP connections are kept and used again, which favours Colyseus.
"""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from benchmarks.lib.colyseus import DATA, ERROR, JOIN, Colyseus
from benchmarks.lib.meeting import Host, Meter, Wisher
from benchmarks.lib.websocket import BINARY, Socket, frame

_REQUEST = (
    b"POST /matchmake/joinOrCreate/meet HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Content-Length: 2\r\n\r\n{}"
)


class Matchmaker:
    """Kept HTTP connections: one is taken for each request, and given back."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def join_or_create(self) -> dict[str, Any]:
        """A seat reservation."""
        reader, writer = self._free.pop() if self._free else await self._open()
        writer.write(_REQUEST)
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length:")
        )
        body = await reader.readexactly(length)
        if b" 200 " not in head.split(b"\r\n", 1)[0]:
            raise ConnectionError(f"joinOrCreate: {head[:80]!r} {body[:200]!r}")
        self._free.append((reader, writer))
        reservation: dict[str, Any] = json.loads(body)
        return reservation

    def close(self) -> None:
        for _, writer in self._free:
            writer.close()

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self._port)


class Guest(Socket):
    """The room's socket of one player."""

    def __init__(self, visitor: "Visitor", path: str, port: int) -> None:
        super().__init__(path, port)
        self.visitor = visitor

    def received(self, message: bytes) -> None:
        if message[0] == JOIN:
            self.send(frame(bytes((JOIN,)), BINARY))
        elif message[0] == DATA:
            self.visitor.meter.told(self.visitor, self.visitor.room)
        elif message[0] == ERROR:
            self.lost()

    def lost(self) -> None:
        self.visitor.meter.failures.append(self.closed or "refused")


class Visitor(Wisher):
    """One player."""

    def __init__(self, host: "ColyseusRooms", meter: Meter) -> None:
        self.host = host
        self.meter = meter
        self.room = ""

    async def wish(self) -> None:
        self.meter.wishes(self)
        try:
            seat = await self.host.matchmaker.join_or_create()
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            self.meter.failures.append(str(error))
            return
        self.room = seat["roomId"]
        path = f"/{seat['processId']}/{seat['roomId']}?sessionId={seat['sessionId']}"
        guest = Guest(self, path, self.host.port)
        self.host.sockets.append(guest)
        await guest.connect(self.host.port)


class ColyseusRooms(Colyseus, Host):
    name = "Colyseus 0.18, joinOrCreate"

    def start(self) -> None:
        super().start()
        self.matchmaker = Matchmaker(self.port)

    async def wishers(self, count: int, meter: Meter) -> Sequence[Wisher]:
        return [Visitor(self, meter) for _ in range(count)]

    def leave(self) -> None:
        self.matchmaker.close()
        self.matchmaker = Matchmaker(self.port)
        super().leave()

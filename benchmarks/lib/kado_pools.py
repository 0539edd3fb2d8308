"""The product as a host of matches: two web processes and a wave; the two players of a match on either of them."""

import asyncio
from collections.abc import Sequence

import msgspec

from benchmarks.lib.contender import in_groups
from benchmarks.lib.kado import Kado
from benchmarks.lib.meeting import Host, Meter, Wisher
from benchmarks.lib.websocket import CONNECT_SECONDS, Socket, frame

POOL = "duo-blitz"
_JOIN = frame(f'{{"type":"ticket.join","id":"j","pool":"{POOL}"}}'.encode())


class _Event(msgspec.Struct):
    type: str
    game: str = ""


class _Frame(msgspec.Struct):
    event: _Event


_decode = msgspec.json.Decoder(_Frame).decode


class Waiter(Socket, Wisher):
    """One player's socket."""

    def __init__(self, meter: Meter, port: int, token: str) -> None:
        super().__init__("/ws/v1", port, (f"Authorization: Bearer {token}",))
        self.meter = meter
        self.greeted = asyncio.Event()

    def wish(self) -> None:
        self.meter.wishes(self)
        self.send(_JOIN)

    def received(self, message: bytes) -> None:
        if message.startswith(b'{"type":"event"'):
            event = _decode(message).event
            if event.type == "match_found":
                self.meter.told(self, event.game)
        elif message.startswith(b'{"type":"hello"'):
            self.greeted.set()
        elif b'"problem":' in message:
            self.meter.failures.append(message[:300].decode(errors="replace"))

    def lost(self) -> None:
        self.meter.failures.append(self.closed)


class KadoPools(Kado, Host):
    """A player has one match at a time, so every window has new ones."""

    def start(self) -> None:
        super().start()
        self._run("wave", "wave")

    async def wishers(self, count: int, meter: Meter) -> Sequence[Wisher]:
        rows = await asyncio.to_thread(self._seed, count // 2, 0)
        tokens = [token for row in rows for token in row["tokens"]]
        waiters = [
            Waiter(meter, self.ports[number % len(self.ports)], token)
            for number, token in enumerate(tokens)
        ]
        self.sockets += waiters
        await in_groups(self._connect(waiter) for waiter in waiters)
        return waiters

    async def _connect(self, waiter: Waiter) -> None:
        await waiter.connect(self.ports[self.sockets.index(waiter) % len(self.ports)])
        async with asyncio.timeout(CONNECT_SECONDS):
            await waiter.greeted.wait()

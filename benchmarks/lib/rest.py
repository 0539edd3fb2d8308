"""A steady trickle of REST requests, each timed, on connections that stay open."""

import asyncio
import time
from array import array
from collections.abc import Sequence


class Client:
    """One connection; requests go one after another."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._head = f"Host: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n"
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def get(self, path: str) -> float:
        """Seconds until the whole answer is there; raises `ConnectionError` for anything but success."""
        if self._reader is None or self._writer is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        began = time.perf_counter()
        self._writer.write(f"GET {path} HTTP/1.1\r\n{self._head}".encode())
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
        await self._reader.readexactly(length)
        if not head.startswith(b"http/1.1 200"):
            raise ConnectionError(f"GET {path}: {head[:80]!r}")
        return time.perf_counter() - began

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


async def trickle(
    clients: Sequence[Client], paths: Sequence[str], *, rate: float, seconds: float
) -> "array[float]":
    """The latencies of so many requests a second, by the clients and paths in turn.

    A client that still waits skips nothing: its next request waits for it, and that wait counts.
    """
    latencies = array("d")
    locks = [asyncio.Lock() for _ in clients]
    begin = time.perf_counter()

    async def one(number: int) -> None:
        due = begin + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        asked = time.perf_counter()
        which = number % len(clients)
        async with locks[which]:
            await clients[which].get(paths[number % len(paths)])
        latencies.append(time.perf_counter() - asked)

    await asyncio.gather(*(one(number) for number in range(int(rate * seconds))))
    return latencies

"""A WebSocket client that costs the measuring process as little as Python can: a bare asyncio protocol.

Frames to the server are masked with the key 0, which is a legal key and leaves the payload as it is, so a frame is a
header and ready bytes. Compression is never offered. Servers are on this machine and trusted to speak the protocol;
what the client cannot read (fragments, extensions) ends the run with an error instead of being skipped.
"""

import asyncio
import base64
import os
from typing import Final, cast

CONNECT_SECONDS: Final = 60.0
"""Generous, because seating thousands of clients takes a slow server long; it is not measured."""
TEXT: Final = 0x81
BINARY: Final = 0x82
_PONG: Final = 0x8A
_NO_MASK: Final = b"\0\0\0\0"


def frame(payload: bytes, kind: int = TEXT) -> bytes:
    """One whole client frame."""
    size = len(payload)
    if size < 126:
        return bytes((kind, 0x80 | size)) + _NO_MASK + payload
    return bytes((kind, 0xFE, size >> 8, size & 255)) + _NO_MASK + payload


class Socket(asyncio.Protocol):
    """One connection. A subclass says what `received` does with each message; it runs inside the read."""

    __slots__ = ("_opened", "_request", "_tail", "closed", "transport")

    transport: asyncio.Transport

    def __init__(self, path: str, port: int, headers: tuple[str, ...] = ()) -> None:
        self._request = _handshake(path, port, headers)
        self._opened: asyncio.Future[None] | None = asyncio.get_running_loop().create_future()
        self._tail = b""
        self.closed: str = ""
        """Why the connection ended; empty while it is open."""

    async def connect(self, port: int) -> None:
        """Open the connection; raises `ConnectionError` when the server refuses or is silent."""
        opened = self._opened
        assert opened is not None
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: self, "127.0.0.1", port)
        async with asyncio.timeout(CONNECT_SECONDS):
            await opened

    def received(self, message: bytes) -> None:
        """One message from the server."""
        raise NotImplementedError

    def lost(self) -> None:
        """The connection ended; `closed` says why."""

    def send(self, whole_frame: bytes) -> None:
        self.transport.write(whole_frame)

    def close(self) -> None:
        if not self.closed:
            self.closed = "closed by the client"
            if hasattr(self, "transport"):
                self.transport.close()

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # uvloop's is none by inheritance
        self.transport.write(self._request)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._opened is not None and not self._opened.done():
            self._opened.set_exception(ConnectionError(f"closed during the handshake: {exc}"))
        if not self.closed:
            self.closed = f"connection lost: {exc}"
            self.lost()

    def data_received(self, data: bytes) -> None:
        if self._tail:
            data = self._tail + data
            self._tail = b""
        if self._opened is not None:
            head, found, data = data.partition(b"\r\n\r\n")
            if not found:
                self._tail = head
                return
            self._finish_handshake(head, self._opened)
        self._read_frames(data)

    def _finish_handshake(self, head: bytes, opened: "asyncio.Future[None]") -> None:
        self._opened = None
        status = head.split(b"\r\n", 1)[0]
        if b" 101 " in status + b" ":
            opened.set_result(None)
        else:
            opened.set_exception(ConnectionError(f"handshake refused: {head[:300]!r}"))
            self.close()

    def _read_frames(self, data: bytes) -> None:
        start, end = 0, len(data)
        while end - start >= 2:
            size = data[start + 1]
            body = start + 2
            if size >= 126:
                body = start + (4 if size == 126 else 10)
                if body > end:
                    break
                size = int.from_bytes(data[start + 2 : body])
            if body + size > end:
                break
            kind = data[start]
            start = body + size
            if kind in (TEXT, BINARY):
                self.received(data[body:start])
            else:
                self._control(kind, data[body:start])
        if start < end:
            self._tail = data[start:]

    def _control(self, kind: int, payload: bytes) -> None:
        if kind == 0x89:
            self.send(frame(payload, _PONG))
        elif kind == 0x88:
            code = int.from_bytes(payload[:2]) if payload else 1005
            self.closed = f"closed by the server: {code} {payload[2:].decode(errors='replace')}"
            self.transport.close()
            self.lost()
        elif kind != _PONG:
            raise ConnectionError(f"frame that this client does not read: first byte {kind:#x}")


def _handshake(path: str, port: int, headers: tuple[str, ...]) -> bytes:
    lines = [
        f"GET {path} HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
        "Sec-WebSocket-Version: 13",
        *headers,
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()

"""Long answers that are made while they are sent: by pieces, on threads of their own, one at a time for each caller.

Between two pieces an answer holds nothing but the generator that makes it: no thread, no database connection. So a
client that stops reading costs a socket, and one that is gone costs nothing.
"""

import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Final

from asgiref.sync import sync_to_async
from django.http import StreamingHttpResponse
from redis.exceptions import RedisError

from common import database
from common.errors import RateLimitedError
from common.redis import client

LEASE_MS: Final = 60_000
"""A download that has given no piece for so long does not keep its caller from the next one."""
PIECE_BYTES: Final = 64 * 1024
"""About so much is made at one go."""

_RENEW = "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end"
_END = "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end"


class Turn:
    """A caller's turn to download something. While Redis is away nobody is refused, as with every limit."""

    def __init__(self, who: str) -> None:
        """Raises `RateLimitedError` while the caller downloads something else."""
        self._key = f"kado:download:{who}"
        self._token = uuid.uuid4().hex
        try:
            taken = client().set(self._key, self._token, nx=True, px=LEASE_MS)
            wait = 0 if taken else max(1, int(client().pttl(self._key)))
        except RedisError:
            wait = 0
        if wait:
            raise RateLimitedError("One download at a time.", retry_after_ms=wait)

    def renew(self) -> None:
        self._call(_RENEW, str(LEASE_MS))

    def end(self) -> None:
        self._call(_END)

    def _call(self, script: str, *arguments: str) -> None:
        try:
            client().eval(script, 1, self._key, self._token, *arguments)
        except RedisError:
            return  # it lapses


def gathered(parts: Iterator[str], *, size: int = PIECE_BYTES) -> Iterator[bytes]:
    """The same text in pieces of about `size` bytes."""
    held: list[bytes] = []
    length = 0
    for part in parts:
        held.append(part.encode())
        length += len(held[-1])
        if length >= size:
            yield b"".join(held)
            held, length = [], 0
    if held:
        yield b"".join(held)


def download(
    parts: Iterator[str], *, who: str, file: str, content_type: str
) -> StreamingHttpResponse:
    """An answer that is made by pieces, as a file to be kept by this name.

    `parts` may be taken up by another thread after each of them: whatever it reads, it reads by queries of its own.
    An error in the middle breaks the connection off, so that nobody takes half of it for the whole. Raises
    `RateLimitedError` while the caller downloads something else.
    """
    return StreamingHttpResponse(
        _pieces(gathered(parts), Turn(who)),
        content_type=content_type,
        headers={
            "Content-Disposition": f'attachment; filename="{file}"',
            "Cache-Control": "private, no-store",
        },
    )


async def _pieces(made: Iterator[bytes], turn: Turn) -> AsyncIterator[bytes]:
    def following() -> bytes | None:
        turn.renew()
        return next(made, None)

    try:
        while (piece := await database.aside("downloads", following)) is not None:
            yield piece
    finally:
        await sync_to_async(turn.end, thread_sensitive=False)()

"""What the tests of the feed share: a table of streams, a follower, and feeds that run for a while."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import redis as redis_py

from common import feed as feed_module
from common.feed import Feed
from common.streams import CHANNEL, Note
from common.wire import Wire

AT = 1_800_000_000_000


class Table:
    """The owner of the streams `table:…`: what has been committed. It can be slow, and it can fail."""

    def __init__(self) -> None:
        self.kept: dict[str, list[Note]] = {}
        self.reads = 0
        self.failures = 0

    def commit(self, stream: str, count: int = 1) -> list[Note]:
        notes = self.kept.setdefault(stream, [])
        first = len(notes) + 1
        new = [Note(stream, first + i, AT + i, f'{{"n":{first + i}}}') for i in range(count)]
        notes += new
        return new

    def events_after(self, stream: str, cursor: int) -> list[Note]:
        self.reads += 1
        if self.failures:
            self.failures -= 1
            raise OSError("the table is not to be had")
        return [note for note in self.kept.get(stream, []) if note.version > cursor]

    def versions(self, streams: Collection[str]) -> dict[str, int]:
        return {stream: len(self.kept[stream]) for stream in streams if stream in self.kept}


class Follower:
    """A client: what it has seen."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self._changed = asyncio.Event()

    def __call__(self, note: Note) -> None:
        assert note.payload == f'{{"n":{note.version}}}'
        self.seen.append(note.version)
        self._changed.set()

    async def until(self, version: int, seconds: float = 10.0) -> None:
        """Wait for a version, and check that all came, once and in order."""
        async with asyncio.timeout(seconds):
            while not self.seen or self.seen[-1] < version:
                self._changed.clear()
                await self._changed.wait()
        assert self.seen == list(range(self.seen[0], version + 1))


@asynccontextmanager
async def running(*urls: str) -> AsyncIterator[Feed]:
    wire = Wire(urls)
    feed = Feed(wire)
    wire.start()
    feed.start()
    try:
        yield feed
    finally:
        await feed.stop()
        await wire.stop()


async def follow(
    feed: Feed, stream: str, cursor: int = 0
) -> tuple[Follower, feed_module.Following]:
    follower = Follower()
    following = await feed.follow(stream, follower)
    feed.begin(following, cursor)
    return follower, following


async def connected(feed: Feed) -> None:
    """Until the feed reads its subscription."""
    await true(lambda: feed._wire.connected)


async def true(test: Callable[[], Any], seconds: float = 10.0) -> None:
    async with asyncio.timeout(seconds):
        while not test():
            await asyncio.sleep(0.005)


def run(work: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(30):
            await work

    asyncio.run(bounded())


def send(url: str, *notes: Note) -> None:
    """As another process publishes."""
    with redis_py.Redis.from_url(url) as client:
        for note in notes:
            client.publish(*note.packed())


def subscribers(url: str, stream: str) -> int:
    with redis_py.Redis.from_url(url) as client:
        ((_, count),) = client.pubsub_numsub(CHANNEL + stream.encode())
        return int(count)

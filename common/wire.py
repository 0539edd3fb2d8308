"""The connections of one web process to the Redis that carry its news: for each one that listens, and one that speaks.

A channel is subscribed once, however many here follow what it carries. Where there are several Redis, the name of a
stream decides which one has its channel (common/shards.py). Nothing is kept and nothing is certain: whoever follows
heals by comparing with the owner of what it follows (common/feed.py, common/state_feed.py).
Everything here runs on the event loop.
"""

import asyncio
import contextlib
import logging
import math
from collections.abc import Callable, Sequence
from typing import Protocol

import redis.asyncio
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import RedisError

from common.shards import place

logger = logging.getLogger(__name__)

RECONNECT_SECONDS = 0.2
SUBSCRIBE_SECONDS = 1.0
"""How long a new follower waits for Redis to confirm its channel; after that healing alone must do."""

MAX_OUTBOX = 50_000
"""Messages that wait for a Redis that hangs; beyond it they are dropped, and healing must do."""

FAST_LANE_ERRORS = (RedisError, OSError, asyncio.TimeoutError, ConnectionError)


class Message(Protocol):
    """What can be published: something of a stream."""

    @property
    def stream(self) -> str: ...

    def packed(self) -> tuple[bytes, bytes]:
        """Channel and message for Redis."""


class Subscription:
    """A channel that this process listens to: who is told, and whether Redis has confirmed it."""

    __slots__ = ("confirmed", "hear")

    def __init__(self, hear: Callable[[bytes], None]) -> None:
        self.hear = hear
        self.confirmed = asyncio.Event()


class Line:
    """Both connections to one Redis."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.subscriptions: dict[bytes, Subscription] = {}
        self.listener: AbstractConnection | None = None
        self._outbox: list[Message] = []
        self._outbox_filled = asyncio.Event()

    async def subscribe(self, channel: bytes, hear: Callable[[bytes], None]) -> Subscription:
        """Listen to a channel. Redis has confirmed it when this returns, unless it is away, or slow."""
        subscription = self.subscriptions.get(channel)
        if subscription is None:
            subscription = self.subscriptions[channel] = Subscription(hear)
            await self.command("SUBSCRIBE", [channel])
        if not subscription.confirmed.is_set() and self.listener is not None:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(subscription.confirmed.wait(), SUBSCRIBE_SECONDS)
        return subscription

    async def unsubscribe(self, channel: bytes) -> None:
        if self.subscriptions.pop(channel, None) is not None:
            await self.command("UNSUBSCRIBE", [channel])

    def publish(self, messages: Sequence[Message]) -> None:
        self._outbox.extend(messages)
        if len(self._outbox) > MAX_OUTBOX:
            logger.warning("Redis does not take the news: %d messages dropped", len(self._outbox))
            self._outbox.clear()
        self._outbox_filled.set()

    async def _connect(self) -> AbstractConnection:
        # No timeout for single reads and writes: each would cost a task. A Redis that hangs shows in the outbox.
        pool = redis.asyncio.ConnectionPool.from_url(
            self._url,
            protocol=2,
            socket_timeout=None,
            socket_connect_timeout=2,
            socket_keepalive=True,
        )
        connection: AbstractConnection = pool.make_connection()  # type: ignore[no-untyped-call]
        await connection.connect()  # type: ignore[no-untyped-call]
        return connection

    async def command(self, verb: str, channels: Sequence[bytes]) -> None:
        connection = self.listener
        if connection is None or not channels:
            return
        try:
            await connection.send_command(verb, *channels)
        except FAST_LANE_ERRORS as error:
            logger.warning("%s failed, waiting for the reader to reconnect: %s", verb, error)

    async def listen(self) -> None:
        """Read the subscription for ever; after a loss, connect and subscribe to everything again."""
        while True:
            connection = None
            try:
                connection = self.listener = await self._connect()
                await self.command("SUBSCRIBE", list(self.subscriptions))
                while True:
                    self._hear(
                        await connection.read_response(disable_decoding=True, timeout=math.inf)
                    )
            except FAST_LANE_ERRORS as error:
                logger.warning("the feed lost Redis and reconnects: %s", error)
            except Exception:  # a message that nobody foresaw must not end the feed
                logger.exception("the feed could not understand its news and reconnects")
            finally:
                self.listener = None
                for subscription in self.subscriptions.values():
                    subscription.confirmed.clear()
                await _hang_up(connection)
            await asyncio.sleep(RECONNECT_SECONDS)

    def _hear(self, message: list[bytes]) -> None:
        kind, channel, data = message
        subscription = self.subscriptions.get(channel)
        if subscription is None:
            return
        if kind == b"message":
            subscription.hear(data)
        elif kind == b"subscribe":
            subscription.confirmed.set()

    async def speak(self) -> None:
        """Publish what has gathered in one write, for ever. Redis sends no replies on this connection."""
        connection: AbstractConnection | None = None
        try:
            while True:
                await self._outbox_filled.wait()
                self._outbox_filled.clear()
                messages, self._outbox = self._outbox, []
                try:
                    if connection is None:
                        connection = await self._connect()
                        await connection.send_command("CLIENT", "REPLY", "OFF")
                    packed = connection.pack_commands(
                        ("PUBLISH", *each.packed()) for each in messages
                    )
                    await connection.send_packed_command(packed)
                except Exception as error:  # noqa: BLE001  # most are FAST_LANE_ERRORS; none may end the publishing
                    # What was not published is found by the followers' comparison with its owner.
                    logger.warning("%d messages not published: %r", len(messages), error)
                    await _hang_up(connection)
                    connection = None
                    await asyncio.sleep(RECONNECT_SECONDS)
        finally:
            await _hang_up(connection)


class Wire:
    """All lines of the process. Every process must be given the same addresses."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._urls = tuple(urls)
        self._lines = {url: Line(url) for url in self._urls}
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Connect in the background."""
        loop = asyncio.get_running_loop()
        for line in self._lines.values():
            self._tasks += [loop.create_task(line.listen()), loop.create_task(line.speak())]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def line(self, stream: str) -> Line:
        """The line that has a stream."""
        return self._lines[place(stream, self._urls)]

    @property
    def connected(self) -> bool:
        """Whether every line listens."""
        return all(line.listener is not None for line in self._lines.values())

    def publish(self, messages: Sequence[Message]) -> None:
        """Hand the messages to the lines that have their streams; they are on their way when this returns."""
        if len(self._lines) == 1:
            self._lines[self._urls[0]].publish(messages)
            return
        for message in messages:
            self.line(message.stream).publish([message])


async def _hang_up(connection: AbstractConnection | None) -> None:
    if connection is not None:
        with contextlib.suppress(*FAST_LANE_ERRORS):
            await connection.disconnect(nowait=True)

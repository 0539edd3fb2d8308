"""The live feed of one web process: many followers, one subscription connection.

Every stream that somebody here follows is subscribed once. A note is forwarded when it is the follower's next version,
ignored when it is older, and when versions are missing they are read from the owner's table. Every `HEAL_SECONDS` one
query per kind of stream compares the versions of all that is followed, so that even a total loss of Redis heals.
Everything here runs on the event loop; only `publish_from_anywhere` may be called from elsewhere.
"""

import asyncio
import contextlib
import logging
import math
import threading
from collections.abc import Callable, Sequence

import redis.asyncio
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import RedisError

from common import database, streams
from common.streams import CHANNEL, Note

logger = logging.getLogger(__name__)

HEAL_SECONDS = 2.0
RECONNECT_SECONDS = 0.2
SUBSCRIBE_SECONDS = 1.0
"""How long a new follower waits for Redis to confirm its channel; after that healing alone must do."""

MAX_OUTBOX = 50_000
"""Notes that wait for a Redis that hangs; beyond it they are dropped, and healing must do."""

FAST_LANE_ERRORS = (RedisError, OSError, asyncio.TimeoutError, ConnectionError)


class Following:
    """One follower of one stream: `sink` gets each event after `cursor` once and in order.

    Until `start` is told which version the follower already has, notes are held back.
    """

    __slots__ = ("_held", "cursor", "sink", "stream")

    def __init__(self, stream: str, sink: Callable[[Note], None]) -> None:
        self.stream = stream
        self.sink = sink
        self.cursor = -1
        self._held: list[Note] | None = []

    def start(self, cursor: int) -> bool:
        """The follower has seen everything up to `cursor`. Returns False when held notes show a gap."""
        held, self._held, self.cursor = self._held or [], None, cursor
        complete = True
        for note in sorted(held, key=lambda note: note.version):
            complete &= self.offer(note)
        return complete

    def offer(self, note: Note) -> bool:
        """Forward the note if it is the next one. Returns False when one before it is missing."""
        if self._held is not None:
            self._held.append(note)
        elif note.version == self.cursor + 1:
            self.cursor = note.version
            try:
                self.sink(note)
            except Exception:  # the others, and whoever publishes, have no part in it
                logger.exception("a follower of %s failed", self.stream)
        elif note.version > self.cursor:
            return False
        return True

    @property
    def started(self) -> bool:
        return self._held is None


class Channel:
    """A stream followed in this process: its followers, and whether Redis has confirmed the subscription."""

    __slots__ = ("confirmed", "followings", "repairing")

    def __init__(self) -> None:
        self.followings: list[Following] = []
        self.confirmed = asyncio.Event()
        self.repairing = False


class Feed:
    """The process's hub. `listeners` hear every note that passes here (the cache of live games does)."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._channels: dict[str, Channel] = {}
        self._outbox: list[Note] = []
        self._outbox_filled = asyncio.Event()
        self._subscriber: AbstractConnection | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self.listeners: list[Callable[[Note], None]] = []
        self.healed = 0
        """How many events reached a follower through a table instead of Redis."""

    # Life

    def start(self) -> None:
        """Connect to Redis in the background, and publish for this process from now on."""
        for work in (self._read_news, self._write_news, self._heal):
            self._spawn(work())
        streams.install_publisher(self)

    async def stop(self) -> None:
        streams.install_publisher(None)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _spawn(self, work: "asyncio._CoroutineLike[None]") -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # Following

    async def follow(self, stream: str, sink: Callable[[Note], None]) -> Following:
        """Start to hold back the stream's notes for a new follower.

        Read the table after this returns, then call `begin` with the version that you read.
        """
        following = Following(stream, sink)
        channel = self._channels.get(stream)
        is_new = channel is None
        if channel is None:
            channel = self._channels[stream] = Channel()
        # Before anything is awaited, so that nobody drops the channel meanwhile.
        channel.followings.append(following)
        try:
            if is_new:
                await self._command("SUBSCRIBE", [stream])
            if not channel.confirmed.is_set() and self._subscriber is not None:
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(channel.confirmed.wait(), SUBSCRIBE_SECONDS)
        except asyncio.CancelledError:
            await self.unfollow(following)
            raise
        return following

    def begin(self, following: Following, cursor: int) -> None:
        """The follower has everything up to `cursor`: from now on its sink is called."""
        if not following.start(cursor):
            self._repair(following.stream)

    def hears(self, stream: str) -> bool:
        """Whether the news of this stream has been reaching this process, because somebody here follows it."""
        channel = self._channels.get(stream)
        return channel is not None and channel.confirmed.is_set()

    async def unfollow(self, following: Following) -> None:
        channel = self._channels.get(following.stream)
        if channel is None or following not in channel.followings:
            return
        channel.followings.remove(following)
        if not channel.followings:
            del self._channels[following.stream]
            await self._command("UNSUBSCRIBE", [following.stream])

    # Spreading

    def publish(self, notes: Sequence[Note]) -> None:
        """Tell the followers here at once and everybody else through Redis."""
        for note in notes:
            self._deliver(note)
        self._outbox.extend(notes)
        if len(self._outbox) > MAX_OUTBOX:
            logger.warning("Redis does not take the news: %d events dropped", len(self._outbox))
            self._outbox.clear()
        self._outbox_filled.set()

    def publish_from_anywhere(self, notes: Sequence[Note]) -> None:
        if threading.get_ident() == self._thread:
            self.publish(notes)
        else:
            self._loop.call_soon_threadsafe(self.publish, notes)

    def _deliver(self, note: Note) -> None:
        for listener in self.listeners:
            listener(note)
        channel = self._channels.get(note.stream)
        if channel is None:
            return
        complete = True
        for following in channel.followings:
            complete &= following.offer(note)
        if not complete:
            self._repair(note.stream)

    # Healing

    def _repair(self, stream: str) -> None:
        channel = self._channels.get(stream)
        if channel is not None and not channel.repairing:
            channel.repairing = True
            self._spawn(self._read_missing(stream, channel))

    async def _read_missing(self, stream: str, channel: Channel) -> None:
        try:
            started = [f for f in channel.followings if f.started]
            if not started:
                return
            cursor = min(f.cursor for f in started)
            notes = await database.in_thread(streams.events_after, stream, cursor)
            self.healed += len(notes)
            for note in notes:
                for listener in self.listeners:
                    listener(note)
                for following in channel.followings:
                    following.offer(note)
        except Exception:
            logger.exception(
                "could not read what is missing of %s; the next comparison tries again", stream
            )
        finally:
            channel.repairing = False

    async def _heal(self) -> None:
        while True:
            await asyncio.sleep(HEAL_SECONDS)
            try:
                for source, names in streams.by_source(list(self._channels)):
                    for stream, version in (
                        await database.in_thread(source.versions, names)
                    ).items():
                        self._compare(stream, version)
            except Exception:
                logger.exception("could not compare the followed streams with their tables")

    def _compare(self, stream: str, version: int) -> None:
        channel = self._channels.get(stream)
        if channel and any(f.started and f.cursor < version for f in channel.followings):
            self._repair(stream)

    # Redis

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

    async def _command(self, verb: str, names: Sequence[str]) -> None:
        connection = self._subscriber
        if connection is None or not names:
            return
        try:
            await connection.send_command(verb, *(CHANNEL + name.encode() for name in names))
        except FAST_LANE_ERRORS as error:
            logger.warning("%s failed, waiting for the reader to reconnect: %s", verb, error)

    async def _read_news(self) -> None:
        """Read the subscription for ever; after a loss, connect and subscribe to everything again."""
        while True:
            connection = None
            try:
                connection = self._subscriber = await self._connect()
                await self._command("SUBSCRIBE", list(self._channels))
                while True:
                    self._hear(
                        await connection.read_response(disable_decoding=True, timeout=math.inf)
                    )
            except FAST_LANE_ERRORS as error:
                logger.warning("the feed lost Redis and reconnects: %s", error)
            except Exception:  # a message that nobody foresaw must not end the feed
                logger.exception("the feed could not understand its news and reconnects")
            finally:
                self._subscriber = None
                for channel in self._channels.values():
                    channel.confirmed.clear()
                await _hang_up(connection)
            await asyncio.sleep(RECONNECT_SECONDS)

    def _hear(self, message: list[bytes]) -> None:
        kind, name, data = message
        if kind == b"message":
            self._deliver(Note.unpacked(name, data))
        elif kind == b"subscribe" and (
            channel := self._channels.get(name[len(CHANNEL) :].decode())
        ):
            channel.confirmed.set()

    async def _write_news(self) -> None:
        """Publish what has gathered in one write. Redis sends no replies on this connection."""
        connection: AbstractConnection | None = None
        try:
            while True:
                await self._outbox_filled.wait()
                self._outbox_filled.clear()
                notes, self._outbox = self._outbox, []
                try:
                    if connection is None:
                        connection = await self._connect()
                        await connection.send_command("CLIENT", "REPLY", "OFF")
                    packed = connection.pack_commands(("PUBLISH", *note.packed()) for note in notes)
                    await connection.send_packed_command(packed)
                except Exception as error:  # noqa: BLE001  # most are FAST_LANE_ERRORS; none may end the publishing
                    # What was not published is found by the followers' comparison with the tables.
                    logger.warning("news of %d events not published: %r", len(notes), error)
                    await _hang_up(connection)
                    connection = None
                    await asyncio.sleep(RECONNECT_SECONDS)
        finally:
            await _hang_up(connection)


async def _hang_up(connection: AbstractConnection | None) -> None:
    if connection is not None:
        with contextlib.suppress(*FAST_LANE_ERRORS):
            await connection.disconnect(nowait=True)

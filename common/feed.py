"""The live feed of one web process: many followers, one subscription of each stream (common/wire.py).

A note is forwarded when it is the follower's next version, ignored when it is older, and when versions are missing
they are read from the owner's table. Every `HEAL_SECONDS` one query per kind of stream compares the versions of all
that is followed with the tables, so that even a total loss of Redis heals.
Everything here runs on the event loop; only `publish_from_anywhere` may be called from elsewhere.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from functools import partial

from common import database, streams
from common.streams import CHANNEL, Note
from common.wire import Subscription, Wire

logger = logging.getLogger(__name__)

HEAL_SECONDS = 2.0


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
    """A stream followed in this process: its followers, and whether what is missing is being read."""

    __slots__ = ("followings", "repairing", "subscription")

    def __init__(self) -> None:
        self.followings: list[Following] = []
        self.repairing = False
        self.subscription: Subscription | None = None


class Feed:
    """The process's hub. `listeners` hear every note that passes here (the cache of live games does)."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._channels: dict[str, Channel] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self.listeners: list[Callable[[Note], None]] = []
        self.healed = 0
        """How many events reached a follower through a table instead of Redis."""

    # Life

    def start(self) -> None:
        """Heal what is followed, and publish for this process from now on."""
        self._spawn(self._heal())
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
        if channel is None:
            channel = self._channels[stream] = Channel()
        # Before anything is awaited, so that nobody drops the channel meanwhile.
        channel.followings.append(following)
        try:
            name = CHANNEL + stream.encode()
            hear = partial(self._hear, name)
            channel.subscription = await self._wire.line(stream).subscribe(name, hear)
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
        return bool(channel and channel.subscription and channel.subscription.confirmed.is_set())

    async def unfollow(self, following: Following) -> None:
        channel = self._channels.get(following.stream)
        if channel is None or following not in channel.followings:
            return
        channel.followings.remove(following)
        if not channel.followings:
            del self._channels[following.stream]
            stream = following.stream
            await self._wire.line(stream).unsubscribe(CHANNEL + stream.encode())

    # Spreading

    def publish(self, notes: Sequence[Note]) -> None:
        """Tell the followers here at once and everybody else through Redis."""
        for note in notes:
            self._deliver(note)
        self._wire.publish(notes)

    def publish_from_anywhere(self, notes: Sequence[Note]) -> None:
        if threading.get_ident() == self._thread:
            self.publish(notes)
        else:
            self._loop.call_soon_threadsafe(self.publish, notes)

    def _hear(self, channel: bytes, message: bytes) -> None:
        self._deliver(Note.unpacked(channel, message))

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

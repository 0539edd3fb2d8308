"""Streams of numbered events: what they are, where they are kept, how the news of one is spread.

A stream (`game:<id>`, `inbox:<player>`) is a list of events with versions 1, 2, 3 … kept in PostgreSQL by the app that
owns its prefix. `publish` spreads the news of committed events over Redis and may lose it; whoever follows a stream
sees the gap by the version and reads it from the owner's table (common/feed.py).
"""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import redis

from common.clock import rfc3339
from common.redis import by_client

logger = logging.getLogger(__name__)

CHANNEL = b"kado:"
"""Redis channels are this prefix and the stream's name."""


@dataclass(slots=True)
class Note:
    """One committed event of a stream, as it travels: `payload` is the event's JSON text, `at` milliseconds."""

    stream: str
    version: int
    at: int
    payload: str
    _frame: str = field(default="", init=False, repr=False, compare=False)

    def body(self) -> str:
        """The part of the frame that REST and the socket share to the byte."""
        return f'"version":{self.version},"at":"{rfc3339(self.at)}","event":{self.payload}}}'

    def frame(self) -> str:
        """The socket frame that carries this event, made once however many follow the stream."""
        if not self._frame:
            self._frame = f'{{"type":"event","stream":"{public_name(self.stream)}",{self.body()}'
        return self._frame

    def packed(self) -> tuple[bytes, bytes]:
        """Channel and message for Redis."""
        return CHANNEL + self.stream.encode(), f"{self.version} {self.at} {self.payload}".encode()

    @classmethod
    def unpacked(cls, channel: bytes, message: bytes) -> "Note":
        """The reverse of `packed`."""
        version, at, payload = message.split(b" ", 2)
        return cls(channel[len(CHANNEL) :].decode(), int(version), int(at), payload.decode())


def public_name(stream: str) -> str:
    """The stream's name on the wire: an inbox belongs to whoever is connected, and some show what another one does."""
    if stream.startswith("inbox:"):
        return "inbox"
    prefix, _, rest = stream.partition(":")
    return f"{_shown_as[prefix]}:{rest}" if prefix in _shown_as else stream


class Source(Protocol):
    """The owner of a kind of stream: reads its tables. Both functions are synchronous."""

    def events_after(self, stream: str, cursor: int) -> list[Note]:
        """Every event with a version above `cursor`, in order."""

    def versions(self, streams: Collection[str]) -> dict[str, int]:
        """The latest version of each stream, in one query."""


class Publisher(Protocol):
    """What spreads notes in a process that has followers of its own: its feed."""

    def publish_from_anywhere(self, notes: Sequence[Note]) -> None: ...


_sources: dict[str, Source] = {}
_shown_as: dict[str, str] = {}
_publisher: list[Publisher] = []


def register(prefix: str, source: Source, *, shown_as: str = "") -> None:
    """Make `source` the owner of all streams named `prefix:…`; clients know them as `shown_as:…`, if it is given."""
    _sources[prefix] = source
    if shown_as:
        _shown_as[prefix] = shown_as


def source_of(stream: str) -> Source:
    """The owner of a stream; KeyError for a prefix that nobody owns."""
    return _sources[stream.partition(":")[0]]


def events_after(stream: str, cursor: int) -> list[Note]:
    """Every event of the stream after `cursor`, from its owner's table."""
    return source_of(stream).events_after(stream, cursor)


def version_of(stream: str) -> int:
    """The stream's latest version; 0 for one that has no events, or does not exist."""
    return source_of(stream).versions([stream]).get(stream, 0)


def by_source(streams: Collection[str]) -> list[tuple[Source, list[str]]]:
    """The streams grouped by their owner."""
    groups: dict[str, list[str]] = {}
    for stream in streams:
        groups.setdefault(stream.partition(":")[0], []).append(stream)
    return [(_sources[prefix], names) for prefix, names in groups.items()]


def install_publisher(publisher: Publisher | None) -> None:
    """Let this process's feed publish, so that its own followers need not wait for Redis."""
    _publisher[:] = [publisher] if publisher else []


def publish(notes: Sequence[Note]) -> None:
    """Spread the news of committed events, best effort, from any thread. Call it after the commit."""
    if _publisher:
        _publisher[0].publish_from_anywhere(notes)
        return
    for client, group in by_client(notes, stream=lambda note: note.stream):
        try:
            with client.pipeline(transaction=False) as pipeline:
                for note in group:
                    pipeline.publish(*note.packed())
                pipeline.execute()
        except redis.RedisError as error:
            # Followers compare versions with the tables every few seconds, so the news arrives all the same.
            logger.warning("news of %d events not published: %s", len(group), error)

"""State streams: streams that show how something is now, and keep nothing of how it was.

A state stream (`pool:<key>`, `room:<code>`, `watchers:<game>`) has no versions. Each frame is the whole state and
replaces the one before; whoever subscribes gets the current one. Its owner registers a source that can read the
current states of many streams at once, and tells of changes: by `publish`, when it has the new state in its hands, or
by `touch`, when reading it is worth it only where somebody follows. Both may get lost. Each web process compares all
that is followed in it with the sources every few seconds (common/state_feed.py), so that a lost message only delays.

A state must be a function of what it shows: instants instead of durations that run, and lists in a fixed order.
Otherwise each comparison would find it changed.
"""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec
import redis

from common.clock import now_ms, rfc3339
from common.redis import client

logger = logging.getLogger(__name__)

CHANNEL = b"kado-state:"
"""Redis channels are this prefix and the stream's name."""

_encoder = msgspec.json.Encoder()


class Frame(msgspec.Struct, frozen=True, tag="state", tag_field="type"):
    """The socket frame: `state` is null when what the stream showed is no more."""

    stream: str
    at: str
    state: msgspec.Raw


@dataclass(slots=True, eq=False)
class State:
    """How a stream was at an instant (milliseconds); `text` is JSON."""

    stream: str
    at: int
    text: bytes
    _frame: str = ""

    @classmethod
    def of(cls, stream: str, value: Any, at: int) -> "State":
        """The state that `value` encodes to: a msgspec struct, or plain data."""
        return cls(stream, at, _encoder.encode(value))

    def frame(self) -> str:
        """The socket frame, made once however many follow the stream."""
        if not self._frame:
            frame = Frame(public_name(self.stream), rfc3339(self.at), msgspec.Raw(self.text))
            self._frame = _encoder.encode(frame).decode()
        return self._frame

    def packed(self) -> tuple[bytes, bytes]:
        """Channel and message for Redis."""
        return CHANNEL + self.stream.encode(), b"%d %b" % (self.at, self.text)

    @classmethod
    def unpacked(cls, stream: str, message: bytes) -> "State":
        """The reverse of `packed`."""
        at, text = message.split(b" ", 1)
        return cls(stream, int(at), text)


TOUCHED = b"touched "


@dataclass(frozen=True, slots=True)
class Touch:
    """The news that a stream has changed, without saying how. Whoever sent it need not hear it: `sender`."""

    stream: str
    sender: str = ""

    def packed(self) -> tuple[bytes, bytes]:
        """Channel and message for Redis."""
        return CHANNEL + self.stream.encode(), TOUCHED + self.sender.encode()


class Source(Protocol):
    """The owner of a kind of state stream. Both functions are synchronous; they may read the database and Redis."""

    def admit(self, stream: str, player_id: int) -> None:
        """Raise the refusal (`unknown-room` …) if this player may not follow this stream."""

    def current(self, streams: Collection[str]) -> dict[str, Any]:
        """What each of these streams shows now, as msgspec encodes it; one that is no more is left out."""


class Publisher(Protocol):
    """What spreads states in a process that has followers of its own."""

    def publish_from_anywhere(self, news: Sequence[State | Touch]) -> None: ...


@dataclass(frozen=True, slots=True)
class Kind:
    """A registered kind of state stream."""

    source: Source
    personal: bool
    scope: str


_kinds: dict[str, Kind] = {}
_publisher: list[Publisher] = []


def register(prefix: str, source: Source, *, personal: bool = False, scope: str = "") -> None:
    """Make `source` the owner of the streams `prefix:…` (and of `prefix` alone, if it admits to that).

    `personal`: everybody follows their own one, by the name `prefix`; inside it is `prefix:<player id>`.
    `scope`: what a token needs to follow it.
    """
    _kinds[prefix] = Kind(source, personal, scope)


def kind_of(name: str) -> Kind | None:
    """The kind of a stream; None for a name that no owner of states has registered."""
    return _kinds.get(name.partition(":")[0])


def own_name(name: str, player_id: int) -> str | None:
    """The inner name of the stream that a player calls `name`; None if there can be none of that name."""
    kind = kind_of(name)
    if kind is None or (kind.personal and ":" in name):
        return None
    return f"{name}:{player_id}" if kind.personal else name


def public_name(stream: str) -> str:
    """The name on the wire: a personal stream belongs to whoever is connected."""
    prefix = stream.partition(":")[0]
    return prefix if prefix in _kinds and _kinds[prefix].personal else stream


def prefixes() -> list[str]:
    """The kinds that there are."""
    return sorted(_kinds)


def read(streams: Collection[str]) -> dict[str, State]:
    """The current states of streams of one kind; one that is no more is `null`."""
    at = now_ms()
    kind = kind_of(next(iter(streams)))
    assert kind is not None
    found = kind.source.current(streams)
    return {stream: State.of(stream, found.get(stream), at) for stream in streams}


def install_publisher(publisher: Publisher | None) -> None:
    """Let this process's own followers hear at once."""
    _publisher[:] = [publisher] if publisher else []


def publish(stream: str, value: Any, *, at: int | None = None) -> None:
    """Spread the new state of a stream, best effort, from any thread. Call it after the commit.

    `at` is an instant before the state was read (milliseconds, by default now): of two that were read at different
    times the later one stands, whichever arrives first.
    """
    _spread([State.of(stream, value, now_ms() if at is None else at)])


def touch(*streams: str) -> None:
    """Spread the news that these streams have changed: it is read where they are followed, and costs little elsewhere.

    Best effort, from any thread, after the commit.
    """
    _spread([Touch(stream) for stream in streams])


def _spread(news: Sequence[State | Touch]) -> None:
    if _publisher:
        _publisher[0].publish_from_anywhere(news)
        return
    try:
        with client().pipeline(transaction=False) as pipeline:
            for each in news:
                pipeline.publish(*each.packed())
            pipeline.execute()
    except redis.RedisError as error:
        # Followers compare with the source every few seconds, so the news arrives all the same.
        logger.warning("%d states not published: %s", len(news), error)

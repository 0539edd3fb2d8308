"""What one client was told, in order, with the instants at which it came: the evidence for the checker."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Json = dict[str, Any]


def milliseconds(rfc3339: str) -> int:
    """An instant of the wire in milliseconds since the epoch."""
    return round(datetime.fromisoformat(rfc3339).timestamp() * 1000)


@dataclass(frozen=True, slots=True)
class Frame:
    """A snapshot or an event of a stream. `at` is when it happened (0 for a snapshot), `received` when it came."""

    kind: Literal["snapshot", "event"]
    stream: str
    version: int
    at: int
    received: int
    body: Json


@dataclass(frozen=True, slots=True)
class Connected:
    """A new connection; `inbox` is the version after which the server began to send the inbox by itself."""

    received: int
    inbox: int


@dataclass(frozen=True, slots=True)
class Resumed:
    """The server has answered the subscription of a stream: what was missing has been sent."""

    stream: str
    received: int


@dataclass(frozen=True, slots=True)
class Ack:
    """The server has said that move number `ply` of `game` stands at `version`."""

    game: str
    ply: int
    version: int


Entry = Frame | Connected | Resumed


@dataclass(slots=True)
class Log:
    """One client's evidence."""

    player: str
    entries: list[Entry] = field(default_factory=list)
    acks: list[Ack] = field(default_factory=list)

    def frames(self, stream: str) -> list[Frame]:
        return [e for e in self.entries if isinstance(e, Frame) and e.stream == stream]

    def streams(self) -> list[str]:
        """The inbox, which every connection follows, and each stream of which something came."""
        seen = [entry.stream for entry in self.entries if isinstance(entry, Frame)]
        return list(dict.fromkeys(["inbox", *seen]))

    def resumed(self, stream: str) -> int:
        """How many of the stream's events came as what was missing after the latest connection was made."""
        last = max(i for i, entry in enumerate(self.entries) if isinstance(entry, Connected))
        for i, entry in enumerate(self.entries[last:]):
            if isinstance(entry, Resumed) and entry.stream == stream:
                caught_up = self.entries[last : last + i]
                return sum(isinstance(e, Frame) and e.stream == stream for e in caught_up)
        return 0

    def version(self, stream: str) -> int:
        """The last version that came; 0 if nothing did."""
        return max((frame.version for frame in self.frames(stream)), default=0)

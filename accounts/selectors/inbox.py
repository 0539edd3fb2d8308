"""A player's inbox as a stream: durable, numbered from 1."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from accounts.models import InboxHead, InboxItem
from common.streams import Note


def inbox_stream(player_id: int) -> str:
    """The internal name of a player's inbox; the wire says just `inbox`."""
    return f"inbox:{player_id}"


def _owner(stream: str) -> int:
    return int(stream.partition(":")[2])


@dataclass(frozen=True, slots=True)
class InboxMarks:
    """How far an inbox goes (`version`), how far it has been read, and up to where items have gone by their age."""

    version: int = 0
    read: int = 0
    dropped: int = 0

    @property
    def unread(self) -> int:
        """How many items that are there have not been read."""
        return self.version - max(self.read, self.dropped)

    @classmethod
    def of(cls, head: InboxHead) -> "InboxMarks":
        return cls(head.version, head.read, head.dropped)


def inbox_marks(player_id: int) -> InboxMarks:
    """The marks of a player's inbox, all zero while nothing has come."""
    return marks_of([player_id]).get(player_id, InboxMarks())


def marks_of(player_ids: Iterable[int]) -> dict[int, InboxMarks]:
    """The same of many, without those to whom nothing has come."""
    heads = InboxHead.objects.filter(player_id__in=set(player_ids))
    return {head.player_id: InboxMarks.of(head) for head in heads}


def inbox_after(player_id: int, cursor: int, limit: int | None = None) -> list[Note]:
    """The items with a version above `cursor` in order, at most `limit` of them."""
    items = InboxItem.objects.filter(player_id=player_id, version__gt=cursor).order_by("version")
    return _notes(player_id, items if limit is None else items[:limit])


def inbox_before(player_id: int, cursor: int, limit: int) -> list[Note]:
    """The last items with a version below `cursor`, at most `limit` of them, in order too."""
    items = InboxItem.objects.filter(player_id=player_id, version__lt=cursor)
    return _notes(player_id, items.order_by("-version")[:limit])[::-1]


def _notes(player_id: int, items: Iterable[InboxItem]) -> list[Note]:
    stream = inbox_stream(player_id)
    return [Note(stream, item.version, item.at, item.payload) for item in items]


def inbox_version(player_id: int) -> int:
    """The number of the latest item, 0 while there is none."""
    return inbox_marks(player_id).version


class InboxSource:
    """The owner of the streams `inbox:<player id>` (see common/streams.py)."""

    def events_after(self, stream: str, cursor: int) -> list[Note]:
        """Every item with a version above `cursor`, in order."""
        return inbox_after(_owner(stream), cursor)

    def versions(self, streams: Collection[str]) -> dict[str, int]:
        """The latest version of each inbox; one without items is at 0."""
        found = marks_of([_owner(stream) for stream in streams])
        return {stream: found.get(_owner(stream), InboxMarks()).version for stream in streams}

"""A player's inbox as a stream: durable, numbered from 1."""

from collections.abc import Collection

from accounts.models import InboxHead, InboxItem
from common.streams import Note


def inbox_stream(player_id: int) -> str:
    """The internal name of a player's inbox; the wire says just `inbox`."""
    return f"inbox:{player_id}"


def _owner(stream: str) -> int:
    return int(stream.partition(":")[2])


def inbox_after(player_id: int, cursor: int, limit: int | None = None) -> list[Note]:
    """The items with a version above `cursor` in order, at most `limit` of them."""
    items = InboxItem.objects.filter(player_id=player_id, version__gt=cursor).order_by("version")
    stream = inbox_stream(player_id)
    return [
        Note(stream, i.version, i.at, i.payload)
        for i in (items if limit is None else items[:limit])
    ]


def inbox_version(player_id: int) -> int:
    """The number of the latest item, 0 while there is none."""
    return InboxSource().versions([inbox_stream(player_id)]).get(inbox_stream(player_id), 0)


class InboxSource:
    """The owner of the streams `inbox:<player id>` (see common/streams.py)."""

    def events_after(self, stream: str, cursor: int) -> list[Note]:
        """Every item with a version above `cursor`, in order."""
        return inbox_after(_owner(stream), cursor)

    def versions(self, streams: Collection[str]) -> dict[str, int]:
        """The latest version of each inbox; one without items is at 0."""
        found = InboxHead.objects.filter(player_id__in=[_owner(stream) for stream in streams])
        versions = {inbox_stream(head.player_id): head.version for head in found}
        return {stream: versions.get(stream, 0) for stream in streams}

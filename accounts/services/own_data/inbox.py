"""The person's notifications, and their name in those of others."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec
from django.db.models import Q
from msgspec import Struct

from accounts.models import InboxHead, InboxItem
from accounts.names import Renaming
from accounts.selectors.inbox import inbox_marks
from common.clock import to_datetime

CHUNK = 500


class ItemData(Struct, frozen=True):
    """`event` is what the inbox gave."""

    version: int
    at: datetime
    read: bool
    event: dict[str, Any]


def export_inbox(player_id: int) -> Iterator[ItemData]:
    """By pieces, each with a query of its own."""
    last, marks = 0, inbox_marks(player_id)
    while True:
        items = InboxItem.objects.filter(player_id=player_id, version__gt=last)
        piece = list(items.order_by("version")[:CHUNK])
        for item in piece:
            event = msgspec.json.decode(item.payload)
            at, read = to_datetime(item.at), item.version <= marks.read
            yield ItemData(item.version, at, read, event)
        if len(piece) < CHUNK:
            return
        last = piece[-1].version


def erase_inbox(player_id: int) -> None:
    InboxItem.objects.filter(player_id=player_id).delete()
    InboxHead.objects.filter(player_id=player_id).delete()


def rename_in_inboxes(renaming: Renaming) -> None:
    """One look at every item: nothing says whose names stand in which, and nobody is erased often."""
    mentions = Q()
    for old in renaming.olds:
        mentions |= Q(payload__contains=f'"{old}"')
    found = InboxItem.objects.filter(mentions).exclude(player_id=renaming.player_id)
    for item in found.iterator(chunk_size=CHUNK):
        payload = renaming.in_json(item.payload)
        if payload != item.payload:
            InboxItem.objects.filter(pk=item.pk).update(payload=payload)

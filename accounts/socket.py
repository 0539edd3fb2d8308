"""What a socket asks of accounts."""

from typing import Any

from accounts.selectors import Caller, InboxMarks
from accounts.services.inbox import mark_read
from common import database


def inbox_marks(marks: InboxMarks) -> dict[str, int]:
    """What `hello` says of the inbox."""
    return {
        "inbox": marks.version,
        "inbox_read": marks.read,
        "inbox_unread": marks.unread,
        "inbox_dropped": marks.dropped,
    }


async def inbox_read(caller: Caller, *, up_to: int) -> dict[str, Any]:
    """`inbox.read`: the items up to a number have been read."""
    marks = await database.in_thread(mark_read, player_id=caller.player_id, up_to=up_to)
    return {"version": marks.version, "read": marks.read, "unread": marks.unread}

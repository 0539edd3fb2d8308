"""Telling a player something that must not be lost, noting what they have read, and forgetting what is old."""

from functools import partial

import msgspec
from django.db import connection, transaction
from django.db.models import F, Q

from accounts import states
from accounts.models import InboxHead, InboxItem
from accounts.selectors.inbox import InboxMarks, inbox_marks, inbox_stream
from common import database
from common.clock import now_ms
from common.streams import Note, publish

_ADD_ITEM = """
WITH head AS (
    INSERT INTO accounts_inboxhead (player_id, version) VALUES (%s, 1)
    ON CONFLICT (player_id) DO UPDATE SET version = accounts_inboxhead.version + 1
    RETURNING version
)
INSERT INTO accounts_inboxitem (player_id, version, at, payload)
SELECT %s, version, %s, %s FROM head
RETURNING version
"""


def notify(*, player_id: int, event: msgspec.Struct, at: int | None = None) -> Note:
    """Put an event into a player's inbox, in the caller's transaction, and publish it when that commits.

    `event` is encoded as it stands, so it should be a tagged struct. The head's row lock, held to the end of the
    transaction, gives simultaneous items consecutive numbers; who notifies several players in one transaction does
    it in the order of their ids.
    """
    at = now_ms() if at is None else at
    payload = msgspec.json.encode(event).decode()
    ((version,),) = database.prepared(_ADD_ITEM, [player_id, player_id, at, payload])
    note = Note(inbox_stream(player_id), version, at, payload)
    transaction.on_commit(lambda: publish([note]))
    return note


_READ = """
UPDATE accounts_inboxhead SET read = least(%s::bigint, version) WHERE player_id = %s AND read < least(%s::bigint, version)
RETURNING read
"""


def mark_read(*, player_id: int, up_to: int) -> InboxMarks:
    """The player has read the items up to a number, on whichever device; their other devices learn of it.

    The mark never goes back, and never beyond the latest item.
    """
    if database.prepared(_READ, [up_to, player_id, up_to]):
        transaction.on_commit(partial(states.touch_marks, player_id))
    return inbox_marks(player_id)


READ_KEPT_MS = 90 * 24 * 3_600_000
"""How old an item gets that has been read."""
KEPT_MS = 365 * 24 * 3_600_000
"""How old any item gets."""
BATCH = 200
"""Inboxes in one transaction."""

# Items go from the oldest on, up to the first that stays: so what is left has no holes.
_TRIM = """
WITH kept AS (
    SELECT player_id, coalesce((
        SELECT item.version FROM accounts_inboxitem item
        WHERE item.player_id = head.player_id
            AND NOT (item.at < %(end)s OR (item.version <= head.read AND item.at < %(read_end)s))
        ORDER BY item.version LIMIT 1
    ), head.version + 1) AS first
    FROM accounts_inboxhead head WHERE player_id = ANY(%(players)s)
), gone AS (
    DELETE FROM accounts_inboxitem item USING kept
    WHERE item.player_id = kept.player_id AND item.version < kept.first RETURNING 1
), marked AS (
    UPDATE accounts_inboxhead head SET dropped = kept.first - 1 FROM kept
    WHERE head.player_id = kept.player_id AND head.dropped < kept.first - 1
)
SELECT count(*) FROM gone
"""


def forget_inbox_items(*, now: int) -> int:
    """Delete what is old: read items after 90 days, others after a year. How many; twice is no error.

    An inbox that is being written to at the moment is left for the next time.
    """
    end, read_end = now - KEPT_MS, now - READ_KEPT_MS
    old = InboxItem.objects.filter(at__lt=read_end).filter(
        Q(at__lt=end) | Q(version__lte=F("player__inbox_head__read"))
    )
    players = list(old.values_list("player_id", flat=True).distinct())
    deleted = 0
    for start in range(0, len(players), BATCH):
        some = players[start : start + BATCH]
        with transaction.atomic():
            # Locked by a statement of its own: the next one then sees all items there are.
            heads = InboxHead.objects.select_for_update(skip_locked=True).filter(pk__in=some)
            locked = list(heads.values_list("pk", flat=True))
            with connection.cursor() as cursor:
                cursor.execute(_TRIM, {"players": locked, "end": end, "read_end": read_end})
                deleted += cursor.fetchone()[0]
    return deleted

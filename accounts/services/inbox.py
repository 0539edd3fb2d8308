"""Telling a player something that must not be lost."""

import msgspec
from django.db import transaction

from accounts.selectors.inbox import inbox_stream
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

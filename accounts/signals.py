"""What other apps may hear of accounts. All are sent after the commit, but for `player_registered`."""

from django.dispatch import Signal

player_became_bot = Signal()
"""A player's moves are made by a program from now on, for ever. Keyword argument: `player_id: int`."""

player_banned = Signal()
"""A player was banned. Keyword arguments: `player_id: int`, and `kind: str` (`play` or `queue`)."""

player_erased = Signal()
"""A player is being erased, or has been: nothing may name them any more. Keyword argument: `player_id: int`."""

credential_ended = Signal()
"""A token or session is over. Keyword arguments: `credential: str` as `Caller.credential`, and `player_id: int`."""

player_registered = Signal()
"""A guest has become a registered player. Keyword argument: `player_id: int`.

Sent in the transaction that does it, at its end, while the player's row is locked: what follows is done with it or not
at all, and whoever enters a score of the guest's at this moment comes wholly before or after it.
"""

presence_changed = Signal()
"""Players came online or went offline. Keyword arguments: `online: tuple[int, ...]`, `offline: tuple[int, ...]`.

Each change is sent in one process once, as a rule. It may be lost (a process that dies, a Redis that forgets), and an
"online" may come twice: whoever shows presence compares with `selectors.presence` now and then.
"""

friends_changed = Signal()
"""Who is whose friend, or has asked whom, has changed. Keyword argument: `player_ids: tuple[int, ...]`, the two."""

block_made = Signal()
"""Somebody blocks somebody. Keyword arguments: `blocker_id: int`, `blocked_id: int`."""

"""What other apps may hear of accounts. All are sent after the commit."""

from django.dispatch import Signal

player_became_bot = Signal()
"""A player's moves are made by a program from now on, for ever. Keyword argument: `player_id: int`."""

player_banned = Signal()
"""A player was banned. Keyword arguments: `player_id: int`, and `kind: str` (`play` or `queue`)."""

credential_ended = Signal()
"""A token or session is over. Keyword arguments: `credential: str` as `Caller.credential`, and `player_id: int`."""

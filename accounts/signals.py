"""What other apps may hear of accounts. All are sent after the commit."""

from django.dispatch import Signal

credential_ended = Signal()
"""A token or session is over. Keyword arguments: `credential: str` as `Caller.credential`, and `player_id: int`."""

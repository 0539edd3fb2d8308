"""What other apps may hear of accounts. All are sent after the commit."""

from django.dispatch import Signal

token_revoked = Signal()
"""A token stopped being valid. Keyword arguments: `token_id: int`, `player_id: int`."""

"""The operators' pages; importing them registers them."""

from matchmaking.admin import cards, pools

__all__ = ["cards", "pools"]

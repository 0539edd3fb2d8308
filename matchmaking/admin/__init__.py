"""The operators' pages; importing them registers them."""

from matchmaking.admin import pools

__all__ = ["pools"]

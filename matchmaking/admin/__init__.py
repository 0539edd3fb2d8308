"""The operators' pages; importing them registers them."""

from matchmaking.admin import cards, pools, rooms

__all__ = ["cards", "pools", "rooms"]

"""The operators' pages; importing them registers them."""

from matchmaking.admin import pools, rooms

__all__ = ["pools", "rooms"]

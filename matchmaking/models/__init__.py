"""The tables of matchmaking, by subject. Other apps reach them through services and selectors only."""

from matchmaking.models.pools import Pool

__all__ = ["Pool"]

"""How long the way to a client and back takes, as this server has measured it on the client's own socket."""

from collections import deque
from typing import Final

KEPT: Final = 8
"""Measurements that count: the latest ones."""


class RoundTrips:
    """The latest round trips of one socket. Their median is what its moves are given for lag (games/territory/lag.py).

    A client that answers some pings late to look slow does not move the median, and one that answers all of them late
    has the cap and the account of the game against it.
    """

    __slots__ = ("_latest",)

    def __init__(self) -> None:
        self._latest: deque[int] = deque(maxlen=KEPT)

    def add(self, seconds: float) -> None:
        self._latest.append(max(0, int(seconds * 1000)))

    @property
    def lag_ms(self) -> int | None:
        """The median in milliseconds, the lower one of two; None before the first answer."""
        if not self._latest:
            return None
        return sorted(self._latest)[(len(self._latest) - 1) // 2]

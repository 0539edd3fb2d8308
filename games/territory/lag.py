"""Lag compensation: how much of a move's time was its way over the network. Pure; docs/clocks.md publishes the figures.

A move's time includes the way of the event before it to the player and its own way back: one round trip, which the
server measures on the player's own socket. A client could pretend a slow network by answering late, so what it can gain
is bounded: by a cap for each move, and by an account for each seat of a game, which fills again slowly.
"""

from typing import Final

MOST_MS: Final = 300
"""The most that a move is given. A turn is over this long after its deadline at the latest."""
ACCOUNT_MS: Final = 2_000
"""What a seat's account holds at the start of a game, and at most."""
EARNED_MS: Final = 150
"""What comes into the account with each move of the seat."""


def compensation(measured_ms: int, account_ms: int, passed_ms: int) -> int:
    """How much of the time that passed is not counted, for a move by a player whose round trip was measured so."""
    return max(0, min(measured_ms, MOST_MS, account_ms, passed_ms))


def account_after(account_ms: int, given_ms: int) -> int:
    """The account after a move that was given so much."""
    return min(ACCOUNT_MS, account_ms - given_ms + EARNED_MS)

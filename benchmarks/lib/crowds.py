"""Pools full of tickets, as they are and as they should not be, for measuring the pairing. Pure."""

from collections.abc import Callable
from random import Random
from typing import Final

from matchmaking.tickets import Ticket

NOW: Final = 1_800_000_000_000
MINUTE: Final = 60_000
FRIENDS: Final = 20
"""How many neighbours each player of a quarrelling or tireless crowd has blocked or has just met."""


def usual(count: int, dice: Random) -> list[Ticket]:
    """Ratings around 1500, some newcomers, up to a minute of waiting."""
    return [
        _ticket(n, dice.gauss(1500, 350), dice, waited=dice.randrange(MINUTE)) for n in range(count)
    ]


def equal(count: int, dice: Random) -> list[Ticket]:
    """Everybody has the rating of a newcomer."""
    return [_ticket(n, 1500.0, dice, waited=dice.randrange(MINUTE)) for n in range(count)]


def clusters(count: int, dice: Random) -> list[Ticket]:
    """Two crowds that are further from each other than any window."""
    return [
        _ticket(n, dice.gauss(700 if n % 2 else 2300, 20), dice, waited=dice.randrange(MINUTE))
        for n in range(count)
    ]


def fresh(count: int, dice: Random) -> list[Ticket]:
    """All have joined this moment, so that every window is as narrow as it can be."""
    return [_ticket(n, dice.gauss(1500, 350), dice) for n in range(count)]


def lonely(count: int, dice: Random) -> list[Ticket]:
    """A fresh crowd at one rating, and old tickets around it whose windows reach it, but not the other way round."""
    old = count // 100
    return [
        _ticket(n, 1500.0 + dice.choice((-1, 1)) * dice.uniform(150, 450), dice, waited=10 * MINUTE)
        if n < old
        else _ticket(n, 1500.0, dice)
        for n in range(count)
    ]


def blocked(count: int, dice: Random) -> list[Ticket]:
    """Everybody has blocked the twenty who are nearest."""
    return _crowd(count, dice, "blocked")


def recent(count: int, dice: Random) -> list[Ticket]:
    """Everybody has just met the twenty who are nearest."""
    return _crowd(count, dice, "recent")


CROWDS: Final[dict[str, Callable[[int, Random], list[Ticket]]]] = {
    "usual": usual,
    "all equal": equal,
    "two clusters": clusters,
    "all fresh": fresh,
    "a few around a fresh crowd": lonely,
    "blocked by all neighbours": blocked,
    "met all neighbours": recent,
}


def _crowd(count: int, dice: Random, field: str) -> list[Ticket]:
    ratings = sorted(dice.gauss(1500, 350) for _ in range(count))
    return [
        _ticket(
            n,
            ratings[n],
            dice,
            waited=dice.randrange(MINUTE),
            **{field: frozenset(range(max(0, n - FRIENDS // 2), n + FRIENDS // 2 + 1)) - {n}},
        )
        for n in range(count)
    ]


def _ticket(
    player: int, mu: float, dice: Random, waited: int = 0, **sets: frozenset[int]
) -> Ticket:
    sigma = dice.choice((60.0, 90.0, 120.0, 500.0))
    return Ticket(f"t{player:06}", player, "bench", mu, sigma, NOW - waited, **sets)

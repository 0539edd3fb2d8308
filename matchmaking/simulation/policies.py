"""The rules that a simulation compares. Pure.

`Ours` is the product's: an attempt at joining, and a wave every half second. `FirstCome` takes whoever waits, in the
order of joining. `Waves` is written from the idea of lichess's pools, not from their code: nobody is matched before the
next wave, which comes every few seconds; it takes the groups of neighbours by rating with the smallest spread first,
and who was left over by earlier waves counts as nearer.
"""

from collections.abc import Collection, Sequence
from typing import Protocol

from matchmaking.pairing import RULE, Rule, best_group, pair
from matchmaking.tickets import Ticket

Group = tuple[Ticket, ...]


class Policy(Protocol):
    """A rule: what happens when somebody joins, and what happens at each wave."""

    @property
    def name(self) -> str: ...

    @property
    def wave(self) -> int:
        """Milliseconds between waves; 0 for none."""

    def joined(self, ticket: Ticket, waiting: Collection[Ticket], now: int) -> Group | None:
        """The group of a ticket that has just joined; `waiting` are the others."""

    def waved(self, waiting: Collection[Ticket], now: int) -> Sequence[Group]:
        """The groups of a wave."""


class Ours:
    """The product's rule, with other figures if one wants to know what they would do."""

    wave = 500

    def __init__(self, size: int, limit: float, rule: Rule = RULE, name: str = "Kado") -> None:
        self.name = name
        self._size = size
        self._limit = limit
        self._rule = rule

    def joined(self, ticket: Ticket, waiting: Collection[Ticket], now: int) -> Group | None:
        found = best_group(
            ticket, waiting, now=now, size=self._size, limit=self._limit, rule=self._rule
        )
        return found.tickets if found else None

    def waved(self, waiting: Collection[Ticket], now: int) -> Sequence[Group]:
        proposals, _ = pair(waiting, now, self._size, self._limit, self._rule)
        return [proposal.tickets for proposal in proposals]


class FirstCome:
    """Whoever waits plays as soon as there are enough who do not block each other."""

    name = "first come, first served"
    wave = 0

    def __init__(self, size: int) -> None:
        self._size = size

    def joined(self, ticket: Ticket, waiting: Collection[Ticket], now: int) -> Group | None:
        group = [ticket]
        for other in sorted(waiting, key=lambda each: each.age):
            if not any(_blocked(other, member) for member in group):
                group.append(other)
                if len(group) == self._size:
                    return tuple(group)
        return None

    def waved(self, waiting: Collection[Ticket], now: int) -> Sequence[Group]:
        return ()


class Waves:
    """Waves every few seconds, best groups first, with a bonus for each wave missed."""

    name = "waves"
    wave = 7_000
    START = 150.0
    BONUS = 30.0
    MOST_BONUS = 360.0

    def __init__(self, size: int, limit: float) -> None:
        self._size = size
        self._limit = limit

    def joined(self, ticket: Ticket, waiting: Collection[Ticket], now: int) -> Group | None:
        return None

    def waved(self, waiting: Collection[Ticket], now: int) -> Sequence[Group]:
        row = sorted(waiting, key=lambda each: (each.mu, each.id))
        runs = [tuple(row[at : at + self._size]) for at in range(len(row) - self._size + 1)]
        scored = sorted((self._score(run, now), at) for at, run in enumerate(runs))
        taken: set[str] = set()
        found = []
        for score, at in scored:
            run = runs[at]
            if score > self.START:
                break
            if run[-1].mu - run[0].mu <= self._limit and taken.isdisjoint(t.id for t in run):
                taken.update(ticket.id for ticket in run)
                found.append(run)
        return found

    def _score(self, run: Group, now: int) -> float:
        if any(_blocked(a, b) for a in run for b in run if a is not b):
            return float("inf")
        bonus = sum(
            min(self.MOST_BONUS, self.BONUS * ((now - each.joined) // self.wave)) for each in run
        )
        return run[-1].mu - run[0].mu - bonus / len(run)


def _blocked(a: Ticket, b: Ticket) -> bool:
    return a.player_id in b.blocked or b.player_id in a.blocked

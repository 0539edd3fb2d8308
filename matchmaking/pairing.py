"""Who plays whom: the pure pairing of one pool's tickets. Standard library only.

The published rule: a ticket accepts a rating difference of `START` points at once, and `RATE + sigma / SIGMA_SHARE`
points more for each second it waits, never more than its pool's limit. The uncertain therefore widen faster.
Two tickets are compatible when each lies inside the other's window and neither blocks the other; players who met a
short while ago are compatible only when both have waited `REPEAT_PATIENCE` milliseconds: somebody else may come first.

`pair` serves the oldest ticket first and gives it the nearest compatible rating, and so on down to the youngest. The
result is maximal: no two tickets of the rest are compatible. The answer depends on the set of tickets alone.

Cost: two sorts, and a walk outwards from each ticket over those not yet paired. A walk is long only when nobody
stands within `START` points, and tickets with long walks are further than that from each other, so there are at most
(range of ratings / START) of them, plus one step for each block. That is n log n for any real pool.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from matchmaking.tickets import Ticket

START = 100.0
"""Points of rating difference that a fresh ticket accepts."""
RATE = 5.0
"""Points that every window gains for each second of waiting."""
SIGMA_SHARE = 25.0
"""The window gains sigma divided by this for each second on top of `RATE`: 20 points a second at sigma 500."""
REPEAT_PATIENCE = 5_000
"""Milliseconds that two recent opponents must both have waited before they may meet again."""
REPEAT_COST = 200.0
"""A recent opponent counts as this many points further away when partners are compared."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """Tickets that should become one game, oldest first."""

    tickets: tuple[Ticket, ...]

    @property
    def spread(self) -> float:
        """The difference between the highest and the lowest rating."""
        ratings = [ticket.mu for ticket in self.tickets]
        return max(ratings) - min(ratings)


def window(ticket: Ticket, now: int, limit: float) -> float:
    """The rating difference that `ticket` accepts at `now` (milliseconds); never above `limit`."""
    waited = max(0, now - ticket.joined) / 1000
    return min(limit, START + (RATE + ticket.sigma / SIGMA_SHARE) * waited)


def compatible(a: Ticket, b: Ticket, now: int, limit: float) -> bool:
    """Whether `a` and `b` may meet at `now`. Symmetric; it may turn from False to True by waiting, never back."""
    reach = min(window(a, now, limit), window(b, now, limit))
    return abs(a.mu - b.mu) <= reach and _may_meet(a, b, now)


def partner(ticket: Ticket, others: Iterable[Ticket], now: int, limit: float) -> Ticket | None:
    """The best of `others` for `ticket` by the preference of `pair`; the older one of two equally near."""
    candidates = [other for other in others if compatible(ticket, other, now, limit)]
    return min(candidates, key=lambda other: (_cost(ticket, other), *other.age), default=None)


def pair(
    tickets: Iterable[Ticket], now: int, size: int, limit: float
) -> tuple[list[Proposal], list[Ticket]]:
    """Pair one pool's tickets: the proposals in order of their oldest ticket, and the tickets left, oldest first.

    `size` is the number of players of a game; only 2 is known so far, anything else raises ValueError. A player with
    several tickets is paired with the oldest of them at most.
    """
    if size != 2:
        raise ValueError(f"only games of two players can be paired, not of {size}")
    by_age = sorted(tickets, key=lambda ticket: (ticket.joined, ticket.id))
    oldest: dict[int, Ticket] = {}
    for ticket in by_age:
        oldest.setdefault(ticket.player_id, ticket)
    line = _Line(list(oldest.values()), now, limit)
    proposals = [Proposal(found) for found in line.couples()]
    taken = {ticket.id for proposal in proposals for ticket in proposal.tickets}
    return proposals, [ticket for ticket in by_age if ticket.id not in taken]


def _may_meet(a: Ticket, b: Ticket, now: int) -> bool:
    """The part of compatibility that is not about ratings."""
    if a.player_id == b.player_id or a.player_id in b.blocked or b.player_id in a.blocked:
        return False
    return not _met(a, b) or now - max(a.joined, b.joined) >= REPEAT_PATIENCE


def _met(a: Ticket, b: Ticket) -> bool:
    return b.player_id in a.recent or a.player_id in b.recent


def _cost(a: Ticket, b: Ticket) -> float:
    return abs(a.mu - b.mu) + (REPEAT_COST if _met(a, b) else 0.0)


class _Line:
    """The unpaired tickets in order of rating, as a doubly linked list, so that taking one out costs nothing.

    Places 1 … n hold the tickets; 0 and n + 1 are the ends.
    """

    def __init__(self, by_age: Sequence[Ticket], now: int, limit: float) -> None:
        order = sorted(range(len(by_age)), key=lambda age: (by_age[age].mu, age))
        end = len(order) + 1
        self._now = now
        self._ages = [-1, *order, -1]
        self._tickets = [by_age[age] for age in order]
        self._mus = [float("-inf"), *(t.mu for t in self._tickets), float("inf")]
        self._windows = [0.0, *(window(t, now, limit) for t in self._tickets), 0.0]
        self._left = list(range(-1, end))
        self._right = list(range(1, end + 2))
        self._places = [0] * len(order)
        for place, age in enumerate(order, start=1):
            self._places[age] = place

    def couples(self) -> list[tuple[Ticket, Ticket]]:
        """Pair from the oldest to the youngest."""
        taken = [False] * len(self._mus)
        found = []
        for place in self._places:
            if taken[place]:
                continue
            other = self._nearest(place)
            self._take(place)
            if other:
                taken[other] = True
                self._take(other)
                found.append((self._tickets[place - 1], self._tickets[other - 1]))
        return found

    def _take(self, place: int) -> None:
        """Take a place out. An unpaired oldest ticket may go too: nobody younger is compatible with it."""
        left, right = self._left[place], self._right[place]
        self._right[left] = right
        self._left[right] = left

    def _nearest(self, place: int) -> int:
        """The place of the best compatible partner, walking outwards; 0 if there is none."""
        mus, windows = self._mus, self._windows
        mu, reach = mus[place], windows[place]
        left, right = self._left[place], self._right[place]
        best, best_cost = 0, float("inf")
        while True:
            below, above = mu - mus[left], mus[right] - mu
            if below < above or (below == above and self._ages[left] < self._ages[right]):
                other, distance, left = left, below, self._left[left]
            else:
                other, distance, right = right, above, self._right[right]
            if distance > reach or distance >= best_cost:
                return best
            if distance <= windows[other]:
                cost = self._cost(place, other, distance)
                if cost < best_cost:
                    best, best_cost = other, cost

    def _cost(self, place: int, other: int, distance: float) -> float:
        """What pairing two places within each other's windows costs; infinite when they may not meet."""
        a, b = self._tickets[place - 1], self._tickets[other - 1]
        if not (a.blocked or b.blocked or a.recent or b.recent):
            return distance
        if not _may_meet(a, b, self._now):
            return float("inf")
        return distance + (REPEAT_COST if _met(a, b) else 0.0)

"""Groups of tickets that become games: the best one for a ticket, and a whole pool's. Pure.

What a group costs is its rating spread, and `Rule.repeat_cost` for each pair in it that met a short while ago.
The oldest ticket is served first and gets the cheapest compatible group; who gets none can be in no group of younger
tickets either, and leaves the line. So no compatible group is left over.

How the cheapest is found: the nearest run of tickets in order of rating, if all of them may meet, since no group with
a smaller spread exists. Otherwise by an exact search outwards from the ticket, which ends as soon as the next
candidate alone costs more than the best group. Tickets within `Rule.start` points of each other are compatible unless
a block or a recent match stands between them, so the search meets a group after a handful of candidates.

Cost: two sorts and one search a ticket. A search is long only where nobody is near, and such tickets are further than
`Rule.start` from each other, but for size − 1 of them; or where there are blocks. That is n log n for any real pool.
Only among dense blocks could a search for three or four be endless: it ends after `MOST_LOOKED` groups, and the
ticket stays available to others.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Final

from matchmaking.pairing.line import Line
from matchmaking.pairing.rule import RULE, Rule, may_meet
from matchmaking.tickets import Ticket

SIZES: Final = (2, 3, 4)
MOST_LOOKED: Final = 5_000
"""How many groups are looked at for one ticket at most. Without blocks it is never reached."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """Tickets that should become one game, oldest first."""

    tickets: tuple[Ticket, ...]

    @property
    def spread(self) -> float:
        """The difference between the highest and the lowest rating."""
        ratings = [ticket.mu for ticket in self.tickets]
        return max(ratings) - min(ratings)


def pair(
    tickets: Iterable[Ticket], now: int, size: int, limit: float, rule: Rule = RULE
) -> tuple[list[Proposal], list[Ticket]]:
    """Pair one pool's tickets: the proposals in order of their oldest ticket, and the tickets left, oldest first.

    `size` is the number of players of a game: ValueError if it is not in `SIZES`. `now` is in milliseconds, `limit`
    the largest window of the pool. A player with several tickets is paired with the oldest of them at most.
    """
    by_age = sorted(tickets, key=lambda ticket: (ticket.joined, ticket.id))
    oldest: dict[int, Ticket] = {}
    for ticket in by_age:
        oldest.setdefault(ticket.player_id, ticket)
    line = Line(list(oldest.values()), now, limit, rule)
    search = _Search(line, now, size, rule)
    proposals = []
    taken: set[str] = set()
    for place in line.places():
        if line.taken[place]:
            continue
        group, certain = search.best(place)
        if group:
            for member in group:
                line.take(member)
            proposal = _proposal(line, group)
            taken.update(ticket.id for ticket in proposal.tickets)
            proposals.append(proposal)
        elif certain:
            line.take(place)
    return proposals, [ticket for ticket in by_age if ticket.id not in taken]


def best_group(
    ticket: Ticket,
    others: Iterable[Ticket],
    *,
    now: int,
    size: int,
    limit: float,
    rule: Rule = RULE,
) -> Proposal | None:
    """The group that `pair` would give to `ticket` if it were the oldest; None if there is none among `others`."""
    known = {ticket.player_id: ticket}
    for other in sorted(others, key=lambda each: each.age):
        known.setdefault(other.player_id, other)
    line = Line(sorted(known.values(), key=lambda each: each.age), now, limit, rule)
    place = next(at for at in range(1, line.end) if line.ticket(at) is ticket)
    group, _ = _Search(line, now, size, rule).best(place)
    return _proposal(line, group) if group else None


def _proposal(line: Line, places: Sequence[int]) -> Proposal:
    return Proposal(tuple(line.ticket(at) for at in sorted(places, key=line.ages.__getitem__)))


class _Search:
    """Looks for the cheapest compatible group of one ticket after the other."""

    def __init__(self, line: Line, now: int, size: int, rule: Rule) -> None:
        if size not in SIZES:
            raise ValueError(f"games of {size} players cannot be paired")
        self._line = line
        self._size = size
        self._knots = _knots(line, now, rule)
        self._repeat_cost = rule.repeat_cost
        self._repeats = any(rule.repeat_cost in knots.values() for knots in self._knots if knots)

    def best(self, place: int) -> tuple[Sequence[int], bool]:
        """The places of the cheapest group with `place`, empty without one; and whether that is certain."""
        if run := self._nearest_run(place):
            return run, True
        hunt = _Hunt(self._line, self._knots, place, self._size)
        hunt.run()
        if hunt.cost > self._repeat_cost and self._repeats:
            # A repeat may be cheaper, and may be all there is.
            hunt = _Hunt(self._line, self._knots, place, self._size, better_than=hunt)
            hunt.run()
        return hunt.group, hunt.looked <= MOST_LOOKED

    def _nearest_run(self, place: int) -> Sequence[int]:
        """The neighbours by rating with the smallest spread, if all of them may meet and nobody met before."""
        line, size = self._line, self._size
        mus, windows, knots = line.mus, line.windows, self._knots
        row = line.around(place, size - 1)
        spread, start = float("inf"), -1
        for at in range(len(row) - size + 1):
            between = mus[row[at + size - 1]] - mus[row[at]]
            if between < spread:
                spread, start = between, at
        if start < 0:
            return ()
        run = row[start : start + size]
        for member in run:
            if windows[member] < spread:
                return ()
            if knots[member] and not knots[member].keys().isdisjoint(run):
                return ()
        return run


def _knots(line: Line, now: int, rule: Rule) -> list[dict[int, float]]:
    """For each place, what it costs beyond ratings to meet another: a repeat's cost, or infinitely much."""
    knots: list[dict[int, float]] = [{} for _ in line.mus]
    places = {line.ticket(place).player_id: place for place in range(1, line.end)}
    present = frozenset(places)
    for place in range(1, line.end):
        ticket = line.ticket(place)
        if not (ticket.blocked or ticket.recent):
            continue
        for player in (ticket.blocked | ticket.recent) & present:
            other = places[player]
            if other != place and other not in knots[place]:
                allowed = may_meet(ticket, line.ticket(other), now, rule)
                cost = rule.repeat_cost if allowed else float("inf")
                knots[place][other] = knots[other][place] = cost
    return knots


class _Hunt:
    """The exact search for one ticket: the candidates so far, and the cheapest group among them.

    Candidates come in the order of what a group with them costs at least. A set of candidates is an integer: bit n
    stands for the nth of them. Groups without a repeat are looked for first; with `better_than`, the hunt after those,
    the others too.
    """

    def __init__(
        self,
        line: Line,
        knots: Sequence[dict[int, float]],
        place: int,
        size: int,
        better_than: "_Hunt | None" = None,
    ) -> None:
        self.group: Sequence[int] = better_than.group if better_than else ()
        self.cost: float = better_than.cost if better_than else float("inf")
        self.looked: int = better_than.looked if better_than else 0
        self._dearest = sys.float_info.max if better_than else 0.0
        """What one knot of a group may cost at most."""
        self._line = line
        self._knots = knots
        self._place = place
        self._more = size - 2
        """How many a group has beside the ticket and the latest candidate."""
        self._near: list[int] = []
        self._bits: dict[int, int] = {}
        self._friends: list[int] = []
        """For each candidate those of the earlier ones that it may meet."""
        self._narrowest = float("inf")
        self._low = self._high = line.mus[place]

    def run(self) -> None:
        """Find the cheapest group; none is found if there is none."""
        later: list[tuple[float, int, int]] = []
        mine = self._knots[self._place]
        for number, (other, distance) in enumerate(self._line.outwards(self._place)):
            while later and later[0][0] <= distance:
                self._consider(*heappop(later)[::2])
            if distance >= self.cost or self.looked > MOST_LOOKED:
                return
            knot = mine.get(other, 0.0)
            if knot == 0.0:
                self._consider(distance, other)
            elif knot <= self._dearest:
                heappush(later, (distance + knot, number, other))
        while later and later[0][0] < self.cost:
            self._consider(*heappop(later)[::2])

    def _consider(self, least: float, other: int) -> None:
        """Look at the groups of the ticket, this candidate, and candidates from before; they cost `least` or more."""
        friends = self._friends_of(other)
        if self._more == 0:
            self._offer(other)
        else:
            rest = friends
            while rest and self.cost > least and self.looked <= MOST_LOOKED:
                # From the nearest to the farthest, each with those that are nearer than itself.
                one = (rest & -rest).bit_length() - 1
                rest &= rest - 1
                if self._more == 1:
                    self._offer(other, self._near[one])
                elif self._spread(other, self._near[one]) < self.cost:
                    self._with_one_more(other, one, self._friends[one] & friends, least)
        self._bits[other] = len(self._near)
        self._near.append(other)
        self._friends.append(friends)
        self._narrowest = min(self._narrowest, self._line.windows[other])
        self._low = min(self._low, self._line.mus[other])
        self._high = max(self._high, self._line.mus[other])

    def _with_one_more(self, other: int, one: int, rest: int, least: float) -> None:
        while rest and self.cost > least and self.looked <= MOST_LOOKED:
            last = (rest & -rest).bit_length() - 1
            rest &= rest - 1
            self._offer(other, self._near[one], self._near[last])

    def _friends_of(self, other: int) -> int:
        """Which candidates so far `other` may meet."""
        line, mine = self._line, self._knots[other]
        friends = (1 << len(self._near)) - 1
        for enemy, cost in mine.items():
            if cost > self._dearest and enemy in self._bits:
                friends &= ~(1 << self._bits[enemy])
        mus, windows = line.mus, line.windows
        mu, reach = mus[other], windows[other]
        if max(self._high, mu) - min(self._low, mu) > min(reach, self._narrowest):
            for bit, each in enumerate(self._near):
                distance = abs(mu - mus[each])
                if distance > reach or distance > windows[each]:
                    friends &= ~(1 << bit)
        return friends

    def _offer(self, *members: int) -> None:
        """A compatible group: keep it if it is the cheapest so far."""
        self.looked += 1
        cost = self._spread(*members)
        if cost < self.cost:
            group = (self._place, *members)
            for at, each in enumerate(group):
                if knots := self._knots[each]:
                    cost += sum(knots.get(other, 0.0) for other in group[:at])
            if cost < self.cost:
                self.group, self.cost = group, cost

    def _spread(self, *members: int) -> float:
        """The rating spread of the ticket and these."""
        mus = self._line.mus
        low = high = mus[self._place]
        for each in members:
            mu = mus[each]
            if mu < low:
                low = mu
            elif mu > high:
                high = mu
        return high - low

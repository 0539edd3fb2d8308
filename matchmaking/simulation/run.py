"""The clock of a simulation: events in the order of time, tickets that wait, and what became of them. Pure."""

from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import combinations

from matchmaking.estimates import KEPT, Ended, Estimate, estimate
from matchmaking.pairing import RULE, compatible
from matchmaking.simulation.policies import Group, Policy
from matchmaking.simulation.world import ENDLESS, MINUTE, People, Person, Plan, strongest_chance
from matchmaking.tickets import Ticket

RECENT = 10 * MINUTE
ASKED_AGAIN = 30_000
"""An estimate is also checked for those who have waited so long (milliseconds)."""


@dataclass(frozen=True, slots=True)
class Match:
    """A match of the simulation: waits in milliseconds, spread in points, the strongest one's chance, repeats."""

    waits: tuple[int, ...]
    spread: float
    chance: float
    repeats: int


@dataclass(frozen=True, slots=True)
class Told:
    """What somebody who never gives up was told after `waited`, and what came true (milliseconds)."""

    waited: int
    estimate: Estimate
    actual: int


@dataclass(slots=True)
class Outcome:
    """What one rule did."""

    policy: str
    matches: list[Match] = field(default_factory=list)
    gave_up: list[int] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)
    """How many waited, looked at every minute."""


def simulate(
    plan: Plan,
    policy: Policy,
    *,
    estimates: bool = False,
    tick: Callable[[float], None] | None = None,
) -> Outcome:
    """Let the people of `plan` play by this rule. `tick` hears how much is done, from 0 to 1."""
    return _Pool(plan, policy, estimates).run(tick)


@dataclass(slots=True, eq=False)
class _Waiting:
    person: Person
    ticket: Ticket
    told: list[tuple[int, Estimate]] = field(default_factory=list)


class _Pool:
    def __init__(self, plan: Plan, policy: Policy, estimates: bool) -> None:
        self._plan = plan
        self._policy = policy
        self._estimates = estimates
        self._people = People(plan)
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._number = 0
        self._now = 0
        self._waiting: dict[int, _Waiting] = {}
        self._met: defaultdict[int, dict[int, int]] = defaultdict(dict)
        self._blocked: defaultdict[int, set[int]] = defaultdict(set)
        self._ended: deque[Ended] = deque(maxlen=KEPT)
        self.outcome = Outcome(policy.name)

    def run(self, tick: Callable[[float], None] | None) -> Outcome:
        for _ in range(self._plan.players):
            self._comes(self._people.rest() * 4)
        if self._policy.wave:
            self._at(self._policy.wave, self._wave)
        self._at(MINUTE, self._look)
        end, part = self._plan.end, 0
        while self._events and self._events[0][0] <= end:
            self._now, _, happens = heappop(self._events)
            happens()
            if tick and self._now * 20 // end > part:
                part = self._now * 20 // end
                tick(part / 20)
        return self.outcome

    def _at(self, after: int, happens: Callable[[], None]) -> None:
        self._number += 1
        heappush(self._events, (self._now + after, self._number, happens))

    # What people do

    def _comes(self, after: int) -> None:
        person = self._people.newcomer()
        self._at(after, lambda: self._joins(person))

    def _goes_on(self, person: Person) -> None:
        if self._people.goes_home():
            self._met.pop(person.id, None)
            self._comes(self._people.rest())
        else:
            self._at(self._people.rest(), lambda: self._joins(person))

    def _joins(self, person: Person) -> None:
        met = self._met[person.id]
        for other in [other for other, at in met.items() if at < self._now - RECENT]:
            del met[other]
        ticket = Ticket(
            id=f"{self._number:09}",
            player_id=person.id,
            pool="simulation",
            mu=person.mu,
            sigma=person.sigma,
            joined=self._now,
            blocked=frozenset(self._blocked.get(person.id, ())),
            recent=frozenset(met),
        )
        others = [each.ticket for each in self._waiting.values()]
        mine = self._waiting[person.id] = _Waiting(person, ticket)
        if group := self._policy.joined(ticket, others, self._now):
            self._match(group)
            return
        self._tell(mine)
        patience = self._people.patience(person)
        if patience == ENDLESS:
            self._at(ASKED_AGAIN, lambda: self._tell(mine))
        else:
            self._at(patience, lambda: self._gives_up(mine))

    def _gives_up(self, mine: _Waiting) -> None:
        if self._waiting.get(mine.person.id) is mine:
            del self._waiting[mine.person.id]
            wait = self._now - mine.ticket.joined
            self._ended.append(Ended(mine.ticket.mu, wait, False, self._now))
            if self._counts:
                self.outcome.gave_up.append(wait)
            self._goes_on(mine.person)

    # What the pool does

    @property
    def _counts(self) -> bool:
        return self._now > self._plan.warm_up

    def _wave(self) -> None:
        self._at(self._policy.wave, self._wave)
        if len(self._waiting) >= self._plan.size:
            tickets = [each.ticket for each in self._waiting.values()]
            for group in self._policy.waved(tickets, self._now):
                self._match(group)

    def _look(self) -> None:
        self._at(MINUTE, self._look)
        if self._counts:
            self.outcome.waiting.append(len(self._waiting))

    def _match(self, group: Group) -> None:
        found = [self._waiting.pop(ticket.player_id) for ticket in group]
        game = self._people.game()
        repeats = 0
        for a, b in combinations([each.person for each in found], 2):
            repeats += b.id in self._met[a.id]
            self._met[a.id][b.id] = self._met[b.id][a.id] = self._now
            if self._people.blocks():
                self._blocked[a.id].add(b.id)
        waits = tuple(self._now - ticket.joined for ticket in group)
        for each, wait in zip(found, waits, strict=True):
            self._ended.append(Ended(each.ticket.mu, wait, True, self._now))
            if self._counts:
                self.outcome.told += [Told(waited, said, wait) for waited, said in each.told]
            person = each.person
            self._at(game, lambda person=person: self._goes_on(person))  # type: ignore[misc]
        if self._counts:
            ratings = [ticket.mu for ticket in group]
            chance = strongest_chance([(ticket.mu, ticket.sigma) for ticket in group])
            spread = max(ratings) - min(ratings)
            self.outcome.matches.append(Match(waits, spread, chance, repeats))

    def _tell(self, mine: _Waiting) -> None:
        """Note what somebody who never gives up would be told now."""
        if not (self._estimates and self._counts and mine.person.patient):
            return
        if self._waiting.get(mine.person.id) is not mine:
            return
        ticket, limit, now = mine.ticket, self._plan.limit, self._now
        others = [each.ticket for each in self._waiting.values() if each is not mine]
        near = sum(compatible(ticket, other, now, limit) for other in others)
        said = estimate(
            mu=ticket.mu,
            waited=now - ticket.joined,
            now=now,
            ended=self._ended,
            waiting=[(other.mu, now - other.joined) for other in others],
            needed=self._plan.size - 1 - near,
            span=min(limit, RULE.start * 2),
        )
        mine.told.append((now - ticket.joined, said))

"""Who is online in a simulation, and what they do: join, wait, give up, play, rest, go home. Pure.

The figures are assumptions, not measurements: ratings are spread as on servers with many players, a quarter are
newcomers, and people lose patience after some minutes. Compare rules under the same assumptions; do not read the waits
as a promise.
"""

from dataclasses import dataclass
from math import exp, log, sqrt
from random import Random
from typing import Final

MU: Final = 1500.0
SKILL_SPREAD: Final = 300.0
NEWCOMERS: Final = 0.25
SECOND: Final = 1_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
ENDLESS: Final = 10**15


@dataclass(frozen=True, slots=True)
class Plan:
    """One simulation: so many people online at a time, for so long, in a pool for `size` players."""

    players: int
    hours: float = 2.0
    size: int = 2
    limit: float = 500.0
    seed: int = 1
    game: int = 8 * MINUTE
    """Median length of a game, in milliseconds as all durations."""
    rest: int = 45 * SECOND
    """Mean time between two wishes to play."""
    patience: int = 4 * MINUTE
    """Median wait after which somebody gives up."""
    patient: float = 0.1
    """The share of people who never give up: by them estimates are checked."""
    churn: float = 0.15
    """After a game, and after giving up, so many go home; somebody else comes."""
    blocks: float = 0.02
    """The chance that somebody blocks an opponent after a game."""
    warm_up: int = 15 * MINUTE
    """What happens before is not counted."""

    @property
    def end(self) -> int:
        return round(self.hours * HOUR) + self.warm_up


@dataclass(slots=True, eq=False)
class Person:
    """Somebody who is online."""

    id: int
    mu: float
    sigma: float
    patient: bool


class People:
    """Makes people and their choices, all from one seed, so that every rule meets the same crowd at the start."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._dice = Random(f"{plan.seed}:{plan.players}:{plan.size}")
        self._count = 0

    def newcomer(self) -> Person:
        """The next person. A rating is what the system could know of the skill: less of a newcomer's."""
        dice = self._dice
        self._count += 1
        skill = dice.gauss(MU, SKILL_SPREAD)
        sigma = dice.uniform(300, 500) if dice.random() < NEWCOMERS else dice.uniform(60, 160)
        known = SKILL_SPREAD**2 / (SKILL_SPREAD**2 + sigma**2)
        mu = MU + known * (skill - MU) + dice.gauss(0, sigma * sqrt(known) / 2)
        return Person(self._count, mu, sigma, dice.random() < self._plan.patient)

    def rest(self) -> int:
        return round(self._dice.expovariate(1 / self._plan.rest))

    def game(self) -> int:
        return round(self._dice.lognormvariate(log(self._plan.game), 0.35))

    def patience(self, person: Person) -> int:
        wait = round(self._dice.lognormvariate(log(self._plan.patience), 0.6))
        return ENDLESS if person.patient else wait

    def goes_home(self) -> bool:
        return self._dice.random() < self._plan.churn

    def blocks(self) -> bool:
        return self._dice.random() < self._plan.blocks


def strongest_chance(ratings: list[tuple[float, float]], beta: float = 250.0) -> float:
    """The chance of the first place that Plackett and Luce's model gives to the strongest of these (mu, sigma)."""
    scale = sqrt(sum(beta**2 + sigma**2 for _, sigma in ratings))
    top = max(mu for mu, _ in ratings)
    return 1 / sum(exp((mu - top) / scale) for mu, _ in ratings)

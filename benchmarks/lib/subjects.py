"""What benchmarks/rules.py measures: a variant on positions of its random games, one round after another."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean

from benchmarks.lib.positions import Sample, play_out, samples, warm_up
from benchmarks.lib.rounds import cost_us, rate
from games.territory.rules import Position, Variant, parse_move

LIST = "list, masks"
MEASURES: dict[str, Callable[[Sample], object]] = {
    LIST: lambda sample: sample.position.legal().masks(),
    "list, Move objects": lambda sample: list(sample.position.legal()),
    "has_placement": lambda sample: sample.position.has_placement(sample.position.turn or 0),
    "check + advance": lambda sample: sample.position.advance(sample.move),
    "parse_move": lambda sample: parse_move(sample.text, sample.position.variant),
}


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured."""

    rounds: int
    games: int
    """Random games that the positions of a variant are taken from."""
    positions: int
    warm_up: int
    """Random games that are played first, to fill the tables that are made on demand."""
    played: int
    """Random games that are timed in each round."""
    peer_games: int
    seed: int


def first_list_ms(variant: Variant) -> float:
    """What the first list takes in a process, which builds the tables for its board."""
    return cost_us(lambda position: position.legal().masks(), [Position.start(variant)]) / 1e3


class Subject:
    """One variant, its positions, and what each round found."""

    def __init__(self, variant: Variant, plan: Plan) -> None:
        self.variant = variant
        self.plan = plan
        every = samples(variant, games=plan.games, count=plan.positions, seed=plan.seed)
        by_choices = sorted(every, key=lambda sample: sample.choices)
        third = len(every) // 3
        self.samples = every
        self.phases = [[each for each in every if each.phase == phase] for phase in range(3)]
        self.sizes = [by_choices[:third], by_choices[third:-third], by_choices[-third:]]
        """The positions with few, some and many legal moves."""
        self.costs: dict[str, list[float]] = {name: [] for name in MEASURES}
        self.phase_costs: list[list[float]] = [[], [], []]
        self.size_costs: list[list[float]] = [[], [], []]
        self.plies: list[float] = []
        warm_up(variant, plan.warm_up)

    def measure(self, number: int) -> None:
        """One round."""
        for name, work in MEASURES.items():
            self.costs[name].append(cost_us(work, self.samples))
        for groups, costs in ((self.phases, self.phase_costs), (self.sizes, self.size_costs)):
            for group, figures in zip(groups, costs, strict=True):
                figures.append(cost_us(MEASURES[LIST], group))
        seeds = [Random(f"{self.plan.seed} {number} {game}") for game in range(self.plan.played)]
        self.plies.append(rate(lambda chance: play_out(self.variant, chance), seeds))


def choices_of(group: Sequence[Sample]) -> float:
    return fmean(sample.choices for sample in group)

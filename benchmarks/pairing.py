"""The pairing: what one wave over a pool costs, for games of two, three and four, and how it grows.

    python benchmarks/pairing.py            2,500, 5,000 and 10,000 tickets, about two minutes
    python benchmarks/pairing.py --quick    250, 500 and 1,000 tickets

Costs are CPU time of one call of `pair`; garbage is not collected meanwhile. Every answer is checked: nobody twice,
all pairs of a sample compatible, the tickets left over as few as they should be. No time is asserted: the exit status
is 1 only if an answer is wrong.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from random import Random
from statistics import median

sys.path.insert(
    0, str(Path(__file__).resolve().parents[1])
)  # run as a file, the project is not on the path

from benchmarks.lib import machine, report
from benchmarks.lib.crowds import CROWDS, NOW
from benchmarks.lib.rounds import cost_us, exponent, spread
from matchmaking.pairing import compatible, pair
from matchmaking.pairing.groups import SIZES
from matchmaking.tickets import Ticket

LIMIT = 500.0
SAMPLE = 200
BARS = "Bars at 10,000 tickets in games of two: goal < 50 ms, first acceptable < 200 ms; n log n is an exponent of about 1.1."


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured: pools of so many tickets, in so many rounds."""

    sizes: tuple[int, ...]
    rounds: int
    seed: int


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds by number of tickets, a figure a round, and who was left over in the largest pool."""

    crowd: str
    seats: int
    ms: dict[int, list[float]]
    left: int


def measure(plan: Plan) -> tuple[list[Cost], int]:
    """The costs, and how many answers were wrong. Rounds are outermost, so that load from elsewhere meets all."""
    pools = {
        (crowd, size): make(size, Random(plan.seed))
        for crowd, make in CROWDS.items()
        for size in plan.sizes
    }
    costs: dict[tuple[str, int], dict[int, list[float]]] = {
        (crowd, seats): {size: [] for size in plan.sizes} for crowd in CROWDS for seats in SIZES
    }
    for number in range(plan.rounds):
        print(f"round {number + 1} of {plan.rounds}", file=sys.stderr, flush=True)
        for (crowd, size), tickets in pools.items():
            for seats in SIZES:
                wave = partial(pair, now=NOW, size=seats, limit=LIMIT)
                costs[crowd, seats][size].append(cost_us(wave, [tickets]) / 1_000)
    found, wrong = [], 0
    for (crowd, seats), ms in costs.items():
        tickets = pools[crowd, max(plan.sizes)]
        left = check(tickets, seats)
        wrong += left is None
        found.append(Cost(crowd, seats, ms, -1 if left is None else left))
    return found, wrong


def check(tickets: Sequence[Ticket], seats: int) -> int | None:
    """How many are left over; None if the answer is wrong."""
    proposals, rest = pair(tickets, NOW, seats, LIMIT)
    seen = [ticket.id for proposal in proposals for ticket in proposal.tickets]
    seen += [ticket.id for ticket in rest]
    if len(seen) != len(tickets) or len(set(seen)) != len(seen):
        return None
    for proposal in proposals[:SAMPLE]:
        if not all(compatible(a, b, NOW, LIMIT) for a, b in combinations(proposal.tickets, 2)):
            return None
    if any(
        all(compatible(a, b, NOW, LIMIT) for a, b in combinations(group, 2))
        for group in combinations(rest[:24], seats)
    ):
        return None
    return len(rest)


def table(plan: Plan, costs: Sequence[Cost]) -> list[str]:
    """A row for each crowd and number of seats."""
    head = [
        "tickets",
        "games of",
        *(f"{size:,}, ms" for size in plan.sizes),
        "exponent",
        "left over",
    ]
    lines = [head, ["---"] * len(head)]
    for cost in costs:
        grown = exponent((size, median(ms)) for size, ms in cost.ms.items())
        row = [cost.crowd, str(cost.seats), *(spread(ms) for ms in cost.ms.values())]
        lines.append([*row, f"{grown:.2f}", str(cost.left)])
    return [f"| {' | '.join(row)} |" for row in lines]


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="smaller pools, fewer rounds")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other tickets (1)")
    parser.add_argument(
        "--write", action="store_true", help="append the result to benchmarks/results.md"
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write if asked to."""
    options = parse(arguments)
    plan = (
        Plan((250, 500, 1_000), 2, options.seed)
        if options.quick
        else Plan((2_500, 5_000, 10_000), 5, options.seed)
    )
    costs, wrong = measure(plan)
    lines = [
        f"Machine: {machine.describe()}; load {os.getloadavg()[0]:.1f} when it ended.",
        f"Versions: {machine.versions()}.",
        "",
        f"### One wave, {plan.rounds} rounds: median (least–most), CPU time",
        "",
        *table(plan, costs),
        "",
        BARS,
        f"Answers that are wrong: {wrong}.",
    ]
    print("\n".join(lines))
    if options.write:
        print(f"appended to {report.append('Pairing', lines)}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

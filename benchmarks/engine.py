"""The engine: what lists, whole random games, simulations and the moves of each level cost, by phase of the game.

    python benchmarks/engine.py            all variants, some minutes
    python benchmarks/engine.py --quick    few positions and rounds

Costs are CPU time of one process on one core. No time is asserted.
"""

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

sys.path.insert(
    0, str(Path(__file__).resolve().parents[1])
)  # run as a file, the project is not on the path

import numba
import numpy as np

from benchmarks.lib import machine, report
from benchmarks.lib.positions import Sample, samples, warm_up
from benchmarks.lib.rounds import cost_us, exponent, ratio, spread
from bots.engine import Player, kernel, prepare, search
from bots.engine.positions import load
from bots.engine.tables import Tables, tables_of
from bots.levels import LEVELS
from games.territory.rules import VARIANTS, Variant

PHASES = ("early", "middle", "late")
PENTOBI_LIST_US = 1.1
"""A full duo list of Pentobi 31, in C++, as measured on this kind of machine."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured."""

    rounds: int
    games: int
    positions: int
    thoughts: int
    """Positions of each phase that are searched and chosen in."""
    simulations: int
    seed: int


@kernel.compiled
def list_again(state: kernel.State, room: kernel.State, colour: int, times: int) -> int:
    """Make the whole list of a loaded position so many times; loading it is no part of that."""
    found = np.zeros(4096, np.int32)
    count = 0
    for _ in range(times):
        kernel.copy_state(room, state)
        count = kernel.legal_list(room, colour, found)
    return count


@kernel.compiled
def play_again(
    tables: Tables, state: kernel.State, room: kernel.State, luck: kernel.Random, times: int
) -> int:
    """Play so many random games from a position; gives the number of plies."""
    plies = 0
    for _ in range(times):
        kernel.copy_state(room, state)
        search.play_out(tables, room, luck)
        for colour in range(len(state.boards)):
            plies += state.numbers[colour, kernel.HAND] - room.numbers[colour, kernel.HAND]
    return plies


def list_us(sample: Sample, times: int = 20) -> float:
    """Microseconds for one compiled list."""
    position = sample.position
    state, room = load(position), kernel.empty_state(len(position.variant.colours))
    return cost_us(partial(list_again, state, room, position.turn), [times]) / times


def lists(variant: Variant, plan: Plan) -> list[str]:
    """A row for a variant: by phases, the growth with the number of moves, and the pure rules in the same rounds."""
    chosen = samples(variant, games=plan.games, count=plan.positions, seed=plan.seed)
    warm_up(variant, 30)
    list_us(chosen[0])  # compiles it
    compiled: list[float] = []
    pure: list[float] = []
    by_phase: list[list[float]] = [[], [], []]
    grown: list[tuple[float, float]] = []
    for number in range(plan.rounds):
        costs = [list_us(sample) for sample in chosen]
        compiled.append(sum(costs) / len(costs))
        pure.append(cost_us(lambda sample: sample.position.legal().masks(), chosen))
        for phase in range(3):
            these = [c for c, s in zip(costs, chosen, strict=True) if s.phase == phase]
            by_phase[phase].append(sum(these) / len(these))
        if number == 0:
            order = sorted(zip(chosen, costs, strict=True), key=lambda pair: pair[0].choices)
            third = len(order) // 3
            for begin in (0, third, 2 * third):
                part = order[begin : begin + third]
                grown.append(
                    (sum(s.choices for s, _ in part) / third, sum(c for _, c in part) / third)
                )
    return [
        variant.key,
        spread(compiled, 2),
        *(f"{median(costs):.2f}" for costs in by_phase),
        f"{exponent(grown):.2f}",
        ratio(pure, compiled),
    ]


def thinking(variant: Variant, plan: Plan) -> tuple[list[str], list[str]]:
    """Two rows for a variant: random games and simulations a second by phase, and milliseconds a move of each level."""
    chosen = samples(variant, games=plan.games, count=plan.positions, seed=plan.seed)
    tables, luck = tables_of(variant), np.array([1], np.uint64)
    rates: list[str] = []
    spent: dict[str, list[float]] = {level: [] for level in LEVELS[:-1]}
    plies = 0.0
    for phase in range(3):
        part = [sample for sample in chosen if sample.phase == phase][: plan.thoughts]
        games, simulations = [], []
        for sample in part:
            state = load(sample.position)
            room = kernel.empty_state(len(state.boards))
            again = partial(play_again, tables, state, room, luck)
            cost = cost_us(again, [200]) / 200
            games.append(1e6 / cost)
            if phase == 0:
                plies += again(200) / 200 / cost / len(part) * 1e6
            mind = Player("expert", seed=1, simulations=plan.simulations)
            took = cost_us(mind.choose, [sample.position])
            done = mind.last.simulations if mind.last else 0
            simulations.append(done / took * 1e6)
            for level, costs in spent.items():
                player = Player(level, seed=1)
                costs.append(cost_us(player.choose, [sample.position]) / 1000)
        rates += [f"{median(games):,.0f}", f"{median(simulations):,.0f}"]
    moves = [
        f"{np.percentile(costs, 50):.2f} / {np.percentile(costs, 95):.2f}"
        for costs in spent.values()
    ]
    return [variant.key, *rates, f"{plies:,.0f}"], [variant.key, *moves]


def start_seconds() -> float:
    """How long a process needs to have everything compiled at hand, when it was compiled before."""
    program = (
        "import time; t = time.perf_counter(); from bots.engine import prepare; prepare(); "
        "print(time.perf_counter() - t)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return float(ran.stdout)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(row)} |" for row in lines]


def say(text: str) -> None:
    """Progress, apart from the result."""
    print(text, file=sys.stderr, flush=True)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few positions and rounds, for a look")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other games (1)")
    parser.add_argument(
        "--write", action="store_true", help="append the result to benchmarks/results.md"
    )
    return parser.parse_args(arguments)


def main() -> int:
    """Measure, print, and write if asked to."""
    options = parse()
    quick = options.quick
    plan = Plan(3 if quick else 7, 6 if quick else 20, 60 if quick else 300, 4 if quick else 12,
                2_000 if quick else 10_000, options.seed)  # fmt: skip
    say("compiling, or loading what is compiled")
    prepare()
    listed, rated, moved = [], [], []
    for variant in VARIANTS.values():
        say(f"{variant.key}: lists")
        listed.append(lists(variant, plan))
        say(f"{variant.key}: games, simulations, levels")
        rates, moves = thinking(variant, plan)
        rated.append(rates)
        moved.append(moves)
    phases = [f"{what}, {phase}" for phase in PHASES for what in ("games/s", "simulations/s")]
    lines = [
        f"Machine: {machine.describe()}; load {os.getloadavg()[0]:.1f} when it ended.",
        f"Versions: Python {platform.python_version()}, numba {numba.__version__}, numpy {np.__version__}.",
        "",
        f"### A full list of legal placements, µs ({plan.positions} positions, {plan.rounds} rounds)",
        "",
        *table(["variant", "all", *PHASES, "exponent in moves", "pure rules / compiled"], listed),
        "",
        f"Pentobi 31 takes {PENTOBI_LIST_US} µs for duo. Bars: at most 3 times that, first acceptable 8 times.",
        "",
        f"### Random games and simulations a second ({plan.simulations:,} simulations from nothing)",
        "",
        *table(["variant", *phases, "random plies/s, early"], rated),
        "",
        "### Milliseconds a move, p50 / p95",
        "",
        *table(["variant", *LEVELS[:-1]], moved),
        "",
        f"A process has all compiled code at hand after {start_seconds():.1f} s, if it was compiled before.",
    ]
    print("\n".join(lines))
    if options.write:
        say(f"appended to {report.append('Engine', lines)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

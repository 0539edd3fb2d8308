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
from typing import TypeAlias

sys.path.insert(
    0, str(Path(__file__).resolve().parents[1])
)  # run as a file, the project is not on the path

import numba
import numpy as np
from numpy.typing import NDArray

from benchmarks.lib import machine, report
from benchmarks.lib.positions import Sample, samples, warm_up
from benchmarks.lib.rounds import cost_us, exponent, ratio, spread
from bots.engine import Player, kernel, prepare, search, solo
from bots.engine.positions import load
from bots.engine.tables import Tables, tables_of
from bots.levels import LEVELS
from games.territory.rules import VARIANTS, Position, Variant

Placements: TypeAlias = NDArray[np.int64]
"""(plies, 2) The colour and the placement of each ply."""
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
def list_each(states: kernel.State, room: kernel.State, times: int) -> int:
    """Make the whole lists of loaded positions, one after the other, so many times; loading is no part of that."""
    found = np.zeros(4096, np.int32)
    count = 0
    for _ in range(times):
        for i in range(len(states.numbers)):
            state = kernel.State(
                states.boards[i], states.attach[i], states.lists[0], states.numbers[i]
            )
            kernel.copy_state(room, state)
            count += kernel.legal_list(room, state.numbers[-1, kernel.TURN], found)
    return count


@kernel.compiled
def record_game(tables: Tables, state: kernel.State, luck: kernel.Random, into: Placements) -> int:
    """Play any legal placements at random to the end, and write them down; gives how many there were."""
    found = np.zeros(4096, np.int32)
    colours = len(state.boards)
    plies, idle, colour = 0, 0, 0
    while idle < colours:
        count = kernel.legal_list(state, colour, found)
        if count > 0:
            into[plies, 0], into[plies, 1] = colour, found[kernel.below(luck, count)]
            kernel.put(state, colour, into[plies, 1])
            plies += 1
            idle = -1
        idle += 1
        colour = (colour + 1) % colours
    return plies


@kernel.compiled
def replay(
    root: kernel.State, room: kernel.State, record: Placements, lists: int, times: int
) -> int:
    """Play a recorded game so many times, with the list of whoever moves before each ply or without."""
    found = np.zeros(4096, np.int32)
    count = 0
    for _ in range(times):
        kernel.copy_state(room, root)
        for ply in range(len(record)):
            if lists:
                count += kernel.legal_list(room, record[ply, 0], found)
            kernel.put(room, record[ply, 0], record[ply, 1])
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


def list_us(part: Sequence[Sample], times: int = 20) -> float:
    """Microseconds for one compiled list of a loaded position; none follows itself."""
    states = [load(sample.position) for sample in part]
    together = kernel.State(
        np.stack([state.boards for state in states]),
        np.stack([state.attach for state in states]),
        np.stack([states[0].lists]),
        np.stack([state.numbers for state in states]),
    )
    room = kernel.empty_state(len(states[0].boards))
    return cost_us(partial(list_each, together, room), [times]) / times / len(part)


def kept_list_us(variant: Variant, seed: int, times: int = 20) -> float:
    """Microseconds for one list in the course of a game at random, in which the lists are kept from ply to ply.

    It is what a game with a list before each ply takes longer than the same game without.
    """
    root = load(Position.start(variant))
    room, other = kernel.empty_state(len(root.boards)), load(Position.start(variant))
    record = np.zeros((200, 2), np.int64)
    plies = record_game(tables_of(variant), other, np.array([2 * seed + 1], np.uint64), record)
    with_lists, without = (
        cost_us(partial(replay, root, room, record[:plies], lists), [times]) for lists in (1, 0)
    )
    return (with_lists - without) / (times * int(plies))


def lists(variant: Variant, plan: Plan) -> list[str]:
    """A row for a variant: by phases, the growth with the number of moves, and the pure rules in the same rounds."""
    chosen = samples(variant, games=plan.games, count=plan.positions, seed=plan.seed)
    warm_up(variant, 30)
    list_us(chosen)  # compiles it
    kept_list_us(variant, 0)
    kept: list[float] = []
    compiled: list[float] = []
    pure: list[float] = []
    phases = [[sample for sample in chosen if sample.phase == phase] for phase in range(3)]
    by_phase: list[list[float]] = [[], [], []]
    for _ in range(plan.rounds):
        compiled.append(list_us(chosen))
        pure.append(cost_us(lambda sample: sample.position.legal().masks(), chosen))
        games = [kept_list_us(variant, game) for game in range(plan.games)]
        kept.append(sum(games) / len(games))
        for costs, part in zip(by_phase, phases, strict=True):
            costs.append(list_us(part))
    order, third = sorted(chosen, key=lambda sample: sample.choices), len(chosen) // 3
    grown: list[tuple[float, float]] = []
    for begin in (0, third, 2 * third):
        part = order[begin : begin + third]
        grown.append((sum(sample.choices for sample in part) / third, list_us(part)))
    return [
        variant.key,
        spread(compiled, 2),
        *(f"{median(costs):.2f}" for costs in by_phase),
        spread(kept, 2),
        f"{exponent(grown):.2f}",
        ratio(pure, compiled),
    ]


def is_solo(sample: Sample) -> bool:
    """Whether only one seat can still place something: such a position is solved, not simulated."""
    found = np.zeros(4096, np.int32)
    position = sample.position
    return int(solo.alone(tables_of(position.variant), load(position), found)) >= 0


def thinking(variant: Variant, plan: Plan) -> tuple[list[str], list[str]]:
    """Two rows for a variant: random games and simulations a second by phase, and milliseconds a move of each level."""
    chosen = samples(variant, games=plan.games, count=plan.positions, seed=plan.seed)
    tables, luck = tables_of(variant), np.array([1], np.uint64)
    rates: list[str] = []
    spent: dict[str, list[float]] = {level: [] for level in LEVELS[:-1]}
    plies = 0.0
    for phase in range(3):
        part = [sample for sample in chosen if sample.phase == phase and not is_solo(sample)]
        part = part[: plan.thoughts]
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
        *table(
            [
                "variant",
                "from nothing",
                *PHASES,
                "kept in a game",
                "exponent in moves",
                "pure rules / compiled",
            ],
            listed,
        ),
        "",
        "From nothing: of a position that was just loaded. Kept: of a state that plays a game and adds to its lists",
        "what each ply makes possible, as the state of a search does. Both give every legal placement.",
        f"Pentobi 31, which keeps its lists, takes {PENTOBI_LIST_US} µs for duo. Bars: at most 3 times that, first",
        "acceptable 8 times.",
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

"""The rules: what lists of legal moves, checks and whole random games cost, and how blokus-rl compares in the same run.

    python benchmarks/rules.py                 nine rounds, all variants and peers, about two minutes
    python benchmarks/rules.py --quick         three short rounds
    python benchmarks/rules.py --peers none    without blokus-rl, which is fetched into a cache outside the project

Costs are CPU time of one process. Positions are spread over whole random games that the seed decides. No time is
asserted: the exit status is 1 only if blokus-rl finds other moves or scores than we do.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(
    0, str(Path(__file__).resolve().parents[1])
)  # run as a file, the project is not on the path

from benchmarks.lib import machine, pypi, report
from benchmarks.lib.contender import UnavailableError
from benchmarks.lib.recorded import PROJECT
from benchmarks.lib.rules_report import cold_line, duel_lines, lines_of
from benchmarks.lib.subjects import Plan, Subject, first_list_ms
from games.territory.rules import VARIANTS

DUO = VARIANTS["duo"]
GROWING = tuple(replace(DUO, key=f"duo on {size}×{size}", size=size) for size in (14, 20, 26))
"""The same colours, pieces and first cells on three sizes of board."""


def measure(plan: Plan) -> tuple[list[Subject], list[Subject]]:
    """All rounds of all variants, one after another in each round; and those of the growing board."""
    variants = [Subject(variant, plan) for variant in VARIANTS.values()]
    growing = [Subject(variant, plan) for variant in GROWING]
    for number in range(plan.rounds):
        say(f"round {number + 1} of {plan.rounds}")
        for subject in (*variants, *growing):
            subject.measure(number)
    return variants, growing


def duel(plan: Plan) -> tuple[dict[str, Any], str]:
    """The rounds against blokus-rl and its version; raises `UnavailableError`."""
    say("installing blokus-rl, unless it is in the cache")
    python, version = pypi.install("blokus_rl")
    say(f"{plan.rounds} rounds against blokus-rl")
    program = PROJECT / "benchmarks" / "peers" / "blokus_rl" / "duel.py"
    ran = subprocess.run(
        [
            str(python),
            str(program),
            *map(str, (plan.peer_games, plan.warm_up, plan.rounds, plan.seed)),
        ],
        env=os.environ | {"PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise UnavailableError(f"its program ended with {ran.returncode}: {ran.stderr[-300:]}")
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found, version


def say(text: str) -> None:
    """Progress, apart from the result."""
    print(text, file=sys.stderr, flush=True)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few positions and rounds, for a look")
    parser.add_argument("--rounds", type=int, help="rounds (9; quick 3)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other games (1)")
    parser.add_argument("--peers", choices=("all", "none"), default="all", help="all, or none")
    parser.add_argument(
        "--write", action="store_true", help="append the result to benchmarks/results.md"
    )
    return parser.parse_args(arguments)


def plan_of(options: argparse.Namespace) -> Plan:
    quick = options.quick
    return Plan(
        rounds=options.rounds or (3 if quick else 9),
        games=10 if quick else 50,
        positions=150 if quick else 1000,
        warm_up=30 if quick else 100,
        played=4 if quick else 20,
        peer_games=4 if quick else 20,
        seed=options.seed,
    )


def main() -> int:
    """Measure, print, and write if asked to."""
    options = parse()
    plan = plan_of(options)
    cold = [(key, first_list_ms(VARIANTS[key])) for key in ("duo", "classic")]
    lines = [*lines_of(plan, *measure(plan)), "", cold_line(cold, plan)]
    versions, sound = f"Python {platform.python_version()}", True
    if options.peers == "all":
        lines += ["", "### blokus-rl in the same run, rounds alternating", ""]
        try:
            found, version = duel(plan)
        except UnavailableError as error:
            lines.append(f"blokus-rl was not measured: {error}")
        else:
            lines += duel_lines(found)
            versions += f"; {version}"
            sound = not found["disagreements"]
    lines = [
        f"Machine: {machine.describe()}; load {os.getloadavg()[0]:.1f} when it ended.",
        f"Versions: {versions}.",
        "",
        *lines,
    ]
    print("\n".join(lines))
    if options.write:
        say(f"appended to {report.append('Rules', lines)}")
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())

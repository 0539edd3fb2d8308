"""The levels against each other: each against the one below it, in matches of the arena, duo and classic.

    python benchmarks/levels.py                        200 games a pair, most of an hour on two cores
    python benchmarks/levels.py --quick                a few games a pair, for a look
    python benchmarks/levels.py --folder matches       keep the games there; started again, play only what is missing

Duo has win rates; with more seats one of the stronger level plays the others, and its part of the first places is to be
held against the even share. The strongest level has --simulations a move here, not its whole second: so the matches
can be had again, on any machine, however busy.
"""

import argparse
import os
import platform
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(
    0, str(Path(__file__).resolve().parents[1])
)  # run as a file, the project is not on the path

from benchmarks.lib import machine, report
from bots.arena import Contestant, Game, Match, Tally, elo, percentile, wilson
from bots.levels import LEVELS
from bots.management.matches import play_match
from bots.management.results import Results
from common.workers import whole_number
from games.territory.rules import VARIANTS

HEAD = (
    "| variant | level | against | games | won, drawn, lost | rate (95 %) | even share | Elo (95 %) "
    "| points a game | ms a move, p50 / p95 |"
)


def match_of(variant: str, a: str, b: str, simulations: int, seed: int) -> Match:
    """The match of two levels; only one that searches is bounded by simulations."""

    def text(level: str) -> str:
        return str(Contestant(level, simulations=simulations if level == LEVELS[-1] else None))

    return Match(variant, text(a), text(b), seed)


def played(match: Match, games: int, jobs: int, folder: Path) -> Tally:
    """Play what is missing in the folder, and count it all."""
    file = Results(folder / f"{match.variant}-{match.a}-{match.b}.jsonl", match, Game)
    tally = Tally()
    play_match(match, games, tally, jobs=jobs, file=file)
    return tally


def row(match: Match, tally: Tally) -> str:
    """What came of a match."""
    low, high = wilson(tally.rate, tally.games)
    losses = tally.games - tally.wins - tally.draws
    seats = VARIANTS[match.variant].seats
    gained = f"{elo(tally.rate):+.0f} ({elo(low):+.0f} to {elo(high):+.0f})" if seats == 2 else "–"
    times = [percentile(tally.seconds["a"], part) * 1000 for part in (0.5, 0.95)]
    cells = [
        match.variant,
        match.a,
        match.b if seats == 2 else f"{seats - 1} × {match.b}",
        str(tally.games),
        f"{tally.wins}, {tally.draws}, {losses}",
        f"{tally.rate:.1%} ({low:.1%}–{high:.1%})",
        f"{1 / seats:.0%}",
        gained,
        f"{tally.margin / tally.games:+.1f}",
        f"{times[0]:.1f} / {times[1]:.1f}",
    ]
    return f"| {' | '.join(cells)} |"


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="8 games a pair, 300 simulations")
    parser.add_argument("--games", type=whole_number, default=200, help="games a pair (200)")
    parser.add_argument("--variants", nargs="+", choices=list(VARIANTS), default=["duo", "classic"])
    parser.add_argument(
        "--simulations", type=whole_number, default=4000, help="of the strongest level (4,000)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of all chance (1)")
    parser.add_argument("--jobs", type=whole_number, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--folder", type=Path, help="keep the games here, a file a match")
    parser.add_argument(
        "--write", action="store_true", help="append the result to benchmarks/results.md"
    )
    return parser.parse_args(arguments)


def measure(options: argparse.Namespace, folder: Path) -> list[str]:
    """All matches, the quick ones first."""
    games = 8 if options.quick else options.games
    simulations = 300 if options.quick else options.simulations
    rows = []
    for below, level in pairwise(LEVELS):
        for variant in options.variants:
            match = match_of(variant, level, below, simulations, options.seed)
            print(f"{variant}: {match.a} against {match.b}", file=sys.stderr, flush=True)
            rows.append(row(match, played(match, games, options.jobs, folder)))
    return [
        f"Machine: {machine.describe()}; load {os.getloadavg()[0]:.1f} when it ended.",
        f"Python {platform.python_version()}.",
        "",
        HEAD,
        "|---" * (HEAD.count("|") - 1) + "|",
        *rows,
        "",
        "First pieces are placed at random; each opening is played once from every seat.",
    ]


def main() -> int:
    """Measure, print, and write if asked to."""
    options = parse()
    if options.folder:
        options.folder.mkdir(parents=True, exist_ok=True)
        lines = measure(options, options.folder)
    else:
        with TemporaryDirectory() as folder:
            lines = measure(options, Path(folder))
    print("\n".join(lines))
    if options.write:
        print(f"appended to {report.append('Levels', lines)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())

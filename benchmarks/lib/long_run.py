"""What a placement of a long run costs early and late: by the rules, and as a whole transaction of the service.

Run as a program of its own (`python -m benchmarks.lib.long_run --sizes 50,500 --window 40 --rounds 2 --tag r1`): it
needs Django. Prints one JSON object: for each measure, and each size, the figure of each round.
"""

import argparse
import json
import os
import sys
import time
from statistics import median

import django

from benchmarks.lib.placements import LONG, Sample, played, wish
from benchmarks.lib.rounds import cost_us
from benchmarks.lib.seed_runs import seed_of

RULES = "rules, CPU µs"
SERVICE = "service, ms"
SNAPSHOT = "snapshot, ms"
ANSWER = "answer, bytes"
ROW = "row's state, bytes"
MEASURES = (RULES, SERVICE, SNAPSHOT, ANSWER, ROW)


def main() -> None:
    """Parse the arguments, play, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", required=True, help="placements, such as 50,500,5000")
    parser.add_argument("--window", type=int, required=True, help="placements measured before each")
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--tag", required=True, help="makes the players' names unique, such as r1")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    sizes = [int(size) for size in options.sizes.split(",")]
    samples = list(played(LONG, seed_of(1), max(sizes)))
    if len(samples) < max(sizes):
        sys.exit(f"the run ended after {len(samples)} placements")
    found: dict[str, dict[int, list[float]]] = {
        name: {size: [] for size in sizes} for name in MEASURES
    }
    for number in range(options.rounds):
        print(f"long run, round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
        play(f"{options.tag}-{number}", samples, found, options.window)
    json.dump(found, sys.stdout)


def play(
    name: str, samples: list[Sample], found: dict[str, dict[int, list[float]]], window: int
) -> None:
    """One run, from its start to its last placement."""
    from accounts.services.people import create_player
    from games.puzzle import selectors
    from games.puzzle.models import Run
    from games.puzzle.services import begin, play

    player = create_player(name=name).pk
    run = begin.start_run(player_id=player, chosen=LONG, seed=seed_of(1))
    for size, figures in found[SERVICE].items():
        turn = Run.objects.get(id=run).turn
        spent, looks, note = [], [], None
        for sample in samples[turn:size]:
            began = time.perf_counter()
            note = play.place(run_id=run, player_id=player, **wish(sample))
            spent.append(time.perf_counter() - began)
            if len(spent) > size - turn - window:
                began = time.perf_counter()
                selectors.load_snapshot(run)
                looks.append(time.perf_counter() - began)
        assert note is not None
        figures.append(median(spent[-window:]) * 1e3)
        found[SNAPSHOT][size].append(median(looks) * 1e3)
        found[RULES][size].append(cost_us(Sample.play, samples[size - window : size]))
        found[ANSWER][size].append(len(note.payload))
        found[ROW][size].append(len(Run.objects.get(id=run).state))


if __name__ == "__main__":
    main()

"""Put players with tokens and runs of known seeds into the product's database, through its services.

Run as a program of its own (`python -m benchmarks.lib.seed_runs --runs 50 --seeds 8 --tag r1`), because it needs
Django; prints one JSON object: `{"runs": [{"token": …, "run": id, "seed": number of the seed}, …]}`.
"""

import argparse
import json
import os
import sys

import django


def seed_of(number: int) -> bytes:
    """The seed of this number."""
    return number.to_bytes(32, "big")


def main() -> None:
    """Parse the arguments, seed, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, required=True, help="players, each with a run")
    parser.add_argument("--seeds", type=int, required=True, help="different seeds among them")
    parser.add_argument("--tag", required=True, help="makes the players' names unique, such as r1")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()

    from accounts.services.people import create_player
    from accounts.services.tokens import issue_token
    from benchmarks.lib.placements import LONG
    from games.puzzle.services.begin import start_run

    runs = []
    for number in range(options.runs):
        player = create_player(name=f"{options.tag}-{number}").pk
        _, token = issue_token(player_id=player, scopes=["puzzle"])
        seed = number % options.seeds
        run = start_run(player_id=player, chosen=LONG, seed=seed_of(seed))
        runs.append({"token": token, "run": run, "seed": seed})
    json.dump({"runs": runs}, sys.stdout)


if __name__ == "__main__":
    main()

"""Put players, tokens and waiting games into the product's database, through its services.

Run as a program of its own (`python -m benchmarks.lib.seed --tables 200 --games 20`), because it needs Django; prints
one JSON object: `{"tables": [{"tokens": [first, second], "games": [id, …]}, …]}`.
"""

import argparse
import json
import os
import sys

import django


def main() -> None:
    """Parse the arguments, seed, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, required=True, help="pairs of players")
    parser.add_argument("--games", type=int, required=True, help="waiting games for each pair")
    parser.add_argument("--tag", required=True, help="makes the players' names unique, such as r1")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    tables = [_table(options.tag, number, options.games) for number in range(options.tables)]
    json.dump({"tables": tables}, sys.stdout)


def _table(tag: str, number: int, games: int) -> dict[str, list[str]]:
    """One pair and its games. Correspondence games, so that no clock ends while they wait."""
    from django.db import transaction

    from accounts.services.people import create_player
    from accounts.services.tokens import issue_token
    from common.clock import now_ms
    from games.territory.rules import TimeControl
    from games.territory.services.start import SeatPlan, start_game

    with transaction.atomic():
        players = [create_player(name=f"{tag}-{number}-{seat}").pk for seat in range(2)]
        tokens = [issue_token(player_id=player, scopes=["play"])[1] for player in players]
        ids = [
            start_game(
                variant="duo",
                time_control=TimeControl.correspondence(14),
                seats=[SeatPlan(player) for player in players],
                rated=False,
                pool=None,
                matched=False,
                now=now_ms(),
            )
            for _ in range(games)
        ]
    return {"tokens": tokens, "games": ids}


if __name__ == "__main__":
    main()

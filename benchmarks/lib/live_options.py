"""The sizes and the command line of live_path.py."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured. Seconds."""

    rounds: int
    games: int
    paced_games: int
    warm_up: float
    seconds: float
    paced_seconds: float
    prepared: int
    """Games that wait for each pair in the closed loop."""


def parse(
    description: str, peers: Sequence[str], arguments: Sequence[str] | None = None
) -> argparse.Namespace:
    """The command line; `peers` are the names to choose from."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one short round, for a look")
    parser.add_argument("--rounds", type=int, help="rounds of each server (3)")
    parser.add_argument("--peers", default="all", help="all, none, or names: " + ",".join(peers))
    parser.add_argument(
        "--only", help="measure only these: relay, kado and peers' names, comma-separated"
    )
    parser.add_argument("--games", type=int, default=200, help="games in the closed loop (200)")
    parser.add_argument(
        "--paced-games", type=int, default=1000, help="paced games; 0 leaves them out (1000)"
    )
    parser.add_argument("--prepared", type=int, help="waiting games for each pair (24; quick 12)")
    parser.add_argument("--seconds", type=float, help="length of a closed-loop window (8; quick 4)")
    parser.add_argument(
        "--profile",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="also sample one web process with py-spy, in a window that does not count",
    )
    parser.add_argument("--native", action="store_true", help="let py-spy see C functions too")
    parser.add_argument(
        "--write", action="store_true", help="append the result to benchmarks/results.md"
    )
    return parser.parse_args(arguments)


def plan_of(options: argparse.Namespace) -> Plan:
    """The sizes that the options ask for."""
    quick = options.quick
    return Plan(
        rounds=options.rounds or (1 if quick else 3),
        games=options.games,
        paced_games=options.paced_games,
        warm_up=1.5 if quick else 3.0,
        seconds=options.seconds or (4.0 if quick else 8.0),
        paced_seconds=8.0 if quick else 20.0,
        prepared=options.prepared or (12 if quick else 24),
    )

"""The arguments of commands that bound how long a player thinks."""

from argparse import ArgumentTypeError
from math import inf

from django.core.management.base import CommandParser

from common.workers import whole_number


def add_budget(parser: CommandParser) -> None:
    """`--seconds` or `--simulations`, not both."""
    budget = parser.add_mutually_exclusive_group()
    budget.add_argument(
        "--seconds", metavar="S", type=_seconds, help="a searching level thinks so long on a move"
    )
    budget.add_argument(
        "--simulations",
        metavar="N",
        type=whole_number,
        help="it plays so many games out for a move instead, however long that takes",
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds < inf:
        raise ArgumentTypeError(f"{text!r} is not a number of seconds above 0.")
    return seconds

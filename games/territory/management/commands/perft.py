"""`manage.py perft`: count move sequences from the empty board, the usual proof of a move generator."""

import sys
import time
from argparse import ArgumentTypeError
from collections import Counter
from functools import partial
from typing import Any

from django.core.management.base import CommandParser

from common.workers import ParallelCommand, on_each, watched
from games.territory.proofs import KNOWN_COUNTS, perft
from games.territory.rules import VARIANTS, Position

EXAMPLES = """\
  python manage.py perft duo 3                   some seconds: 89204762
  python manage.py perft junior 2 --divide       the count behind every first move
  python manage.py perft junior 2 --divide piece
  python manage.py perft duo 3 && echo proved    the exit status tells whether the count is the known one
"""


class Command(ParallelCommand):
    help = (
        "Count the sequences of DEPTH legal placements from the empty board. The count is the last line of the "
        "output. Exit status: 0 if it is the known count or none is known, 1 if it differs, 2 for a wrong call."
    )
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "variant", metavar="VARIANT", choices=list(VARIANTS), help=", ".join(VARIANTS)
        )
        parser.add_argument("depth", metavar="DEPTH", type=_depth, help="placements, from 0")
        parser.add_argument(
            "--divide",
            nargs="?",
            const="move",
            choices=("move", "piece"),
            help="also show the count behind every first move (the default) or first piece",
        )
        super().add_arguments(parser)

    def handle(
        self,
        *args: Any,
        variant: str,
        depth: int,
        jobs: int,
        divide: str | None = None,
        **options: Any,
    ) -> None:
        began = time.monotonic()
        start = Position.start(VARIANTS[variant])
        first = list(start.legal()) if depth else []
        behind = on_each(partial(perft, depth=depth - 1), map(start.play, first), jobs=jobs)
        counts = list(watched(behind, len(first), "first moves"))
        count = sum(counts) if depth else 1
        if divide:
            parts: Counter[str] = Counter()
            for move, number in zip(first, counts, strict=True):
                parts[move.piece if divide == "piece" else f"{move.piece} {move.text}"] += number
            for name, number in parts.items():
                self.stdout.write(f"{name}: {number}")
        self.stdout.write(str(count))
        known = KNOWN_COUNTS[variant]
        expected = known[depth] if depth < len(known) else None
        if expected is None:
            verdict = "No count is known for this depth."
        elif count == expected:
            verdict = "This is the known count."
        else:
            verdict = f"This is wrong: the known count is {expected}."
        self.stderr.write(f"{time.monotonic() - began:.1f} s. {verdict}", str)
        if expected not in (None, count):
            sys.exit(1)


def _depth(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} is not a whole number from 0.")
    return int(text)

"""`manage.py gtp`: let another program ask a CPU player for moves."""

import os
import sys
from io import TextIOWrapper
from typing import Any

from django.core.management.base import CommandParser

from bots.levels import LEVELS
from bots.management.budget import add_budget
from common.workers import PatientCommand
from games.territory.rules import VARIANTS

EXAMPLES = """\
  printf 'set_game Blokus Duo\\ngenmove b\\nshowboard\\nquit\\n' | python manage.py gtp
  python manage.py gtp --variant classic --level advanced      and type list_commands
  python manage.py gtp --level expert --simulations 1000 --seed 1     the same moves each time
"""


class Command(PatientCommand):
    help = (
        "Answer the commands of the Go Text Protocol, as Pentobi's engine does: a command a line on standard input, "
        "answers on standard output. It ends with `quit` or the end of the input. The first start compiles the engine."
    )
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--variant", choices=list(VARIANTS), default="duo", help="the first game (%(default)s)"
        )
        parser.add_argument(
            "--level", choices=LEVELS, default=LEVELS[-1], help="who plays (%(default)s)"
        )
        add_budget(parser)
        parser.add_argument("--seed", metavar="N", type=int, help="makes chance repeatable")

    def handle(
        self,
        *args: Any,
        variant: str,
        level: str,
        seconds: float | None = None,
        simulations: int | None = None,
        seed: int | None = None,
        **options: Any,
    ) -> None:
        from bots.engine import prepare
        from bots.gtp import Session

        prepare()
        session = Session(
            VARIANTS[variant], level, seed=seed, seconds=seconds, simulations=simulations
        )
        assert isinstance(sys.stdin, TextIOWrapper)
        # Only a line feed ends a line; a carriage return before it is passed over like other control characters.
        sys.stdin.reconfigure(encoding="utf-8", errors="replace", newline="\n")
        try:
            for line in sys.stdin:
                self.stdout.write(session.answer(line), ending="")
                self.stdout.flush()
                if session.has_ended:
                    return
        except BrokenPipeError:
            # Nobody reads any more. What is still to be written at the exit goes nowhere.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

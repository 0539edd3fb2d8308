"""`manage.py play_puzzle`: the block puzzle in a terminal."""

import os
import secrets
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.commands import ExampleCommand
from games.puzzle.management.keys import play_keys
from games.puzzle.management.lines import play_lines
from games.puzzle.management.session import Session
from games.puzzle.rules import BOARDS, SEED_BYTES, Rules, WrongRulesError, seed_hash
from games.puzzle.rules.rules import DEALINGS, SHAPES, UNDOS

EXAMPLES = """\
  python manage.py play_puzzle                                      easy, on 10x10
  python manage.py play_puzzle --level hard --board 8x8 --undo once
  python manage.py play_puzzle --level custom --rotation on --dealing random --shapes mostly-big
  python manage.py play_puzzle --save run.json                      replay_run run.json checks it
  printf '1 a1\\n2 e5\\nq\\n' | python manage.py play_puzzle --seed "$(printf '0%.0s' {1..64})"
"""
LEVELS = ("easy", "normal", "hard", "custom")


class Command(ExampleCommand):
    help = (
        "Play the block puzzle: 1-3 pick a block, arrows move it, R turns it, Space or Enter places it, U takes the "
        "latest placement back, Q quits. Where input or output is no terminal, it goes by lines of text. "
        "Exit status: 0 after a run, 2 if there are no such rules or the record cannot be written."
    )
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--level", choices=LEVELS, default="easy", help="(easy)")
        parser.add_argument("--board", choices=list(BOARDS), default="10x10", help="(10x10)")
        parser.add_argument(
            "--undo", choices=UNDOS, default="off", help="take one placement back (off)"
        )
        parser.add_argument(
            "--rotation", choices=("on", "off"), help="custom only, like the next two"
        )
        parser.add_argument("--dealing", choices=DEALINGS)
        parser.add_argument("--shapes", choices=SHAPES)
        parser.add_argument(
            "--seed",
            type=_seed,
            metavar="HEX",
            help=f"{2 * SEED_BYTES} digits, for the same blocks again",
        )
        parser.add_argument(
            "--save", type=Path, metavar="FILE", help="keep the record here, from the start on"
        )

    def handle(
        self,
        *args: Any,
        seed: bytes | None,
        save: Path | None,
        rotation: str | None,
        **options: Any,
    ) -> None:
        chosen = {name: options[name] for name in ("level", "board", "undo", "dealing", "shapes")}
        try:
            rules = Rules.of(**chosen, rotation=None if rotation is None else rotation == "on")
        except WrongRulesError as error:
            raise CommandError(str(error), returncode=2) from error
        session = Session(rules, seed or secrets.token_bytes(SEED_BYTES), save)
        self._say(f"The hash of the seed is {seed_hash(session.seed)}.\n")
        colour = self.stdout.isatty() and not os.environ.get("NO_COLOR")
        try:
            if sys.stdin.isatty() and self.stdout.isatty():
                play_keys(session, sys.stdin.fileno(), self._say, colour=colour)
            else:
                lines = (line.decode(errors="replace") for line in sys.stdin.buffer)
                play_lines(session, lines, self._say, colour=colour)
        except KeyboardInterrupt:
            pass
        session.save("abandoned")
        self._say(f"The seed was {session.seed.hex()}.\n")

    def _say(self, text: str) -> None:
        self.stdout.write(text, ending="")
        self.stdout.flush()


def _seed(text: str) -> bytes:
    seed = bytes.fromhex(text)
    if len(seed) != SEED_BYTES:
        raise ValueError("too short or too long")
    return seed

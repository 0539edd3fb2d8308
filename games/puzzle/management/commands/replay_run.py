"""`manage.py replay_run`: play recorded runs again and say whether what the records tell is true."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from common.commands import ExampleCommand
from games.puzzle.rules import RecordError, Replay, TakeBack, read_json, replay

EXAMPLES = """\
  python manage.py replay_run run.json              the score, or what is not true of it
  python manage.py replay_run runs/*.json           several; the worst of them sets the exit status
"""


class Command(ExampleCommand):
    help = (
        "Play runs of the block puzzle again from their seeds: every block that was dealt, every placement, every point. "
        "Exit status: 0 if all the records agree with that, 1 if one differs, 2 if one cannot be read."
    )
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "files",
            metavar="FILE",
            nargs="+",
            type=Path,
            help="the record of a run, as docs/puzzle.md describes it",
        )

    def handle(self, *args: Any, files: list[Path], **options: Any) -> None:
        status = max([self._judge(file) for file in files])
        if status:
            sys.exit(status)

    def _judge(self, file: Path) -> int:
        """Say what came of a file; the exit status for it."""
        try:
            found = replay(read_json(file.read_bytes()))
        except OSError as error:
            self.stderr.write(f"{file} cannot be read: {error.strerror}.")
            return 2
        except RecordError as error:
            self.stderr.write(f"{file}: {error} [{error.code}]")
            return 2
        self.stdout.write(f"{file}: {found.verdict}: {_figures(found)}")
        for difference in found.differences:
            self.stdout.write(f"  {difference}")
        return 1 if found.differences else 0


def _figures(found: Replay) -> str:
    """The run that follows from the seed and the commands."""
    rules, run = found.record.rules, found.run
    day = "" if found.record.date is None else f" of {found.record.date}"
    undone = sum(isinstance(command, TakeBack) for command in found.record.commands)
    parts = [
        f"{rules.level}{day} on {rules.board.key}",
        _counted(run.statistics.placements, "placement"),
        *(["1 taken back"] if undone else []),
        _counted(run.statistics.lines, "line"),
        f"score {run.score}",
        "over" if run.over else "not over",
    ]
    return ", ".join(parts)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"

"""`manage.py convert`: write a record in another format."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from common.commands import ExampleCommand
from games.territory.management import files

EXAMPLES = """\
  python manage.py convert game.blksgf game.json     every move is checked on the way
  python manage.py convert game.json game.blksgf     opens in Pentobi; the times of moves are left out
  python manage.py convert old.blksgf new.blksgf     the same game in today's form
"""


class Command(ExampleCommand):
    help = (
        "Read a record, check every move and variation of it, and write it as what the name of OUT says: .blksgf or "
        ".json. OUT is replaced if it is there. Exit status: 0 if it was written, 2 if not."
    )
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("source", metavar="IN", type=Path, help="a .blksgf or .json file")
        parser.add_argument("target", metavar="OUT", type=Path, help="a .blksgf or .json file")

    def handle(self, *args: Any, source: Path, target: Path, **options: Any) -> None:
        record = files.load(source)
        files.save(record, target)
        moves = len(list(record.replay().plies()))
        branches = sum(len(followers) > 1 for followers in record.followers())
        self.stdout.write(
            f"{target}: {record.variant.title}, {moves} moves, {branches} branching points"
        )

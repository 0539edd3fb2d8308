"""`manage.py verify_games`: play recorded games again and compare every figure in them."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandParser

from common.workers import ParallelCommand, on_each, watched
from games.territory.proofs import Report, UnplayableError, read_game, verify

EXAMPLES = """\
  python manage.py verify_games tests/reference/territory/games.jsonl
  python manage.py verify_games ../shared/reference/*.jsonl --jobs 4
  python manage.py verify_games games.jsonl --all > differences.txt
"""
SHOWN: Final = 20
"""How many differences are shown unless all are asked for."""


@dataclass(slots=True)
class Findings:
    """What came of the games of a file."""

    games: int = 0
    positions: int = 0
    differences: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)

    def add(self, where: str, judged: Report | UnplayableError) -> None:
        if isinstance(judged, UnplayableError):
            self.unreadable.append(f"{where}: {judged}")
            return
        self.games += 1
        self.positions += judged.positions
        self.differences += [f"{where}: {difference}" for difference in judged.differences]


class Command(ParallelCommand):
    help = (
        "Play the recorded games of JSONL files again and compare every figure in them: legal moves, passes, points, "
        "scores. Exit status: 0 without a difference, 1 with some, 2 if something could not be read."
    )
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "files",
            metavar="FILE",
            nargs="+",
            type=Path,
            help="one game a line, as tests/reference/territory/README.md describes it",
        )
        parser.add_argument(
            "--all",
            action="store_true",
            dest="show_all",
            help=f"show every difference, not only the first {SHOWN}",
        )
        super().add_arguments(parser)

    def handle(
        self, *args: Any, files: list[Path], jobs: int, show_all: bool = False, **options: Any
    ) -> None:
        found = {path: Findings() for path in files}
        games: list[tuple[Path, int, bytes]] = []
        for path, findings in found.items():
            try:
                games += ((path, number, line) for number, line in _lines(path))
            except UnplayableError as error:
                findings.add(str(path), error)
        judged = on_each(_judge, (line for _, _, line in games), jobs=jobs)
        judged = watched(judged, len(games), "games")
        for (path, number, _), judgement in zip(games, judged, strict=True):
            found[path].add(f"{path}:{number}", judgement)
        self._report(found, shown=sys.maxsize if show_all else SHOWN)

    def _report(self, found: dict[Path, Findings], shown: int) -> None:
        differences = list(chain.from_iterable(each.differences for each in found.values()))
        unreadable = list(chain.from_iterable(each.unreadable for each in found.values()))
        for line in differences[:shown]:
            self.stdout.write(line)
        if len(differences) > shown:
            self.stdout.write(f"… and {len(differences) - shown:,} more; --all shows them.")
        for line in unreadable:
            self.stderr.write(line)
        for path, findings in found.items():
            self.stdout.write(f"{path}: {_counts([findings])}")
        self.stdout.write(f"total of {len(found)} files: {_counts(found.values())}")
        if differences or unreadable:
            sys.exit(2 if unreadable else 1)


def _lines(path: Path) -> list[tuple[int, bytes]]:
    """The lines of a file that are not blank, numbered from 1; raises `UnplayableError`."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UnplayableError(f"The file cannot be read: {error.strerror}.") from error
    games = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not games:
        raise UnplayableError("There is no game in this file.")
    return games


def _judge(line: bytes) -> Report | UnplayableError:
    """Verify the game of a line. A refusal is an answer too: one bad line does not end the work of its process."""
    try:
        return verify(read_game(line))
    except UnplayableError as error:
        return error


def _counts(found: Iterable[Findings]) -> str:
    each = list(found)
    counts = {
        "games": sum(one.games for one in each),
        "positions": sum(one.positions for one in each),
        "differences": sum(len(one.differences) for one in each),
        "unreadable": sum(len(one.unreadable) for one in each),
    }
    return ", ".join(
        f"{count:,} {what}" for what, count in counts.items() if count or what != "unreadable"
    )

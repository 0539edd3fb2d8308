"""`manage.py recompute_statistics`: count every player's games anew."""

import sys
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandParser

from common.workers import PatientCommand, watched
from games.territory.models import Game
from games.territory.services.statistics import (
    CHUNK,
    Recounted,
    players_with_games,
    recount_games,
    recount_statistics,
)

EXAMPLES = """\
  python manage.py recompute_statistics --check   compare, and change nothing
  python manage.py recompute_statistics           put right what is wrong
"""
SHOWN = 20


class Command(PatientCommand):
    help = (
        "Count every player's games anew and compare with the lists and statistics that are kept. Exit status of "
        "--check: 0 if all is as it should be, else 1. Games may be played meanwhile."
    )
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="change nothing")

    def handle(self, *args: Any, check: bool, **options: Any) -> None:
        pieces = -(-Game.objects.count() // CHUNK)
        lists = self._together(recount_games(repair=not check), pieces, "pieces")
        players = players_with_games()
        counted = (recount_statistics(player, repair=not check) for player in players)
        figures = self._together(counted, len(players), "players")
        self.stdout.write(
            f"{lists.rows:,} games in lists of players, {len(lists.differences):,} wrong; "
            f"{figures.rows:,} statistics, {len(figures.differences):,} wrong"
        )
        wrong = [*lists.differences, *figures.differences]
        for line in wrong[:SHOWN]:
            self.stdout.write(f"  {line}")
        if check and wrong:
            sys.exit(1)
        if wrong:
            self.stdout.write("put right")

    def _together(self, parts: Iterator[Recounted], total: int, what: str) -> Recounted:
        rows, differences = 0, []
        for part in watched(parts, total, what):
            rows += part.rows
            differences += part.differences
        return Recounted(rows, differences)

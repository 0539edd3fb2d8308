"""`manage.py puzzle_baseline`: measure how far players of the block puzzle get."""

from collections.abc import Iterable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from bots import baselines as data
from bots.baselines import LEVELS_AND_BOARDS, Baselines, Series, Trial, Which
from bots.chart import chart_svg
from bots.levels import PUZZLE_PLAYERS
from bots.management.results import Results, ResultsError
from bots.trials import play
from common.workers import ParallelCommand, on_each, watched, whole_number
from games.puzzle.rules import GENERATOR

EXAMPLES = """\
  python manage.py puzzle_baseline --runs 5               a few runs of every player, in a minute
  python manage.py puzzle_baseline --runs 20 --results baselines.jsonl --write
                       again after Ctrl-C: plays only what is missing, then writes the page of the documentation
  python manage.py puzzle_baseline --players careful --placements 20000 --runs 3
"""

PAGE = "puzzle-boards.md"
CHARTS = {"light": "puzzle-baselines.svg", "dark": "puzzle-baselines-dark.svg"}


class Command(ParallelCommand):
    help = (
        "Let the players of the block puzzle play seeded runs for each level and board, and print a table of their scores. "
        "All players play the same runs. A run is cut after so many placements, because a player may never lose; it counts "
        "with the score that it has. Exit status: 0 if all runs were played, 2 for a wrong call, 130 after Ctrl-C."
    )
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--runs",
            metavar="N",
            type=whole_number,
            default=20,
            help="of each player for each level and board (default: %(default)s)",
        )
        parser.add_argument(
            "--players",
            nargs="+",
            metavar="PLAYER",
            choices=PUZZLE_PLAYERS,
            default=PUZZLE_PLAYERS,
            help=f"which players (default: {' '.join(PUZZLE_PLAYERS)})",
        )
        parser.add_argument(
            "--placements",
            metavar="N",
            type=whole_number,
            default=500,
            help="the placements after which a run is cut (default: %(default)s)",
        )
        parser.add_argument(
            "--seed", metavar="N", type=int, default=1, help="of all chance (default: %(default)s)"
        )
        parser.add_argument(
            "--results",
            metavar="FILE",
            type=Path,
            help="keep each run as a line of JSON, and play only runs that are not there",
        )
        parser.add_argument(
            "--write",
            action="store_true",
            help="write the figures that the API gives, and table and pictures of the documentation",
        )
        super().add_arguments(parser)

    def handle(
        self,
        *args: Any,
        runs: int,
        players: Iterable[str],
        placements: int,
        seed: int,
        write: bool,
        jobs: int,
        results: Path | None = None,
        **options: Any,
    ) -> None:
        series = Series(GENERATOR, seed, placements)
        wanted = [
            Which(level, board, player, number)
            for number in range(runs)
            for level, board in LEVELS_AND_BOARDS
            for player in PUZZLE_PLAYERS
            if player in players
        ]
        if write and set(players) != set(PUZZLE_PLAYERS):
            raise CommandError("--write wants the figures of all players.", returncode=2)
        trials: list[Trial] = []
        try:
            file = Results(results, series, Trial) if results else None
        except ResultsError as error:
            raise CommandError(str(error), returncode=2) from error
        try:
            self._play(series, wanted, jobs, file, trials)
        except ResultsError as error:
            raise CommandError(str(error)) from error
        finally:
            # After Ctrl-C too: what has been played is worth knowing.
            figures = _figures(trials)
            if figures:
                self.stdout.write("\n".join(data.table(figures)))
        if write:
            _write(Baselines(series, figures))

    def _play(
        self,
        series: Series,
        wanted: list[Which],
        jobs: int,
        file: Results[Trial] | None,
        trials: list[Trial],
    ) -> None:
        """Add the runs that are in the file, and play the others."""
        there = file.entries if file else {}
        trials += [there[which] for which in wanted if which in there]
        missing = [which for which in wanted if which not in there]
        if not missing:
            return
        from bots.engine import prepare

        prepare()  # once, before there are processes that each would
        played = on_each(partial(play, series), missing, jobs=min(jobs, len(missing)))
        with closing(watched(played, len(missing), "runs")) as results:
            for trial in results:
                if file:
                    file.append(trial)
                trials.append(trial)


def _figures(trials: list[Trial]) -> tuple[data.Figures, ...]:
    """The figures of all that was played, by level, board and player."""
    return tuple(
        data.summed_up(own)
        for level, board in LEVELS_AND_BOARDS
        for player in PUZZLE_PLAYERS
        if (
            own := [
                trial
                for trial in trials
                if (trial.which.level, trial.which.board, trial.which.player)
                == (level, board, player)
            ]
        )
    )


def _write(baselines: Baselines) -> None:
    """Write the data that is read by `bots.baselines`, the pictures, and the table of the page."""
    data.FILE.write_bytes(data.written(baselines))
    docs = data.FILE.parent.parent / "docs"
    for theme, name in CHARTS.items():
        (docs / name).write_text(chart_svg(baselines, theme=theme))
    page = docs / PAGE
    page.write_text(with_table(page.read_text(), baselines))


def with_table(text: str, baselines: Baselines) -> str:
    """The page with this table in the place of its own."""
    before, head, rest = text.partition(f"| {data.HEAD[0]} ")
    lines = (head + rest).split("\n")
    while lines and lines[0].startswith("|"):
        del lines[0]
    return before + "\n".join((*data.table(baselines.figures), *lines))

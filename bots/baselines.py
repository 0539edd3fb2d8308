"""How far players of the block puzzle get: the figures of many runs, and the tables that show them. Pure.

The figures are measured by `manage.py puzzle_baseline`, and kept beside this module.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from statistics import fmean, quantiles
from typing import Final

import msgspec

from games.puzzle.rules import BOARDS

FILE: Final = Path(__file__).with_name("baselines.json")

LEVELS_AND_BOARDS: Final = (
    *((level, board) for level in ("easy", "normal", "hard") for board in BOARDS),
    ("daily", "10x10"),
)
"""What is measured; undo makes no difference to players that do not use it."""


class Series(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What all trials of a series have in common."""

    generator: str
    """Of the deals."""
    seed: int
    """Of all chance: of the runs, and of the players."""
    most: int
    """The placements after which a run is cut, because it might not end."""


class Which(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which trial of a series: the run of this number, which has the same seed for every player."""

    level: str
    board: str
    player: str
    number: int


class Trial(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What became of one run, as a line of a results file has it."""

    series: Series
    which: Which
    score: int
    placements: int
    cut: bool


class Scores(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The scores of some runs; a quarter of them is not above `lower_quartile`, and so on."""

    lowest: int
    lower_quartile: float
    median: float
    upper_quartile: float
    highest: int
    mean: float


class Figures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a player reaches under a level's rules on a board."""

    level: str
    board: str
    player: str
    runs: int
    cut: int
    """Runs that were cut; they count with the score that they had, so that the true figures are higher."""
    score: Scores
    longest: int
    """The most placements of a run."""


class Baselines(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that was measured: by level, board and player."""

    series: Series
    figures: tuple[Figures, ...]


def summed_up(trials: Iterable[Trial]) -> Figures:
    """The figures of some trials of one player, level and board."""
    all_ = list(trials)
    which = all_[0].which
    scores = [trial.score for trial in all_]
    lower, median, upper = (
        quantiles(scores, n=4, method="inclusive") if len(scores) > 1 else scores * 3
    )
    return Figures(
        level=which.level,
        board=which.board,
        player=which.player,
        runs=len(all_),
        cut=sum(trial.cut for trial in all_),
        score=Scores(min(scores), lower, median, upper, max(scores), round(fmean(scores), 1)),
        longest=max(trial.placements for trial in all_),
    )


def parse(text: bytes) -> Baselines:
    """The reverse of `written`."""
    return msgspec.json.decode(text, type=Baselines)


def written(baselines: Baselines) -> bytes:
    """The text of the file: a line for each of the figures, so that a change can be read."""
    lines = ",\n".join("  " + msgspec.json.encode(each).decode() for each in baselines.figures)
    series = msgspec.json.encode(baselines.series).decode()
    return f'{{"series": {series},\n "figures": [\n{lines}\n]}}\n'.encode()


@cache
def measured() -> Baselines:
    """What was measured last."""
    return parse(FILE.read_bytes())


HEAD: Final = (
    "level",
    "board",
    "player",
    "runs",
    "cut",
    "lower quartile",
    "median",
    "upper quartile",
    "mean",
    "longest",
)


def table(figures: Iterable[Figures]) -> Iterator[str]:
    """The figures as the lines of a Markdown table, which can be read as text too."""
    rows = [HEAD, *(_cells(each) for each in figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        cells = [
            cell.ljust(width) if place < 3 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield f"| {' | '.join(cells)} |"
        if number == 0:
            marks = [
                "-" * width if place < 3 else "-" * (width - 1) + ":"
                for place, width in enumerate(widths)
            ]
            yield f"| {' | '.join(marks)} |"


def _cells(of: Figures) -> tuple[str, ...]:
    scores = (of.score.lower_quartile, of.score.median, of.score.upper_quartile, of.score.mean)
    return (
        of.level,
        of.board,
        of.player,
        f"{of.runs:,}",
        f"{of.cut:,}",
        *(f"{score:,.0f}" for score in scores),
        f"{of.longest:,}",
    )

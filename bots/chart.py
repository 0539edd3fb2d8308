"""The figures of players of the block puzzle as an SVG picture. Pure, and without scripts, ids and fonts of its own.

Scores are on a logarithmic scale: a bar is the middle half of the runs, with a mark at the median. Each player has a
shape of its own, and a line of its own, so that nothing rests on the colours.
"""

import math
from collections.abc import Iterable, Iterator
from html import escape
from itertools import groupby
from typing import Final

from bots.baselines import Baselines, Figures
from bots.levels import PUZZLE_PLAYERS
from games.palette import Theme, theme_of

WIDTH: Final = 760
LEFT: Final = 110
"""Where the scale begins."""
RIGHT: Final = 90
"""Room beside the scale, for the figure of the highest bar."""
TOP: Final = 74
ROW: Final = 15
GAP: Final = 13
"""Between two boards."""
FOOT: Final = 30
COLOURS: Final = ("blue", "green", "orange")
SHAPES: Final = ("M-4-4h8v8h-8z", "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z", "M0-6l6 6-6 6-6-6z")
"""A square, a disc and a diamond around the origin, for the players in their order."""


def chart_svg(baselines: Baselines, *, theme: str = "light") -> str:
    """The picture. ``UnknownThemeError`` for a theme that there is not."""
    look = theme_of(theme)
    groups = [
        (f"{level} {board.replace('x', '×')}", list(figures))
        for (level, board), figures in groupby(
            baselines.figures, key=lambda each: (each.level, each.board)
        )
    ]
    bars = len(baselines.figures)
    height = TOP + bars * ROW + len(groups) * GAP + FOOT
    scale = _Scale(baselines.figures)
    most = f"{baselines.series.most:,}"
    says = (
        f"Bars: the middle half of the scores; mark: the median. Runs were cut after {most} placements;",
        "an arrow: a quarter of them or more, so that the true figure is higher.",
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"',
        ' font-family="sans-serif" font-size="11">',
        "<title>What score players of the block puzzle reach</title>",
        f"<desc>{escape(_spoken(baselines.figures))}</desc>",
        f'<rect width="{WIDTH}" height="{height}" fill="{look.page}"/>',
        *_legend(look),
        *(
            f'<text x="{LEFT}" y="{54 + 12 * line}" fill="{look.ink}" font-size="10">{text}</text>'
            for line, text in enumerate(says)
        ),
        *_grid(look, scale, height),
    ]
    y = TOP
    for name, figures in groups:
        y += GAP
        middle = y + len(figures) * ROW / 2 + 4
        parts.append(
            f'<text x="{LEFT - 12}" y="{middle:g}" fill="{look.ink}" text-anchor="end">{name}</text>'
        )
        for each in figures:
            parts += _bar(look, scale, each, y + ROW / 2)
            y += ROW
    return "\n".join((*parts, "</svg>\n"))


class _Scale:
    """Where a score is, from left to right: the space is for all bars, and no more."""

    def __init__(self, figures: Iterable[Figures]) -> None:
        ends = [(each.score.lower_quartile, each.score.upper_quartile) for each in figures]
        self._low = math.log10(max(min(ends)[0] * 0.9, 1))
        self._high = max(math.log10(max(high for _, high in ends)), self._low + 1)

    def at(self, score: float) -> float:
        part = (math.log10(max(score, 1)) - self._low) / (self._high - self._low)
        return round(LEFT + part * (WIDTH - LEFT - RIGHT), 1)

    @property
    def ticks(self) -> list[int]:
        """The round scores in its range."""
        tens = range(math.floor(self._low), math.floor(self._high) + 1)
        return [
            score
            for exponent in tens
            for score in (10**exponent, 2 * 10**exponent, 5 * 10**exponent)
            if self._low <= math.log10(score) <= self._high
        ]


def _grid(look: Theme, scale: _Scale, height: int) -> Iterator[str]:
    for score in scale.ticks:
        x = scale.at(score)
        yield f'<path d="M{x} {TOP}V{height - FOOT + 6}" stroke="{look.grid}" fill="none"/>'
        yield (
            f'<text x="{x}" y="{height - 10}" fill="{look.ink}" text-anchor="middle">{score:,}</text>'
        )


def _legend(look: Theme) -> Iterator[str]:
    yield (
        f'<text x="{LEFT}" y="20" fill="{look.ink}" font-size="14">Block puzzle: scores of three players</text>'
    )
    for number, player in enumerate(PUZZLE_PLAYERS):
        x = LEFT + 10 + number * 90
        yield _mark(look, number, x, 36)
        yield f'<text x="{x + 12}" y="40" fill="{look.ink}">{player}</text>'


def _mark(look: Theme, player: int, x: float, y: float) -> str:
    fill = look.fills[COLOURS[player]]
    return (
        f'<path d="{SHAPES[player]}" transform="translate({x:g} {y:g})" fill="{fill}" '
        f'stroke="{look.ink}"/>'
    )


def _bar(look: Theme, scale: _Scale, of: Figures, y: float) -> Iterator[str]:
    player = PUZZLE_PLAYERS.index(of.player)
    left, right = scale.at(of.score.lower_quartile), scale.at(of.score.upper_quartile)
    yield (
        f'<path d="M{left} {y:g}H{right}" stroke="{look.fills[COLOURS[player]]}" stroke-width="5" fill="none"/>'
    )
    yield f'<path d="M{left} {y - 4:g}v8M{right} {y - 4:g}v8" stroke="{look.ink}" fill="none"/>'
    after = right + 12
    if of.cut * 4 >= of.runs:
        yield (f'<path d="M{right + 3} {y:g}h9m-4-4l4 4-4 4" stroke="{look.ink}" fill="none"/>')
        after += 8
    yield _mark(look, player, scale.at(of.score.median), y)
    yield (
        f'<text x="{after:g}" y="{y + 4:g}" fill="{look.ink}" font-size="10">{_median(of)}</text>'
    )


def _median(of: Figures) -> str:
    """The median as a text; a run that was cut would have come further."""
    return ("≥ " if of.cut * 2 >= of.runs else "") + f"{of.score.median:,.0f}"


def _spoken(figures: tuple[Figures, ...]) -> str:
    """The medians in words, for who does not see the picture."""
    return "Medians. " + " ".join(
        f"{each.level} {each.board}, {each.player}: {_median(each)}." for each in figures
    )

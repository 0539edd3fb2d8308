"""The trade-off of simulated rules as an SVG picture: waits to the right, spread upwards, so that low and left is good.

Pure, without scripts and ids. Each rule has a shape and a line of its own, so that nothing rests on the colours; the
description says all figures in words.
"""

from collections.abc import Iterator, Sequence
from html import escape
from math import log10
from typing import Final

from games.palette import Theme, theme_of
from matchmaking.simulation.report import Figures

WIDTH: Final = 720
HEIGHT: Final = 340
LEFT: Final = 52
TOP: Final = 54
RIGHT: Final = 64
FOOT: Final = 40
SECONDS: Final = (1, 2, 5, 10, 20, 50, 100, 200)
COLOURS: Final = ("blue", "orange", "green", "purple", "red", "sky")
SHAPES: Final = (
    "M-4-4h8v8h-8z", "M0-6l6 6-6 6-6-6z", "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
    "M-5 4h10l-5-9z", "M-5-4h10l-5 9z", "M-5-1.5h3.5v-3.5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5z",
)  # fmt: skip
"""Around the origin: a square, a diamond, a disc, two triangles and a cross, for the rules in their order."""
DASHES: Final = ("", "6 3", "2 3", "8 3 2 3", "1 4", "4 2")


def plot_svg(rows: Sequence[Figures], *, size: int, theme: str = "light") -> str:
    """The picture of at most six rules. ``UnknownThemeError`` for a theme that there is not."""
    look = theme_of(theme)
    rules = list(dict.fromkeys(row.policy for row in rows))[: len(SHAPES)]
    top = max([100.0, *(row.spread_median for row in rows)]) * 1.08
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"',
        ' font-family="sans-serif" font-size="11">',
        f"<title>Wait against rating spread, games of {size}</title>",
        f"<desc>{escape(_spoken(rows))}</desc>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{look.page}"/>',
        (
            f'<text x="{LEFT}" y="18" fill="{look.ink}" font-size="14">Games of {size}: 95 of 100 waits are '
            "shorter than … s; half of the games have a smaller rating spread</text>"
        ),
        *_grid(look, top),
    ]
    for number, rule in enumerate(rules):
        parts += _rule(look, number, rule, [row for row in rows if row.policy == rule], top)
    return "\n".join((*parts, "</svg>\n"))


def _x(seconds: float) -> float:
    low, high = log10(SECONDS[0] * 0.4), log10(SECONDS[-1] * 1.2)
    part = (log10(max(seconds, SECONDS[0] * 0.4)) - low) / (high - low)
    return round(LEFT + min(part, 1.0) * (WIDTH - LEFT - RIGHT), 1)


def _y(points: float, top: float) -> float:
    return round(HEIGHT - FOOT - points / top * (HEIGHT - FOOT - TOP), 1)


def _grid(look: Theme, top: float) -> Iterator[str]:
    for seconds in SECONDS:
        x = _x(seconds)
        yield f'<path d="M{x} {TOP}V{HEIGHT - FOOT}" stroke="{look.grid}" fill="none"/>'
        yield (
            f'<text x="{x}" y="{HEIGHT - FOOT + 16}" fill="{look.ink}" text-anchor="middle">{seconds} s</text>'
        )
    for points in range(0, int(top) + 1, 50 if top < 350 else 100):
        y = _y(points, top)
        yield f'<path d="M{LEFT} {y}H{WIDTH - RIGHT}" stroke="{look.grid}" fill="none"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4}" fill="{look.ink}" text-anchor="end">{points}</text>'


def _rule(
    look: Theme, number: int, name: str, rows: Sequence[Figures], top: float
) -> Iterator[str]:
    """The line of one rule over the numbers online, its marks, and its entry in the legend."""
    fill, spots = look.fills[COLOURS[number]], [(row, _x(row.wait_p95)) for row in rows]
    path = "L".join(f"{x} {_y(row.spread_median, top)}" for row, x in spots)
    yield f'<path d="M{path}" stroke="{look.ink}" stroke-dasharray="{DASHES[number]}" fill="none"/>'
    for row, x in spots:
        y = _y(row.spread_median, top)
        yield _mark(look, number, fill, x, y)
        yield f'<text x="{x + 8}" y="{y - 5}" fill="{look.ink}" font-size="10">{row.players:,}</text>'
    column, line = divmod(number, 2)
    x, y = LEFT + 8 + column * 210, 32 + 14 * line
    yield _mark(look, number, fill, x, y - 4)
    yield f'<text x="{x + 12}" y="{y}" fill="{look.ink}">{escape(name)}</text>'


def _mark(look: Theme, number: int, fill: str, x: float, y: float) -> str:
    return f'<path d="{SHAPES[number]}" transform="translate({x:g} {y:g})" fill="{fill}" stroke="{look.ink}"/>'


def _spoken(rows: Sequence[Figures]) -> str:
    """The picture in words."""
    return " ".join(
        f"{row.players:,} online, {row.policy}: {row.wait_p95:.1f} s, {row.spread_median:.0f} points."
        for row in rows
    )

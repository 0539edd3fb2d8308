"""A player's rating over time as an SVG picture: a line, and around it where the rating lies with 95 % confidence.

Pure, with neither scripts nor ids. The themes have the names of the boards' themes; their colours stand in
games/palette.py, which is above this app, so a test holds those here to them.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from accounts.rules import CONFIDENCE, MU, SIGMA, Rating
from common.clock import to_datetime

WIDTH: Final = 640
HEIGHT: Final = 260
LEFT: Final = 46
RIGHT: Final = 66
"""Room for the last rating beside the line."""
TOP: Final = 34
BELOW: Final = 26

DAY_MS: Final = 86_400_000
SPAN_DAYS: Final = (
    *(1, 2, 7, 14, 30, 61, 91, 183, 365, 730),
    *(1_826, 3_652),
)
"""How far the dates below may be apart."""


@dataclass(frozen=True, slots=True)
class Look:
    """The colours of a theme, as `#rrggbb`, and how opaque the band is."""

    page: str
    ground: str
    grid: str
    ink: str
    line: str
    band: float


LOOKS: Final = MappingProxyType(
    {
        "light": Look("#ffffff", "#faf8f3", "#dcd7cb", "#2b2b2b", "#1f56ad", 0.18),
        "dark": Look("#16181c", "#22252b", "#363b43", "#d9d9d9", "#8cc4ee", 0.22),
        "contrast": Look("#000000", "#000000", "#5a5a5a", "#ffffff", "#fff23d", 0.35),
        "print": Look("#ffffff", "#ffffff", "#c4c4c4", "#000000", "#0f0f0f", 0.2),
    }
)


@dataclass(frozen=True, slots=True)
class Point:
    """The rating after a game that ended `at` (milliseconds); `annulled`: the game left it as it was."""

    at: int
    mu: float
    sigma: float
    annulled: bool = False

    @property
    def low(self) -> float:
        return self.mu - CONFIDENCE * self.sigma

    @property
    def high(self) -> float:
        return self.mu + CONFIDENCE * self.sigma


def history_svg(name: str, key: str, points: Sequence[Point], *, theme: str = "light") -> str:
    """The picture of changes that come in their order; a theme is a name in `LOOKS`."""
    look = LOOKS[theme]
    title = f"{name}: rating {key}"
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {WIDTH} {HEIGHT}" '
            'font-family="sans-serif">'
        ),
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(_description(points))}</desc>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{look.page}"/>',
        f'<text x="{LEFT}" y="21" font-size="13" font-weight="bold" fill="{look.ink}">{escape(title)}</text>',
    ]
    scale = _Scale(points)
    parts += _frame(scale, look)
    parts += _curve(scale, points, look) if points else _nothing(look)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _description(points: Sequence[Point]) -> str:
    if not points:
        return "No rated games."
    first, last = points[0], points[-1]
    best = max(points, key=lambda point: point.mu)
    gone = sum(point.annulled for point in points)
    said = (
        f"{len(points)} games from {_date(first.at)} to {_date(last.at)}: "
        f"from {Rating(first.mu, first.sigma)} to {Rating(last.mu, last.sigma)}, "
        f"between {last.low:.0f} and {last.high:.0f} with 95 % confidence. "
        f"The highest was {Rating(best.mu, best.sigma)} on {_date(best.at)}."
    )
    return said + (f" {gone} of them were annulled." if gone else "")


def _date(at: int) -> str:
    return f"{to_datetime(at):%Y-%m-%d}"


class _Scale:
    """Where instants and ratings lie in the picture."""

    def __init__(self, points: Sequence[Point]) -> None:
        shown = points or [Point(0, MU, SIGMA)]
        instants = [point.at for point in shown]
        margin = max((max(instants) - min(instants)) // 50, DAY_MS // 2)
        self.begin, self.end = min(instants) - margin, max(instants) + margin
        low, high = min(point.low for point in shown), max(point.high for point in shown)
        self.step = next(
            step for step in (25, 50, 100, 200, 250, 500, 1_000, 10_000) if high - low <= 7 * step
        )
        self.low = math.floor(low / self.step) * self.step
        self.high = math.ceil(high / self.step) * self.step

    def x(self, at: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (at - self.begin) / (self.end - self.begin)

    def y(self, mu: float) -> float:
        return TOP + (HEIGHT - TOP - BELOW) * (self.high - mu) / (self.high - self.low)

    def ratings(self) -> range:
        return range(self.low, self.high + 1, self.step)

    def dates(self) -> Iterator[int]:
        """Some midnights of UTC, evenly apart."""
        span = self.end - self.begin
        apart = next((days for days in SPAN_DAYS if span <= 6 * days * DAY_MS), SPAN_DAYS[-1])
        at = -(-self.begin // DAY_MS) * DAY_MS
        while at <= self.end:
            yield at
            at += apart * DAY_MS


def _frame(scale: _Scale, look: Look) -> Iterator[str]:
    right, bottom = WIDTH - RIGHT, HEIGHT - BELOW
    yield (
        f'<rect class="ground" x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{bottom - TOP}" '
        f'fill="{look.ground}" stroke="{look.grid}"/>'
    )
    across = "".join(f"M{LEFT} {scale.y(mu):.1f}H{right}" for mu in scale.ratings())
    down = "".join(f"M{scale.x(at):.1f} {TOP}V{bottom}" for at in scale.dates())
    yield f'<path class="grid" d="{across}{down}" stroke="{look.grid}" stroke-width=".7"/>'
    yield f'<g class="scale" font-size="10" fill="{look.ink}">'
    for mu in scale.ratings():
        yield f'<text x="{LEFT - 6}" y="{scale.y(mu) + 3.5:.1f}" text-anchor="end">{mu}</text>'
    for at in scale.dates():
        yield f'<text x="{scale.x(at):.1f}" y="{bottom + 15}" text-anchor="middle">{_date(at)}</text>'
    yield "</g>"


def _curve(scale: _Scale, points: Sequence[Point], look: Look) -> Iterator[str]:
    """A rating stays as it is until the next game, so the line and its band have steps."""
    until = [*(scale.x(point.at) for point in points), scale.x(scale.end)]
    upper = _steps(until, [scale.y(point.high) for point in points])
    lower = _steps(until, [scale.y(point.low) for point in points])
    band = "L".join(f"{x:.1f} {y:.1f}" for x, y in [*upper, *reversed(lower)])
    yield f'<path class="band" d="M{band}z" fill="{look.line}" fill-opacity="{look.band}"/>'
    middle = _steps(until, [scale.y(point.mu) for point in points])
    line = "L".join(f"{x:.1f} {y:.1f}" for x, y in middle)
    yield (
        f'<path class="line" d="M{line}" fill="none" stroke="{look.line}" stroke-width="1.8" '
        'stroke-linejoin="round"/>'
    )
    for point in points:
        if point.annulled:
            x, y = scale.x(point.at), scale.y(point.mu)
            yield (
                f'<path class="annulled" d="M{x - 4:.1f} {y - 4:.1f}l8 8m0-8l-8 8" fill="none" '
                f'stroke="{look.ink}" stroke-width="1.4"/>'
            )
    last = points[-1]
    yield (
        f'<text class="last" x="{WIDTH - RIGHT + 7}" y="{scale.y(last.mu) + 4:.1f}" font-size="12" '
        f'font-weight="bold" fill="{look.ink}">{Rating(last.mu, last.sigma)}</text>'
    )


def _steps(until: Sequence[float], heights: Sequence[float]) -> list[tuple[float, float]]:
    """The corners of a line that goes on level, and then up or down."""
    sides = zip(pairwise(until), heights, strict=True)
    return [corner for (x, end), y in sides for corner in ((x, y), (end, y))]


def _nothing(look: Look) -> Iterator[str]:
    x, y = (LEFT + WIDTH - RIGHT) / 2, (TOP + HEIGHT - BELOW) / 2
    yield (
        f'<text x="{x:g}" y="{y:g}" font-size="12" text-anchor="middle" fill="{look.ink}">'
        "No rated games</text>"
    )

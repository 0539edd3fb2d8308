"""An analysis as an SVG picture: a line a seat over the plies of the game, with the moves that were mistakes.

Pure, with neither scripts nor ids, in the themes of the boards.  Nothing is told by colour alone: each line has its own
dashes and carries the marks of its colour, mistakes have the signs of books, and title and description say it in words.
"""

from collections.abc import Iterator
from html import escape
from typing import Final

from bots.analysis import SIGNS, Judged, Mark, Review, counts, seat_name
from games.palette import Paint, Theme, theme_of

WIDTH: Final = 320
HEIGHT: Final = 150
LEFT: Final = 24
TOP: Final = 10
RIGHT: Final = 10
BELOW: Final = 16
"""Below the plot: the numbers of the plies."""
ROW: Final = 11
"""Height of a seat's line in the legend."""
DASHES: Final = ("", "7 2.5", "2 2", "7 2 1.5 2")
"""How the line of each seat is broken."""
MARKS: Final = 6
"""About so many marks of its colour are on each line."""


def curve_svg(about: Review, *, theme: str = "light") -> str:
    """The picture.  ``theme`` is a name in ``games.territory.rules.THEMES``: ``RulesError`` if it is not."""
    look = theme_of(theme)
    seats = range(about.variant.seats)
    height = HEIGHT + ROW * len(seats) + 4
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {WIDTH} {height}">',
        f"<title>{escape(_title(about))}</title>",
        f"<desc>{escape(' '.join(_description(about)))}</desc>",
        f'<rect width="{WIDTH}" height="{height}" fill="{look.page}"/>',
        *_grid(len(about.plies), look),
    ]
    for seat in seats:
        parts += _line(about, seat, look)
    parts += _mistakes(about, look)
    parts += _legend(about, look)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _title(about: Review) -> str:
    return f"{about.variant.title}: what each seat could expect, over {len(about.plies)} plies"


def _description(about: Review) -> Iterator[str]:
    """The curve in words: where each seat began and ended, and every mistake."""
    for seat in range(about.variant.seats):
        first, last = about.curve[0][seat], _points(about, seat)[-1][1]
        yield f"{seat_name(about.variant, seat)} from {first:.2f} to {last:.2f}."
    found = [ply for ply in about.plies if ply.mark in SIGNS]
    for ply in found:
        who = about.variant.colours[ply.step.colour]
        yield f"Ply {ply.step.ply}: {ply.mark.value} of {who}, {ply.loss:.2f} lost."
    if not found:
        yield "No mistakes."


def _x(ply: float, plies: int) -> float:
    """Where the board before this ply stands; the last one is that of the end."""
    return LEFT + (WIDTH - LEFT - RIGHT) * ply / plies


def _y(value: float) -> float:
    return TOP + (HEIGHT - TOP - BELOW) * (1.0 - value)


def _points(about: Review, seat: int) -> list[tuple[float, float]]:
    """Plies and values; where seats left between two plies, the line steps."""
    points = [(0.0, about.plies[0].before[seat])]
    for ply in about.plies:
        if ply.before[seat] != points[-1][1]:
            points.append((float(ply.step.ply), ply.before[seat]))
        points.append((ply.step.ply + 1.0, ply.after[seat]))
    if about.end is not None and about.end[seat] != points[-1][1]:
        points.append((float(len(about.plies)), about.end[seat]))
    return points


def _grid(plies: int, look: Theme) -> Iterator[str]:
    left, right = _x(0, plies), _x(plies, plies)
    yield (
        f'<rect class="ground" x="{left:g}" y="{_y(1):g}" width="{right - left:g}" '
        f'height="{_y(0) - _y(1):g}" fill="{look.ground}" stroke="{look.grid}"/>'
    )
    across = "".join(f"M{left:g} {_y(value):g}H{right:g}" for value in (0.25, 0.5, 0.75))
    yield f'<path class="grid" d="{across}" stroke="{look.grid}" stroke-width=".5"/>'
    yield f'<g class="scale" font-family="sans-serif" font-size="6.5" fill="{look.ink}">'
    for value in (0, 0.25, 0.5, 0.75, 1):
        yield f'<text x="{LEFT - 3}" y="{_y(value) + 2:.4g}" text-anchor="end">{value:g}</text>'
    every = next(step for step in (1, 2, 5, 10, 20, 50, 100) if plies <= 12 * step)
    for ply in range(0, plies + 1, every):
        yield f'<text x="{_x(ply, plies):.4g}" y="{_y(0) + 9:g}" text-anchor="middle">{ply}</text>'
    yield "</g>"


def _paint(about: Review, seat: int, look: Theme) -> Paint:
    return look.paints(about.variant.colours)[about.variant.colours_of(seat)[0]]


def _line(about: Review, seat: int, look: Theme) -> Iterator[str]:
    """Ink below the colour, so that a pale one can be seen too, and the colour's marks along it."""
    paint, plies = _paint(about, seat, look), len(about.plies)
    points = [(_x(ply, plies), _y(value)) for ply, value in _points(about, seat)]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    name = escape(seat_name(about.variant, seat).lower())
    yield f'<g class="line {name}" fill="none" stroke-linejoin="round">'
    yield f'<path d="{path}" stroke="{look.ink}" stroke-width="2.6" {_dashes(seat)}/>'
    yield f'<path d="{path}" stroke="{paint.fill}" stroke-width="1.6" {_dashes(seat)}/>'
    yield "</g>"
    every = max(1, len(points) // MARKS)
    # Seats begin at different points, so that their marks do not lie on each other.
    shift = every * seat // about.variant.seats
    for x, y in points[shift::every]:
        yield _badge(x, y, paint, look)


def _dashes(seat: int) -> str:
    dashes = DASHES[seat % len(DASHES)]
    return f'stroke-dasharray="{dashes}"' if dashes else 'stroke-linecap="round"'


def _badge(x: float, y: float, paint: Paint, look: Theme) -> str:
    """A square of a board, with the mark of its colour."""
    left, down, path = paint.mark
    return (
        f'<g class="badge" transform="translate({x - 3.5:.1f} {y - 3.5:.1f}) scale(.7)">'
        f'<rect width="10" height="10" rx="2" fill="{paint.fill}" stroke="{look.outline}"/>'
        f'<path d="M{left} {down}{path}" stroke="{paint.ink}" stroke-width="1.4" fill="none" '
        'stroke-linecap="round" stroke-linejoin="round"/></g>'
    )


def _mistakes(about: Review, look: Theme) -> Iterator[str]:
    """The sign of a mistake, in a disc of its seat's colour on its seat's line."""
    for ply in about.plies:
        if ply.mark in SIGNS:
            yield _sign(ply, len(about.plies), _paint(about, ply.step.seat, look), look)


def _sign(ply: Judged, plies: int, paint: Paint, look: Theme) -> str:
    x, y = _x(ply.step.ply + 1, plies), _y(ply.after[ply.step.seat])
    bold = "1.6" if ply.mark is Mark.BLUNDER else ".8"
    return (
        f'<g class="{ply.mark.value}"><circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{paint.fill}" '
        f'stroke="{look.ink}" stroke-width="{bold}"/><text x="{x:.1f}" y="{y + 2.2:.1f}" '
        f'font-family="sans-serif" font-size="6.5" font-weight="bold" text-anchor="middle" '
        f'fill="{paint.ink}">{SIGNS[ply.mark]}</text></g>'
    )


def _legend(about: Review, look: Theme) -> Iterator[str]:
    """A line a seat: how it is drawn, who it is, and how often it went wrong."""
    yield f'<g class="legend" font-family="sans-serif" font-size="7" fill="{look.ink}">'
    for seat in range(about.variant.seats):
        y, paint = HEIGHT + ROW * seat + 4, _paint(about, seat, look)
        for width, ink in ((2.6, look.ink), (1.6, paint.fill)):
            yield (
                f'<path d="M{LEFT} {y}h26" stroke="{ink}" stroke-width="{width}" fill="none" '
                f"{_dashes(seat)}/>"
            )
        yield _badge(LEFT + 13, y, paint, look)
        who = about.record.players[seat] if about.record.players else ""
        who = "".join(letter for letter in who if letter.isprintable())  # others are no XML
        name = seat_name(about.variant, seat) + (f", {who}" if who else "")
        tally = counts(about, seat)
        said = " · ".join(f"{tally[mark]} {SIGNS[mark]}" for mark in SIGNS)
        yield f'<text x="{LEFT + 32}" y="{y + 2.5:g}">{escape(name)}</text>'
        yield f'<text x="{WIDTH - RIGHT}" y="{y + 2.5:g}" text-anchor="end">{said}</text>'
    yield "</g>"

"""A position as an SVG picture.

Pure, with neither scripts nor ids, so that many pictures fit in one page.  A cell is ten units of
the view box; give the element a width to scale it.
"""

from collections.abc import Iterable, Iterator
from html import escape
from string import ascii_lowercase
from typing import Final

from games.palette import BLACK, WHITE, Paint, Theme, theme_of
from games.polyomino import Cell

from .geometry import board
from .notation import Move
from .position import Position
from .text import status_of, summary

CELL: Final = 10
LEGEND_HEIGHT: Final = 13
LETTER_WIDTH: Final = 0.56
"""The average width of a letter of a sans-serif font, as a part of the font's size; rather too much."""
_WAYS: Final = ((1, 0), (0, 1), (-1, 0), (0, -1))
"""Right, down, left, up, as steps of x and y: clockwise, as y grows downwards."""


def board_svg(
    position: Position,
    *,
    last_move: Move | None = None,
    theme: str = "light",
    coordinates: bool = True,
    legend: bool = True,
    attach: int | None = None,
) -> str:
    """The picture of a position.

    ``last_move`` is framed, ``attach`` is a colour whose attach points are shown, ``legend`` is a
    line with points and turn, and ``theme`` a name in ``games.palette.THEMES``
    (``UnknownThemeError`` if it is not).  Title and description say the same to who does not see it.
    """
    look = theme_of(theme)
    variant = position.variant
    paints = look.paints(variant.colours)
    margin = CELL if coordinates else 2
    width = variant.size * CELL + 2 * margin
    height = width + LEGEND_HEIGHT * legend
    box = f"{-margin} {-margin} {width} {height}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="{box}">',
        f"<title>{escape(f'{variant.title}: {summary(position)}')}</title>",
        *_description(position, last_move, attach),
        f'<rect x="{-margin}" y="{-margin}" width="{width}" height="{height}" fill="{look.page}"/>',
        *_grid(variant.size, look),
    ]
    if coordinates:
        parts += _labels(variant.size, look)
    for colour, paint in enumerate(paints):
        parts += _colour(position, colour, paint, look)
    if attach is not None:
        points = board(variant.size).coordinates(position.legal(attach).attach)
        parts += _dots(points, "attach", 1.7, paints[attach], look)
    if last_move is not None:
        parts += _frame(last_move)
    if legend:
        parts += _legend(position, paints, look, variant.size * CELL + margin + 1)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _description(position: Position, last_move: Move | None, attach: int | None) -> Iterator[str]:
    """What the drawing shows besides points and turn, in words."""
    names = position.variant.colours
    said = []
    if last_move is not None:
        made = [n for n, own in zip(names, position.squares, strict=True) if own & last_move.mask]
        said.append(f"Last move: {' '.join([*made, last_move.piece])} at {last_move.text}.")
    if attach is not None:
        points = ",".join(position.attach_points(attach))
        said.append(f"Attach points of {names[attach]}: {points or 'none'}.")
    if said:
        yield f"<desc>{escape(' '.join(said))}</desc>"


def _grid(size: int, look: Theme) -> Iterator[str]:
    side = size * CELL
    lines = "".join(f"M0 {at}h{side}M{at} 0v{side}" for at in range(0, side + 1, CELL))
    yield f'<rect class="ground" width="{side}" height="{side}" fill="{look.ground}"/>'
    yield f'<path class="grid" d="{lines}" stroke="{look.grid}" stroke-width=".5"/>'


def _labels(size: int, look: Theme) -> Iterator[str]:
    yield (
        '<g class="coordinates" font-family="sans-serif" font-size="5.6" text-anchor="middle" '
        f'fill="{look.ink}">'
    )
    for at in range(size):
        middle = at * CELL + 5
        for beside in (-5, size * CELL + 5):
            yield f'<text x="{middle}" y="{beside + 2}">{ascii_lowercase[at]}</text>'
            yield f'<text x="{beside}" y="{middle + 2}">{size - at}</text>'
    yield "</g>"


def _colour(position: Position, colour: int, paint: Paint, look: Theme) -> Iterator[str]:
    """One path around all pieces of a colour, and one with its marks; its first cell, while free."""
    variant, squares = position.variant, position.squares[colour]
    tables = board(variant.size)
    first = tables.cells[variant.first_cells[colour]] & ~position.occupied
    name = escape(variant.colours[colour])
    yield from _dots(tables.coordinates(first), "first", 3.8, paint, look)
    if squares:
        yield (
            f'<path class="piece {name}" d="{_outline(tables.coordinates(squares))}" '
            f'fill="{paint.fill}" stroke="{look.outline}"/>'
        )
    x, y, path = paint.mark
    cells = tables.coordinates(squares | first)
    marks = "".join(f"M{column * CELL + x} {row * CELL + y}{path}" for row, column in cells)
    if marks:
        yield _marks(f"marks {name}", marks, paint, look)


def _marks(name: str, path: str, paint: Paint, look: Theme) -> str:
    return (
        f'<path class="{name}" d="{path}" stroke="{paint.ink}" stroke-opacity="{look.mark_opacity}" '
        'stroke-width="1.2" stroke-linecap="round" stroke-linejoin="round" fill="none"/>'
    )


def _frame(move: Move) -> Iterator[str]:
    """White between black, so that it stands out on every colour."""
    path = _outline(move.coordinates)
    yield '<g class="last" fill="none" stroke-linejoin="round">'
    yield f'<path d="{path}" stroke="{BLACK}" stroke-width="3.4"/>'
    yield f'<path d="{path}" stroke="{WHITE}" stroke-width="1.6"/>'
    yield "</g>"


def _outline(cells: Iterable[Cell]) -> str:
    """A path around the cells, one loop for each piece, and further ones for holes.

    The sides of the cells that do not part two of them are followed clockwise.  Where pieces meet at a corner
    the path turns right, and so stays with its own.
    """
    inside = set(cells)
    sides = {
        (column + (way in (1, 2)), row + (way in (2, 3)), way)
        for row, column in inside
        for way, (across, down) in enumerate((_WAYS[3], *_WAYS[:3]))  # the neighbour on the left
        if (row + down, column + across) not in inside
    }
    path = []
    while sides:
        side = min(sides)
        path.append(f"M{side[0] * CELL} {side[1] * CELL}")
        length = 0
        while side in sides:
            sides.remove(side)
            x, y, way = side
            x, y, length = x + _WAYS[way][0], y + _WAYS[way][1], length + CELL
            side = next((turn for turn in _turns(x, y, way) if turn in sides), side)
            if side[2] != way:
                path.append(f"{'hvhv'[way]}{length if way < 2 else -length}")
                length = 0
        path.append("z")
    return "".join(path)


def _turns(x: int, y: int, way: int) -> Iterator[tuple[int, int, int]]:
    """The sides that may follow at a corner: to the right, straight on, to the left."""
    return ((x, y, (way + turn) % 4) for turn in (1, 0, 3))


def _dots(
    cells: Iterable[Cell], name: str, radius: float, paint: Paint, look: Theme
) -> Iterator[str]:
    for row, column in cells:
        yield (
            f'<circle class="{name}" cx="{column * CELL + 5}" cy="{row * CELL + 5}" r="{radius}" '
            f'fill="{paint.fill}" stroke="{look.ink}" stroke-width=".5"/>'
        )


def _legend(position: Position, paints: tuple[Paint, ...], look: Theme, top: int) -> Iterator[str]:
    """A swatch and the points of each colour, spread below the board; an arrow shows who is to move."""
    texts = []
    for index, name in enumerate(position.variant.colours):
        status = status_of(position, index)
        shown = "" if position.is_over and status == "out" else status  # in the end, all are out
        texts.append(f"{name.capitalize()} {position.points(index)} {shown}".rstrip())
    texts += ["Game over"] if position.is_over else []
    letters = sum(map(len, texts)) * LETTER_WIDTH
    room = position.variant.size * CELL - 11 * len(paints) - 6
    gaps = max(1, len(texts) - 1)
    size = min(6.0, (room - 3 * gaps) / letters)
    gap = (room - size * letters) / gaps
    yield f'<g class="legend" font-family="sans-serif" font-size="{size:.3g}" fill="{look.ink}">'
    left = 0.0
    for index, text in enumerate(texts):
        bold = ""
        if index == position.turn:
            bold = ' font-weight="bold"'
            yield f'<path class="turn" d="M{left:.1f} {top + 1}l4.5 3-4.5 3z"/>'
            left += 6
        if index < len(paints):
            yield from _swatch(left, top, paints[index], look)
            left += 11
        yield f'<text x="{left:.1f}" y="{top + 6}"{bold}>{escape(text)}</text>'
        left += len(text) * LETTER_WIDTH * size + gap
    yield "</g>"


def _swatch(left: float, top: int, paint: Paint, look: Theme) -> Iterator[str]:
    yield (
        f'<rect x="{left:.1f}" y="{top}" width="8" height="8" fill="{paint.fill}" '
        f'stroke="{look.outline}"/>'
    )
    x, y, path = paint.mark
    yield _marks("swatch", f"M{left + x - 1:.1f} {top + y - 1}{path}", paint, look)

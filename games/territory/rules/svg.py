"""A position as an SVG picture.

Pure, with neither scripts nor ids, so that many pictures fit in one page.  Each colour has a hue
from a palette that colour-blind people can tell apart (M. Okabe and K. Ito, 2008) and a mark of its
own on every square.  Pieces of one colour never touch along an edge, so the outlines of
connected squares are the outlines of the pieces.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from string import ascii_lowercase
from types import MappingProxyType
from typing import Final

from games.polyomino import Cell

from .errors import RulesError
from .geometry import Board, Mask, board
from .notation import Move
from .position import Position


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of everything but the pieces."""

    page: str
    ground: str
    grid: str
    ink: str
    outline: str


THEMES: Final = MappingProxyType(
    {
        "light": Theme("#ffffff", "#f4f1ea", "#cfc9bb", "#333333", "#222222"),
        "dark": Theme("#16181c", "#24272d", "#3b4048", "#d6d6d6", "#050505"),
    }
)
_FILLS: Final = {
    "blue": "#0072b2",
    "yellow": "#f0e442",
    "red": "#d55e00",
    "green": "#009e73",
    "orange": "#e69f00",
}
# A path within a cell of size 1, starting from its upper left corner; a zero-length line is a dot.
_MARKS: Final = {
    "blue": "m.35 .65l.3-.3",
    "yellow": "m.5 .5h0",
    "red": "m.36 .36l.28 .28m0-.28l-.28 .28",
    "green": "m.32 .5h.36",
    "orange": "m.5 .34v.32m-.16-.16h.32",
}


def board_svg(
    position: Position,
    *,
    last_move: Move | None = None,
    theme: str = "light",
    coordinates: bool = True,
    attach: int | None = None,
) -> str:
    """The picture of a position.

    ``last_move`` gets dots, ``attach`` is a colour whose attach points are shown, ``theme`` is a
    name in ``THEMES``.

    One cell is one unit of the view box; give the element a width to scale it.
    """
    if theme not in THEMES:
        raise RulesError(
            f"There is no theme {theme!r}; choose one of {', '.join(THEMES)}.", code="unknown-theme"
        )
    look = THEMES[theme]
    variant = position.variant
    tables = board(variant.size)
    margin = 1 if coordinates else 0.1
    side = variant.size + 2 * margin
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" role="img"',
        f'  viewBox="{-margin} {-margin} {side} {side}">',
        f"<title>{escape(_title(position))}</title>",
        f'<rect x="{-margin}" y="{-margin}" width="{side}" height="{side}" fill="{look.page}"/>',
        *_grid(variant.size, look),
    ]
    if coordinates:
        parts += _labels(variant.size, look)
    for colour, name in enumerate(variant.colours):
        first = tables.cells[variant.first_cells[colour]] & ~position.occupied
        parts += _dots(tables.coordinates(first), "first", 0.28, _FILLS[name], look.ink)
        parts += _pieces(tables, position.squares[colour], name, look)
    if attach is not None:
        points = position.legal(attach).attach
        fill = _FILLS[variant.colours[attach]]
        parts += _dots(tables.coordinates(points), "attach", 0.15, fill, look.ink)
    if last_move is not None:
        parts += _dots(last_move.coordinates, "last", 0.17, "#ffffff", "#000000")
    return "\n".join([*parts, "</svg>"]) + "\n"


def _title(position: Position) -> str:
    variant = position.variant
    points = ", ".join(
        f"{name} {position.points(index)}" for index, name in enumerate(variant.colours)
    )
    turn = position.turn
    state = "game over" if turn is None else f"{variant.colours[turn]} to move"
    return f"{variant.title}: {points}; {state}"


def _grid(size: int, look: Theme) -> Iterator[str]:
    lines = "".join(f"M0 {at}h{size}M{at} 0v{size}" for at in range(size + 1))
    yield f'<rect class="ground" width="{size}" height="{size}" fill="{look.ground}"/>'
    yield f'<path class="grid" d="{lines}" stroke="{look.grid}" stroke-width=".04" fill="none"/>'


def _labels(size: int, look: Theme) -> Iterator[str]:
    yield (
        f'<g class="coordinates" font-family="sans-serif" font-size=".5" text-anchor="middle" '
        f'fill="{look.ink}">'
    )
    for at in range(size):
        for beside in (-0.5, size + 0.5):
            yield f'<text x="{at + 0.5}" y="{beside + 0.18:.2f}">{ascii_lowercase[at]}</text>'
            yield f'<text x="{beside}" y="{at + 0.68:.2f}">{size - at}</text>'
    yield "</g>"


def _pieces(tables: Board, squares: Mask, name: str, look: Theme) -> Iterator[str]:
    """One path for each piece, and one with the marks of the whole colour."""
    rest = squares
    while rest:
        piece = _connected(tables, rest)
        cells = list(tables.coordinates(piece))
        area = "".join(f"M{column} {row}h1v1h-1z" for row, column in cells)
        yield f'<path class="piece {name}" d="{area}" fill="{_FILLS[name]}"/>'
        yield (
            f'<path class="outline" d="{_outline(cells)}" stroke="{look.outline}" '
            f'stroke-width=".1" stroke-linecap="square" fill="none"/>'
        )
        rest &= ~piece
    if squares:
        cells = list(tables.coordinates(squares))
        marks = "".join(f"M{column} {row}{_MARKS[name]}" for row, column in cells)
        yield (
            f'<path class="marks {name}" d="{marks}" stroke="#000000" stroke-opacity=".45" '
            f'stroke-width=".12" stroke-linecap="round" fill="none"/>'
        )


def _connected(tables: Board, squares: Mask) -> Mask:
    """The squares that hang together with the lowest one."""
    piece, grown = 0, squares & -squares
    while grown != piece:
        piece, grown = grown, (grown | tables.edges(grown)) & squares
    return piece


def _outline(cells: Iterable[Cell]) -> str:
    """The sides of the cells that do not part two of them."""
    inside = set(cells)
    sides = []
    for row, column in sorted(inside):
        for step, path in (
            ((-1, 0), f"M{column} {row}h1"),
            ((1, 0), f"M{column} {row + 1}h1"),
            ((0, -1), f"M{column} {row}v1"),
            ((0, 1), f"M{column + 1} {row}v1"),
        ):
            if (row + step[0], column + step[1]) not in inside:
                sides.append(path)
    return "".join(sides)


def _dots(cells: Iterable[Cell], name: str, radius: float, fill: str, stroke: str) -> Iterator[str]:
    for row, column in cells:
        yield (
            f'<circle class="{name}" cx="{column + 0.5}" cy="{row + 0.5}" r="{radius}" '
            f'fill="{fill}" stroke="{stroke}" stroke-width=".05"/>'
        )

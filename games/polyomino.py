"""Cells, the eight symmetries of the square, and the 21 free polyominoes of one to five cells.

A shape is a tuple of cells ``(row, column)``, moved so that the smallest row and column are 0, and
sorted.  Each piece is one small drawing; its orientations follow from it::

    >>> PIECES["V3"]
    ((0, 0), (1, 0), (1, 1))
    >>> len(PIECES), sum(map(len, PIECES.values())), sum(map(len, ORIENTATIONS.values()))
    (21, 89, 91)
"""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

Cell: TypeAlias = tuple[int, int]
Shape: TypeAlias = tuple[Cell, ...]

_DRAWINGS: Final = {
    "1": "#",
    "2": "##",
    "I3": "###",
    "V3": "#. ##",
    "I4": "####",
    "L4": "#.. ###",
    "T4": "### .#.",
    "O": "## ##",
    "Z4": "##. .##",
    "F": ".## ##. .#.",
    "I5": "#####",
    "L5": "#... ####",
    "N": "##.. .###",
    "P": "##. ###",
    "T5": "### .#. .#.",
    "U": "#.# ###",
    "V5": "#.. #.. ###",
    "W": "#.. ##. .##",
    "X": ".#. ### .#.",
    "Y": ".#.. ####",
    "Z5": "##. .#. .##",
}


def normalised(cells: Iterable[Cell]) -> Shape:
    """The same shape moved to the origin, its cells sorted by row, then column."""
    fixed = list(cells)
    top = min(row for row, _ in fixed)
    left = min(column for _, column in fixed)
    return tuple(sorted((row - top, column - left) for row, column in fixed))


def symmetries(cells: Iterable[Cell]) -> Iterator[Shape]:
    """The eight images of a shape: four quarter turns, each also mirrored; equal ones repeat."""
    shape = normalised(cells)
    for _ in range(4):
        yield shape
        yield normalised((row, -column) for row, column in shape)
        shape = normalised((column, -row) for row, column in shape)


def orientations(cells: Iterable[Cell]) -> tuple[Shape, ...]:
    """The distinct images of a shape, sorted."""
    return tuple(sorted(set(symmetries(cells))))


def drawn(drawing: str) -> Shape:
    """The shape of a drawing: rows parted by spaces, ``#`` for a covered cell.

    >>> drawn("#. ##")
    ((0, 0), (1, 0), (1, 1))
    """
    return normalised(
        (row, column)
        for row, line in enumerate(drawing.split())
        for column, mark in enumerate(line)
        if mark == "#"
    )


PIECES: Final[Mapping[str, Shape]] = MappingProxyType(
    {name: drawn(drawing) for name, drawing in _DRAWINGS.items()}
)
"""Every piece by name, smallest first, in the orientation in which it is drawn here."""

ORIENTATIONS: Final[Mapping[str, tuple[Shape, ...]]] = MappingProxyType(
    {name: orientations(shape) for name, shape in PIECES.items()}
)
"""The one to eight fixed forms of every piece, 91 in all."""

PIECE_OF: Final[Mapping[Shape, str]] = MappingProxyType(
    {shape: name for name, shapes in ORIENTATIONS.items() for shape in shapes}
)
"""The name of the piece that a fixed form is."""

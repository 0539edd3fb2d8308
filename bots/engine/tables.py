"""The pieces as bit patterns, made from `games.polyomino`: geometry has one source.

A board is one word a row, with a border of five blocked cells on every side: the cell in row ``r`` and column ``c``,
row 0 at the bottom, is bit ``c + 5`` of word ``r + 5``.

Everything about placements is told from one of their cells, the *anchor*.  There are 414 *shapes*: an orientation of a
piece, seen from one of its cells.  All cells of all shapes lie within four steps of the anchor, which are 41
cells, so whether a shape fits at a cell is one AND of two words: the shape's cells, and those blocked around the cell.
The words have room for the 21 pieces too: whether the colour has the piece is part of the same AND.

The arrays are constants of the compiled code.
"""

from collections.abc import Iterable
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from games.polyomino import ORIENTATIONS, PIECES, Cell
from games.territory.rules import Variant

BORDER: Final = 5
ROWS: Final = 20 + 2 * BORDER
"""Words of a board; enough for the largest."""
REACH: Final = 4
NEARBY: Final = 41
"""Cells within four steps of a cell."""
CLASSES: Final = 5
"""Placements are listed by the size of their piece: class 0 has one cell, class 4 five."""
PIECE_NUMBERS: Final = {name: number for number, name in enumerate(PIECES)}
NEIGHBOURS: Final = ((0, 1), (0, -1), (1, 0), (-1, 0))
DIAGONALS: Final = ((1, 1), (1, -1), (-1, 1), (-1, -1))

OFFSETS: Final[tuple[tuple[str, tuple[Cell, ...]], ...]] = tuple(
    (name, tuple((row - anchor[0], column - anchor[1]) for row, column in cells))
    for name, forms in ORIENTATIONS.items()
    for cells in forms
    for anchor in cells
)
"""The shapes: the piece, and its cells as steps from the anchor, up and to the right."""


def _around_bit(up: int, right: int) -> int:
    """The bit of a cell among the 41 around an anchor, row by row from the lowest."""
    width = REACH - abs(up)
    before = sum(2 * (REACH - abs(row)) + 1 for row in range(-REACH, up))
    return before + right + width


def _moved(cells: Iterable[Cell], steps: Iterable[Cell]) -> set[Cell]:
    return {(row + up, column + right) for row, column in cells for up, right in steps}


def _words(sets: Iterable[Iterable[Cell]], rows: int, below: int) -> NDArray[np.uint32]:
    """For every shape, cells as a word a row, from so many rows below its lowest; the anchor's column is bit 5."""
    words = np.zeros((len(OFFSETS), rows), np.uint32)
    for index, cells in enumerate(sets):
        for up, right in cells:
            words[index, up - LOW[index] + below] |= np.uint32(1 << (right + BORDER))
    return words


PIECE: Final = np.array([PIECE_NUMBERS[name] for name, _ in OFFSETS], np.int8)
"""(414) The number of a shape's piece."""
COUNT: Final = np.array([len(cells) for _, cells in OFFSETS], np.int8)
"""(414) How many cells it has."""
LOW: Final = np.array([min(up for up, _ in cells) for _, cells in OFFSETS], np.int8)
"""(414) The lowest row that it covers, from the anchor: -4 to 0."""
BESIDE: Final = [_moved(cells, NEIGHBOURS) - set(cells) for _, cells in OFFSETS]
TOUCHED: Final = [
    sorted(_moved(cells, DIAGONALS) - beside - set(cells))
    for (_, cells), beside in zip(OFFSETS, BESIDE, strict=True)
]
CELLS_OF: Final = _words((cells for _, cells in OFFSETS), rows=5, below=0)
"""(414, 5) Its cells, a word a row."""
EDGES_OF: Final = _words(BESIDE, rows=7, below=1)
"""(414, 7) The cells along its edges."""
CORNERS_OF: Final = np.array([(cells + [(0, 0)] * 8)[:8] for cells in TOUCHED], np.int8)
"""(414, 8, 2) The steps from the anchor, up and to the right, to the cells that it touches at corners only; the anchor
itself where they are fewer than eight."""
TOUCHES_OF: Final = _words(TOUCHED, rows=7, below=1)
"""(414, 7) The same cells, a word a row."""


def _by_ring() -> tuple[NDArray[np.int32], NDArray[np.int16]]:
    """The shapes for each set of taken cells in the ring of eight around the anchor, by the size of their pieces."""
    ring = [(up, right) for up in (-1, 0, 1) for right in (-1, 0, 1)]
    numbered = [(PIECE_NUMBERS[name], index) for index, (name, _) in enumerate(OFFSETS)]
    order = [index for _, index in sorted(numbered)]
    covered = [
        sum(1 << bit for bit, cell in enumerate(ring) if cell in OFFSETS[index][1])
        for index in range(len(OFFSETS))
    ]
    start, found = [0], []
    for taken in range(512):
        for size in range(1, CLASSES + 1):
            found += [i for i in order if len(OFFSETS[i][1]) == size and not covered[i] & taken]
            start.append(len(found))
    return np.array(start, np.int32), np.array(found, np.int16)


START, ORDER = _by_ring()
"""``ORDER[START[k * 5 + c]:START[k * 5 + c + 1]]`` are the shapes of class ``c`` that leave out the cells ``k`` of the
three by three around the anchor, a bit each, row by row from the lowest."""
AROUND: Final = np.array(
    [
        sum(1 << _around_bit(*cell) for cell in OFFSETS[i][1])
        | 1 << (NEARBY + PIECE_NUMBERS[OFFSETS[i][0]])
        for i in ORDER
    ],
    np.uint64,
)
"""The cells of the shapes in ``ORDER``, among the 41 around the anchor, and above them a bit for the piece."""


class Tables(NamedTuple):
    """What compiled code knows of a variant with ``C`` colours."""

    seats: int
    hand: int
    """How many pieces a colour starts with."""
    bonus_all: int
    bonus_single: int
    owner: NDArray[np.int64]
    """(C) The seat of a colour, -1 for a shared one."""


@cache
def tables_of(variant: Variant) -> Tables:
    """The tables of a variant."""
    return Tables(
        seats=variant.seats,
        hand=len(variant.hand),
        bonus_all=variant.all_placed_bonus,
        bonus_single=variant.single_last_bonus,
        owner=np.array([-1 if owner is None else owner for owner in variant.owners]),
    )


@cache
def outside(size: int) -> NDArray[np.uint32]:
    """(ROWS) The board with all cells blocked that are not on it."""
    rows = np.full(ROWS, 2**32 - 1, np.uint32)
    rows[BORDER : BORDER + size] = 2**32 - 1 - (((1 << size) - 1) << BORDER)
    return rows

"""Bitboards: sets of cells as integers, and tables of every placement on an empty board.

Bit ``(row - 1) * (size + 1) + column`` stands for a cell, with row 1 at the bottom and column 0 at
the left.  The lowest bit of a set is thus the first cell in canonical order.  The extra column at
the right is always empty, so that a shift by one never wraps into the next row.
"""

from collections.abc import Iterator
from functools import cache, cached_property
from string import ascii_lowercase
from typing import TypeAlias

from games.polyomino import ORIENTATIONS, Cell

Mask: TypeAlias = int
"""A set of cells."""


class Board:
    """The tables of one board size; get it from ``board(size)``, which keeps them."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.stride = size + 1
        self.names: dict[Mask, str] = {
            1 << (row * self.stride + column): f"{ascii_lowercase[column]}{row + 1}"
            for row in range(size)
            for column in range(size)
        }
        self.cells: dict[str, Mask] = {name: bit for bit, name in self.names.items()}
        self.full: Mask = sum(self.names)

    def edges(self, mask: Mask) -> Mask:
        """The cells next to a set along an edge; may hold cells of the set itself."""
        stride = self.stride
        return (mask << 1 | mask >> 1 | mask << stride | mask >> stride) & self.full

    def corners(self, mask: Mask) -> Mask:
        """The cells diagonally next to a set; may hold cells of the set or at its edges."""
        beside = mask << 1 | mask >> 1
        return (beside << self.stride | beside >> self.stride) & self.full

    def split(self, mask: Mask) -> Iterator[str]:
        """The names of the cells of a set, in canonical order: by row number, then column."""
        names = self.names
        while mask:
            bit = mask & -mask
            yield names[bit]
            mask ^= bit

    def coordinates(self, mask: Mask) -> Iterator[Cell]:
        """The same cells as 0-based ``(row, column)`` with row 0 at the top, in the same order."""
        while mask:
            bit = mask & -mask
            row, column = divmod(bit.bit_length() - 1, self.stride)
            yield self.size - 1 - row, column
            mask ^= bit

    def bit_at(self, row: int, column: int) -> Mask:
        """The cell at 0-based coordinates with row 0 at the top; the empty set if outside."""
        if 0 <= row < self.size and 0 <= column < self.size:
            return 1 << ((self.size - 1 - row) * self.stride + column)
        return 0

    @cached_property
    def placements(self) -> dict[Mask, str]:
        """Every set of cells that one piece can cover, with the piece's name."""
        return {
            mask: piece
            for piece, shapes in ORIENTATIONS.items()
            for shape in shapes
            for mask in self._everywhere(shape)
        }

    def _everywhere(self, shape: tuple[Cell, ...]) -> Iterator[Mask]:
        base = sum(1 << (row * self.stride + column) for row, column in shape)
        height = 1 + max(row for row, _ in shape)
        width = 1 + max(column for _, column in shape)
        for row in range(self.size - height + 1):
            for column in range(self.size - width + 1):
                yield base << (row * self.stride + column)

    @cached_property
    def near(self) -> "dict[Mask, Near]":
        """For every cell, the placements that cover it."""
        near = {bit: Near(self.edges(bit)) for bit in self.names}
        for mask, piece in self.placements.items():
            rest = mask
            while rest:
                bit = rest & -rest
                near[bit].all[piece].append(mask)
                rest ^= bit
        return near


class Near(dict[Mask, dict[str, tuple[Mask, ...]]]):
    """The placements over one cell, by which of the cells around it are blocked, and by piece.

    At an attach point two of the four neighbours or more are always blocked, so looking at these
    first leaves a third of the placements or fewer to be tried.  Answers are made on demand.
    """

    __slots__ = ("all", "around")

    def __init__(self, around: Mask) -> None:
        super().__init__()
        self.around = around
        self.all: dict[str, list[Mask]] = {piece: [] for piece in ORIENTATIONS}

    def __missing__(self, blocked: Mask) -> dict[str, tuple[Mask, ...]]:
        found = {
            piece: tuple(mask for mask in masks if not mask & blocked)
            for piece, masks in self.all.items()
        }
        self[blocked] = found
        return found


@cache
def board(size: int) -> Board:
    """The tables for a board of ``size`` by ``size`` cells, at most 26, built when first asked for."""
    return Board(size)

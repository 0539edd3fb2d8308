"""Boards: sets of cells as integers, and the lines that clear.

Bit ``(row - 1) * (size + 1) + column`` stands for a cell, with row 1 at the bottom and column 0 at the left.  The extra
column at the right is always empty, so that no block wraps into the next row.

>>> kind = BOARDS["9x9"]
>>> [line.text for line in kind.lines if line.mask & kind.cells["d4"]]
['row 4', 'column d', 'box d4']
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from string import ascii_lowercase
from types import MappingProxyType
from typing import Final, TypeAlias

Mask: TypeAlias = int
"""A set of cells."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row, a column or a box, which clears when all its cells are covered."""

    text: str
    """``row 3``, ``column d``, or ``box d4``: a box is named by its lower left cell."""
    mask: Mask


@dataclass(frozen=True)
class BoardKind:
    """A size of board, and what counts as a line there."""

    key: str
    size: int
    lines: tuple[Line, ...]
    """Rows from the bottom, columns from the left, boxes row by row."""
    box: int = 0
    """The side of the boxes that count as lines; 0 where none do."""

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def stride(self) -> int:
        """How many bits a row takes."""
        return self.size + 1

    @cached_property
    def cells(self) -> Mapping[str, Mask]:
        """The bit of every cell by its name, in the order of the bits: by row, then by column."""
        return MappingProxyType(
            {
                f"{ascii_lowercase[column]}{row + 1}": 1 << (row * self.stride + column)
                for row in range(self.size)
                for column in range(self.size)
            }
        )

    @cached_property
    def names(self) -> Mapping[Mask, str]:
        """The name of every cell by its bit."""
        return MappingProxyType({bit: name for name, bit in self.cells.items()})

    @cached_property
    def full(self) -> Mask:
        """All cells."""
        return sum(self.names)

    def split(self, mask: Mask) -> Iterator[str]:
        """The names of the cells of a set: by row, then by column."""
        names = self.names
        while mask:
            bit = mask & -mask
            yield names[bit]
            mask ^= bit

    def mask_of(self, names: Iterable[str]) -> Mask:
        """The set of these cells; ``KeyError`` for one that is not on the board."""
        mask = 0
        for name in names:
            mask |= self.cells[name]
        return mask

    def rows(self, mask: Mask) -> tuple[str, ...]:
        """The board as one text for each row, the top one first: ``#`` for a covered cell, ``.`` for an empty one."""
        marks = ["#" if mask & bit else "." for bit in self.names]
        rows = ["".join(marks[at : at + self.size]) for at in range(0, len(marks), self.size)]
        return tuple(reversed(rows))

    def read_rows(self, rows: Iterable[str]) -> Mask:
        """The set of cells that ``rows`` wrote; ``ValueError`` for other texts."""
        lines = list(rows)
        if len(lines) != self.size or any(len(line) != self.size for line in lines):
            raise ValueError(f"a board of {self.key} has {self.size} rows of {self.size} cells")
        marks = "".join(reversed(lines))
        if set(marks) - {"#", "."}:
            raise ValueError("a row is written with # and .")
        return sum(bit for bit, mark in zip(self.names, marks, strict=True) if mark == "#")


def _lines(size: int, box: int) -> Iterator[Line]:
    def rectangle(left: int, bottom: int, width: int, height: int) -> Mask:
        row = ((1 << width) - 1) << left
        return sum(row << (at * (size + 1)) for at in range(bottom, bottom + height))

    for at in range(size):
        yield Line(f"row {at + 1}", rectangle(0, at, size, 1))
    for at in range(size):
        yield Line(f"column {ascii_lowercase[at]}", rectangle(at, 0, 1, size))
    if box:
        for bottom in range(0, size, box):
            for left in range(0, size, box):
                name = f"box {ascii_lowercase[left]}{bottom + 1}"
                yield Line(name, rectangle(left, bottom, box, box))


BOARDS: Final[Mapping[str, BoardKind]] = MappingProxyType(
    {
        key: BoardKind(key, size, tuple(_lines(size, box)), box)
        for key, size, box in (("10x10", 10, 0), ("9x9", 9, 3), ("8x8", 8, 0))
    }
)
"""The three kinds of board."""

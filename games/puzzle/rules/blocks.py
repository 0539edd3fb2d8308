"""Blocks: the shapes of the puzzle, each in a fixed orientation.

The order of shapes and orientations here is part of the generator ``kado-deal-1`` (docs/puzzle.md): it never changes.

>>> len(SMALL), len(BIG), len(BLOCKS)
(9, 8, 50)
>>> block = Block.read("L4/2")
>>> block.cells, block.turned(1).cells
(('a1', 'b1', 'a2', 'a3'), ('a1', 'a2', 'b2', 'c2'))
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from string import ascii_lowercase
from types import MappingProxyType
from typing import Final

from games.polyomino import ORIENTATIONS, Shape, drawn, normalised, orientations

SMALL: Final = ("1", "2", "I3", "V3", "O", "L4", "T4", "Z4", "I4")
BIG: Final = ("I5", "V5", "X", "U", "T5", "W", "R6", "O9")

FORMS: Final[Mapping[str, tuple[Shape, ...]]] = MappingProxyType(
    {
        shape: ORIENTATIONS[shape]
        if shape in ORIENTATIONS
        else orientations(drawn({"R6": "### ###", "O9": "### ### ###"}[shape]))
        for shape in (*SMALL, *BIG)
    }
)
"""The fixed forms of every shape, mirrored ones too, sorted as lists of cells (row, column); row 0 is the lowest."""


@dataclass(frozen=True)
class Block:
    """A shape in a fixed orientation: number ``orientation`` in ``FORMS``."""

    shape: str
    orientation: int

    def __hash__(self) -> int:
        return hash(self.shape) + self.orientation

    @classmethod
    def read(cls, text: str) -> "Block":
        """The block that a text such as ``L4/2`` names; ``KeyError`` if there is none."""
        return _BY_TEXT[text]

    @property
    def text(self) -> str:
        return f"{self.shape}/{self.orientation}"

    @cached_property
    def form(self) -> Shape:
        """Its cells as (row, column) from the lower left corner of its bounding box, row 0 being the lowest."""
        return FORMS[self.shape][self.orientation]

    @cached_property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells that it covers in the lower left corner of a board."""
        return tuple(f"{ascii_lowercase[column]}{row + 1}" for row, column in self.form)

    @cached_property
    def height(self) -> int:
        return 1 + max(row for row, _ in self.form)

    @cached_property
    def width(self) -> int:
        return 1 + max(column for _, column in self.form)

    def turned(self, quarter_turns_clockwise: int) -> "Block":
        """The block after so many quarter turns, as one sees it with row 1 at the bottom; never its mirror image."""
        return self.turns[quarter_turns_clockwise % 4]

    @cached_property
    def turns(self) -> tuple["Block", "Block", "Block", "Block"]:
        """The block after 0, 1, 2 and 3 quarter turns clockwise; equal ones repeat."""
        forms = [self.form]
        for _ in range(3):
            forms.append(normalised((-column, row) for row, column in forms[-1]))
        first, second, third, fourth = (_BY_FORM[form] for form in forms)
        return first, second, third, fourth

    def __str__(self) -> str:
        return self.text


BLOCKS: Final = tuple(
    Block(shape, orientation) for shape in FORMS for orientation in range(len(FORMS[shape]))
)
"""All of them in the order of the generator: small shapes before big ones."""

_BY_TEXT: Final = {block.text: block for block in BLOCKS}
_BY_FORM: Final = {block.form: block for block in BLOCKS}

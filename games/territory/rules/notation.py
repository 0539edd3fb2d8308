"""Moves and their text: the covered cells, such as ``f9,g9,e10,f10``.

>>> move = parse_move(" F10, e10,g9,f9", 14)
>>> move.text, move.piece
('f9,g9,e10,f10', 'Z4')
>>> parse_move(move.text, 14) == move
True
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

from .errors import IllegalMoveError, MalformedMoveError
from .geometry import Mask, board
from .variant import Variant

MAX_TEXT_LENGTH: Final = 64
_CELL = re.compile(r"[a-z][1-9][0-9]?")


@dataclass(frozen=True, slots=True)
class Move:
    """A placement: the piece and the set of cells it covers on a board of this size.

    Two moves are equal when they cover the same cells of a board of one size.  Get one from
    ``parse_move``, from ``move_at`` or from a list of legal moves; all of these only give moves
    that some piece fits.
    """

    piece: str
    mask: Mask
    size: int

    @property
    def text(self) -> str:
        """The cells joined by commas in canonical order: by row number, then by column."""
        return ",".join(board(self.size).split(self.mask))

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells in canonical order."""
        return tuple(board(self.size).split(self.mask))

    @property
    def coordinates(self) -> tuple[tuple[int, int], ...]:
        """The cells as 0-based ``(row, column)`` with row 0 at the top, in canonical order."""
        return tuple(board(self.size).coordinates(self.mask))

    def __str__(self) -> str:
        return self.text


Placement = Move
"""A placement becomes a move when a colour makes it; both are the same value."""


@cache
def all_moves(size: int) -> dict[Mask, Move]:
    """Every move there can be on a board, by the cells it covers.  Do not change the answer."""
    return {mask: Move(piece, mask, size) for mask, piece in board(size).placements.items()}


def parse_move(text: str, on: Variant | int) -> Move:
    """The move that a text names, its cells in any order and case; ``on`` is a variant or size.

    Raises ``MalformedMoveError`` if the text is not a list of distinct cells, and
    ``IllegalMoveError`` with ``outside-board`` or ``not-a-piece``.
    """
    if len(text) > MAX_TEXT_LENGTH:
        raise MalformedMoveError(f"A move has at most {MAX_TEXT_LENGTH} characters.")
    names = [name.strip() for name in text.lower().split(",")]
    for name in names:
        if not _CELL.fullmatch(name):
            raise MalformedMoveError(
                f"{name!r} is not a cell; write a move as its cells, such as e8,e9,f9."
            )
    cells = board(_size(on)).cells
    bits = []
    for name in names:
        if name not in cells:
            raise IllegalMoveError("outside-board", f"The cell {name} is outside the board.")
        bits.append(cells[name])
    return _move(bits, _size(on))


def move_at(coordinates: Iterable[tuple[int, int]], on: Variant | int) -> Move:
    """The move over 0-based ``(row, column)`` cells, row 0 at the top; errors as ``parse_move``."""
    size = _size(on)
    bits = []
    for row, column in coordinates:
        bit = board(size).bit_at(row, column)
        if not bit:
            raise IllegalMoveError("outside-board", f"[{row}, {column}] is outside the board.")
        bits.append(bit)
    return _move(bits, size)


def _size(on: Variant | int) -> int:
    return on if isinstance(on, int) else on.size


def _move(bits: list[Mask], size: int) -> Move:
    if not bits:
        raise MalformedMoveError("A move covers at least one cell.")
    if len(set(bits)) < len(bits):
        raise MalformedMoveError("A move names each of its cells once.")
    move = all_moves(size).get(sum(bits))
    if move is None:
        raise IllegalMoveError("not-a-piece", "These cells are not the shape of a piece.")
    return move

"""What compiled code knows of the block puzzle: placements, lines and blocks as bit patterns.

All kinds of board lie in the lower left corner of one frame: ten rows of eleven columns, five rows a word, so that bit
``(row % 5) * 11 + column`` of word ``row // 5`` is a cell.  A position is its *empty* cells: whatever is not on the
board is never among them, the eleventh column least of all, so that nothing wraps into the next row.
"""

from collections.abc import Iterable
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from games.polyomino import Cell
from games.puzzle.rules import BLOCKS, BOARDS, BoardKind, Rules
from games.puzzle.rules.deal import WEIGHTS

STRIDE: Final = 11
ROWS: Final = 5
"""Rows in a word."""
NUMBERS: Final = {block: number for number, block in enumerate(BLOCKS)}
"""The number of every block, in the order of the generator."""


class Tables(NamedTuple):
    """The placements ``P`` and lines ``L`` of a kind of board, and the 50 blocks."""

    masks: NDArray[np.uint64]
    """(P, 2) The cells of every placement: by block, then by row and column of its anchor."""
    touched: NDArray[np.uint32]
    """(P) The lines that it has a cell in, a bit each."""
    anchor: NDArray[np.int32]
    """(P) ``row * STRIDE + column`` of the lower left corner of its bounding box."""
    first: NDArray[np.int32]
    """(51) The placements of block ``b`` are those from ``first[b]`` to ``first[b + 1]`` - 1."""
    lines: NDArray[np.uint64]
    """(L, 2) The cells of every line."""
    turns: NDArray[np.int32]
    """(50, 4) The block after so many quarter turns, -1 where that is one of those before it."""
    squares: NDArray[np.int32]
    """(50) How many cells a block has."""
    steps: NDArray[np.uint64]
    """(50, 9) From its anchor to each of its cells, in bits; the first ``squares[b]`` of them."""
    weights: NDArray[np.int64]
    """(50) Its weight in a deal."""
    rotation: bool
    fitting: bool
    """Whether only blocks that fit are dealt."""


def words_of(cells: Iterable[Cell]) -> tuple[int, int]:
    """The two words of a set of cells, each (row, column)."""
    words = [0, 0]
    for row, column in cells:
        words[row // ROWS] |= 1 << (row % ROWS * STRIDE + column)
    return words[0], words[1]


def words_of_mask(mask: int, kind: BoardKind) -> tuple[int, int]:
    """The two words of a set of cells as the rules write it."""
    low = high = 0
    row_mask = (1 << kind.size) - 1
    for row in range(kind.size):
        word = mask >> (row * kind.stride) & row_mask
        if row < ROWS:
            low |= word << (row * STRIDE)
        else:
            high |= word << ((row - ROWS) * STRIDE)
    return low, high


@cache
def _placements(key: str) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int32]]:
    """The masks, the anchors, and where the placements of each block begin."""
    size = BOARDS[key].size
    masks, anchors, first = [], [], [0]
    for block in BLOCKS:
        for row in range(size - block.height + 1):
            for column in range(size - block.width + 1):
                masks.append(words_of((row + up, column + right) for up, right in block.form))
                anchors.append(row * STRIDE + column)
        first.append(len(masks))
    return np.array(masks, np.uint64), np.array(anchors, np.int32), np.array(first, np.int32)


@cache
def tables_of(rules: Rules) -> Tables:
    """The tables for these rules; those with the same board, rotation, dealing and shapes differ in nothing."""
    masks, anchors, first = _placements(rules.board.key)
    lines = np.array(
        [words_of_mask(line.mask, rules.board) for line in rules.board.lines], np.uint64
    )
    meets = (masks[:, None, :] & lines[None, :, :]).any(axis=2)
    bits = np.uint32(1) << np.arange(len(lines), dtype=np.uint32)
    steps = np.zeros((len(BLOCKS), 9), np.uint64)
    turns = np.full((len(BLOCKS), 4), -1, np.int32)
    for number, block in enumerate(BLOCKS):
        steps[number, : len(block.form)] = [row * STRIDE + column for row, column in block.form]
        for turn, turned in enumerate(block.turns):
            if turned not in block.turns[:turn] and (turn == 0 or rules.rotation):
                turns[number, turn] = NUMBERS[turned]
    return Tables(
        masks=masks,
        touched=(meets * bits).sum(axis=1, dtype=np.uint32),
        anchor=anchors,
        first=first,
        lines=lines,
        turns=turns,
        squares=np.array([len(block.form) for block in BLOCKS], np.int32),
        steps=steps,
        weights=np.array(WEIGHTS[rules.shapes], np.int64),
        rotation=rules.rotation,
        fitting=rules.dealing == "fitting",
    )

"""From the positions of the rules to bit patterns, and from the numbers of placements to moves."""

import numpy as np

from bots.engine.kernel import (
    BLOCKED,
    CELLS,
    GONE,
    HAND,
    LAST,
    LEFT,
    LIST,
    OUT,
    TURN,
    TWICE,
    State,
    add_attach_point,
    empty_state,
    legal_list,
)
from bots.engine.tables import BORDER, CLASSES, OFFSETS, PIECE_NUMBERS, ROWS, outside
from games.territory.rules import Move, Position, move_at
from games.territory.rules.geometry import Mask, board


def load(position: Position, state: State | None = None) -> State:
    """The position as bit patterns, into ``state`` if there is one to be overwritten."""
    on = position.variant
    state = empty_state(len(on.colours)) if state is None else state
    geometry = board(on.size)
    state.boards[:] = 0
    state.numbers[:] = 0
    for colour, own in enumerate(position.squares):
        blocked = position.occupied | geometry.edges(own)
        state.boards[colour, BLOCKED] = outside(on.size) | _rows(blocked, on.size)
        numbers = state.numbers[colour]
        for piece in position.left[colour]:
            bit = 1 << PIECE_NUMBERS[piece]
            numbers[TWICE if int(numbers[LEFT]) & bit else LEFT] |= bit
        numbers[HAND] = len(position.left[colour])
        numbers[CELLS] = own.bit_count()
        last = position.last[colour]
        numbers[LAST] = -1 if last is None else PIECE_NUMBERS[last]
        numbers[OUT] = colour in position.out
        attach = geometry.corners(own) if own else geometry.cells[on.first_cells[colour]]
        for row, column in geometry.coordinates(attach & ~blocked):
            add_attach_point(state, colour, on.size - 1 - row, column)
    state.numbers[-1, TURN] = -1 if position.turn is None else position.turn
    state.numbers[-1, GONE] = sum(1 << seat for seat in position.gone)
    return state


def _rows(mask: Mask, size: int) -> "np.ndarray[tuple[int], np.dtype[np.uint32]]":
    """A set of cells of the rules, a word a row with the border."""
    rows = np.zeros(ROWS, np.uint32)
    for row in range(size):
        word = mask >> (row * (size + 1)) & ((1 << size) - 1)
        rows[row + BORDER] = word << BORDER
    return rows


def move_of(placement: int, size: int) -> Move:
    """The move that a number stands for."""
    row, column = placement >> 14, placement >> 9 & 31
    cells = OFFSETS[placement & 511][1]
    return move_at(((size - 1 - row - up, column + right) for up, right in cells), size)


def mask_of(placement: int, size: int) -> Mask:
    """The cells of a placement as the rules write them."""
    row, column = placement >> 14, placement >> 9 & 31
    stride = size + 1
    return sum(
        1 << ((row + up) * stride + column + right) for up, right in OFFSETS[placement & 511][1]
    )


def legal_moves(position: Position, colour: int) -> list[Move]:
    """What a colour may place, as the compiled code finds it."""
    found = np.zeros(CLASSES * LIST, np.int32)
    count = legal_list(load(position), colour, found)
    return [move_of(int(placement), position.variant.size) for placement in found[:count]]

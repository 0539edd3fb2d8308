"""A position as bit patterns, and what compiled code does with it: place, list, choose at random.

Every colour has its attach points in the order in which they arose, and for each size of piece the list of placements
found at them.  Lists are lazy: new attach points are looked at when a list of that size is wanted, and placements
that have become illegal are thrown out when they are met.  Nothing that is illegal ever becomes legal again, so no
placement is lost.

A placement is a number: ``(row * 32 + column) * 512 + shape``, with the anchor's row and column.  The same placement
can be told from each of its cells; the lists hold it once.
"""

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bots.engine.tables import (
    AROUND,
    BORDER,
    CELLS_OF,
    CLASSES,
    CORNERS_OF,
    COUNT,
    EDGES_OF,
    LOW,
    NEARBY,
    ORDER,
    PIECE,
    ROWS,
    START,
    Tables,
)

LIST: Final = 2048
"""Room in one list of placements; a full one is freed of what is illegal, and no real position comes near."""
POINTS: Final = 200
"""Room for attach points of a colour: 24 pieces have no more than eight corners each."""
TRIES: Final = 4
"""Guesses at a random placement before the list is made."""

# The boards of a colour.
BLOCKED: Final = 0
"""The cells that a colour may not cover: taken, beside an own square, or off the board."""
OPEN: Final = 1
"""Its attach points; some are blocked by now."""
EARLIER: Final = 2
"""Room for a set of attach points."""
# The rows of attach points of a colour, each ``row * 32 + column``.
ATTACH: Final = 0
"""All, in the order in which they arose."""
LIVE: Final = 1
"""Those that have not been met blocked, in no order."""
# The numbers of a colour: how many attach points of both kinds, its pieces, and so on.
LEFT: Final = 2
"""The pieces that it has, a bit each."""
TWICE: Final = 3
"""Those that it has twice."""
HAND: Final = 4
"""How many pieces it has."""
CELLS: Final = 5
"""How many cells it covers."""
LAST: Final = 6
"""The piece that it placed last, -1 for none."""
OUT: Final = 7
SCARCE: Final = 8
"""Whether guessing has failed to find one of the largest placements: from then on the lists are asked."""
EXPANDED: Final = 9
"""How many attach points have been looked at for the lists."""
LISTED: Final = 10
"""How many placements each of its five lists holds."""
COLUMNS: Final = LISTED + CLASSES
# The last row of numbers is of the whole game.
TURN: Final = 0
"""The colour to move, or from which on one is looked for."""
GONE: Final = 1
"""The seats that have left, a bit each."""

Random: TypeAlias = NDArray[np.uint64]
"""One number: the state of a generator."""


class State(NamedTuple):
    """A position in play with ``C`` colours.  Few arrays, because each is seven arguments of every call."""

    boards: NDArray[np.uint32]
    """(C, 3, ROWS)"""
    attach: NDArray[np.int32]
    """(C, 2, POINTS)"""
    lists: NDArray[np.int32]
    """(C, 5, LIST) Placements by the size of their pieces."""
    numbers: NDArray[np.int64]
    """(C + 1, COLUMNS)"""


def empty_state(colours: int) -> State:
    """Room for a position; nothing in it means anything yet."""
    return State(
        boards=np.zeros((colours, 3, ROWS), np.uint32),
        attach=np.zeros((colours, 2, POINTS), np.int32),
        lists=np.zeros((colours, CLASSES, LIST), np.int32),
        numbers=np.zeros((colours + 1, COLUMNS), np.int64),
    )


def compiled(function: Any) -> Any:
    """Compile for one thread without the interpreter's lock; the machine code is kept between runs."""
    return njit(cache=True, nogil=True, error_model="numpy", boundscheck=False)(function)


@compiled
def copy_state(to: State, source: State) -> None:
    colours = len(source.boards)
    to.numbers[:] = source.numbers
    for colour in range(colours):
        for row in range(ROWS):
            to.boards[colour, BLOCKED, row] = source.boards[colour, BLOCKED, row]
            to.boards[colour, OPEN, row] = source.boards[colour, OPEN, row]
        for kind in range(2):
            for i in range(source.numbers[colour, kind]):
                to.attach[colour, kind, i] = source.attach[colour, kind, i]
        for size in range(CLASSES):
            for i in range(source.numbers[colour, LISTED + size]):
                to.lists[colour, size, i] = source.lists[colour, size, i]


@compiled
def next_random(random: Random) -> np.uint64:
    """xorshift64 (G. Marsaglia, 2003)."""
    x = random[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    random[0] = x
    return x


@compiled
def below(random: Random, count: int) -> int:
    """A random number from 0 to ``count`` - 1."""
    return np.int64(((next_random(random) >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))


@compiled
def seat_of(tables: Tables, state: State, colour: int) -> int:
    """The seat that makes the colour's next move, -1 if it has left; as ``Position.seat_of``."""
    owner = tables.owner[colour]
    gone = state.numbers[-1, GONE]
    if owner >= 0:
        return -1 if (gone >> owner) & 1 else owner
    first = tables.hand - state.numbers[colour, HAND]
    for offset in range(tables.seats):
        seat = (first + offset) % tables.seats
        if not (gone >> seat) & 1:
            return seat
    return -1


@compiled
def around(state: State, colour: int, board: int, row: int, column: int) -> np.uint64:
    """The 41 cells around a cell, as ``AROUND`` has them."""
    r, c = row + BORDER, np.uint32(column + BORDER)
    b = state.boards
    low = (b[colour, board, r - 4] >> c) & np.uint32(1)
    low |= ((b[colour, board, r - 3] >> (c - np.uint32(1))) & np.uint32(7)) << np.uint32(1)
    low |= ((b[colour, board, r - 2] >> (c - np.uint32(2))) & np.uint32(31)) << np.uint32(4)
    low |= ((b[colour, board, r - 1] >> (c - np.uint32(3))) & np.uint32(127)) << np.uint32(9)
    high = (b[colour, board, r] >> (c - np.uint32(4))) & np.uint32(511)
    high |= ((b[colour, board, r + 1] >> (c - np.uint32(3))) & np.uint32(127)) << np.uint32(9)
    high |= ((b[colour, board, r + 2] >> (c - np.uint32(2))) & np.uint32(31)) << np.uint32(16)
    high |= ((b[colour, board, r + 3] >> (c - np.uint32(1))) & np.uint32(7)) << np.uint32(21)
    high |= ((b[colour, board, r + 4] >> c) & np.uint32(1)) << np.uint32(24)
    return np.uint64(low) | np.uint64(high) << np.uint64(16)


@compiled
def ring(state: State, colour: int, board: int, row: int, column: int) -> int:
    """The three by three around a cell, as `START` has them."""
    r, c = row + BORDER, np.uint32(column + BORDER - 1)
    b = state.boards
    key = (b[colour, board, r - 1] >> c) & np.uint32(7)
    key |= ((b[colour, board, r] >> c) & np.uint32(7)) << np.uint32(3)
    key |= ((b[colour, board, r + 1] >> c) & np.uint32(7)) << np.uint32(6)
    return np.int64(key)


@compiled
def lacking(state: State, colour: int) -> np.uint64:
    """The pieces that a colour has not, where `AROUND` has pieces."""
    return ~np.uint64(state.numbers[colour, LEFT]) << np.uint64(NEARBY)


@compiled
def is_legal(state: State, colour: int, placement: int) -> bool:
    """Whether a placement that covers an attach point is legal: the piece is left, its cells are free."""
    shape = placement & 511
    if not (state.numbers[colour, LEFT] >> PIECE[shape]) & 1:
        return False
    column = np.uint32((placement >> 9) & 31)
    row = (placement >> 14) + BORDER + LOW[shape]
    taken = np.uint32(0)
    for i in range(5):
        taken |= state.boards[colour, BLOCKED, row + i] & (CELLS_OF[shape, i] << column)
    return taken == 0


@compiled
def put(state: State, colour: int, placement: int) -> None:
    """Put a piece down.  The turn is not passed on."""
    shape = placement & 511
    column = (placement >> 9) & 31
    row = placement >> 14
    bit = np.int64(1) << PIECE[shape]
    if state.numbers[colour, TWICE] & bit:
        state.numbers[colour, TWICE] ^= bit
    else:
        state.numbers[colour, LEFT] ^= bit
    state.numbers[colour, HAND] -= 1
    state.numbers[colour, CELLS] += COUNT[shape]
    state.numbers[colour, LAST] = PIECE[shape]
    low = row + BORDER + LOW[shape]
    shift = np.uint32(column)
    for other in range(len(state.boards)):
        for i in range(5):
            state.boards[other, BLOCKED, low + i] |= CELLS_OF[shape, i] << shift
    for i in range(7):
        state.boards[colour, BLOCKED, low - 1 + i] |= EDGES_OF[shape, i] << shift
    # Whether a corner is a new attach point nobody foretells, so there is no branch: what is none is written over.
    known, live = state.numbers[colour, ATTACH], state.numbers[colour, LIVE]
    for i in range(8):
        up, right = row + CORNERS_OF[shape, i, 0], column + CORNERS_OF[shape, i, 1]
        at = np.uint32(right + BORDER)
        there = state.boards[colour, BLOCKED, up + BORDER] | state.boards[colour, OPEN, up + BORDER]
        new = ((there >> at) & np.uint32(1)) ^ np.uint32(1)
        state.boards[colour, OPEN, up + BORDER] |= new << at
        state.attach[colour, ATTACH, known] = up * 32 + right
        state.attach[colour, LIVE, live] = up * 32 + right
        known += np.int64(new)
        live += np.int64(new)
    state.numbers[colour, ATTACH], state.numbers[colour, LIVE] = known, live


@compiled
def add_attach_point(state: State, colour: int, row: int, column: int) -> None:
    state.boards[colour, OPEN, row + BORDER] |= np.uint32(1) << np.uint32(column + BORDER)
    for kind in range(2):
        state.attach[colour, kind, state.numbers[colour, kind]] = row * 32 + column
        state.numbers[colour, kind] += 1


@compiled
def expand(state: State, colour: int) -> None:
    """Add to the lists what can be placed at attach points that have not been looked at."""
    lacks = lacking(state, colour)
    # What covers an attach point that was looked at earlier was found there: these cells count as blocked.
    for row in range(ROWS):
        state.boards[colour, EARLIER, row] = (
            state.boards[colour, OPEN, row] | state.boards[colour, BLOCKED, row]
        )
    begin, end = state.numbers[colour, EXPANDED], state.numbers[colour, ATTACH]
    for index in range(begin, end):
        at = np.int64(state.attach[colour, ATTACH, index])
        row = (at >> 5) + BORDER
        cell = np.uint32(1) << np.uint32((at & 31) + BORDER)
        state.boards[colour, EARLIER, row] &= ~cell | state.boards[colour, BLOCKED, row]
    for index in range(begin, end):
        at = np.int64(state.attach[colour, ATTACH, index])
        row, column = at >> 5, at & 31
        cell = np.uint32(1) << np.uint32(column + BORDER)
        if state.boards[colour, EARLIER, row + BORDER] & cell:
            continue
        taken = around(state, colour, EARLIER, row, column) | lacks
        key = ring(state, colour, EARLIER, row, column) * CLASSES
        state.boards[colour, EARLIER, row + BORDER] |= cell
        for size in range(CLASSES):
            first, last = START[key + size], START[key + size + 1]
            count = state.numbers[colour, LISTED + size]
            if count + last - first > LIST:
                sift(state, colour, size)
                count = min(state.numbers[colour, LISTED + size], LIST - (last - first))
            for j in range(first, last):
                if not AROUND[j] & taken:
                    state.lists[colour, size, count] = (at << 9) | ORDER[j]
                    count += 1
            state.numbers[colour, LISTED + size] = count
    state.numbers[colour, EXPANDED] = end


@compiled
def sift(state: State, colour: int, size: int) -> None:
    """Throw what has become illegal out of a list."""
    kept = 0
    for i in range(state.numbers[colour, LISTED + size]):
        placement = state.lists[colour, size, i]
        if is_legal(state, colour, np.int64(placement)):
            state.lists[colour, size, kept] = placement
            kept += 1
    state.numbers[colour, LISTED + size] = kept


@compiled
def legal_list(state: State, colour: int, into: NDArray[np.int32]) -> int:
    """Write all legal placements of a colour into an array, large pieces first, and give their number."""
    count = 0
    expand(state, colour)
    for size in range(CLASSES - 1, -1, -1):
        sift(state, colour, size)
        for i in range(state.numbers[colour, LISTED + size]):
            into[count] = state.lists[colour, size, i]
            count += 1
    return count


@compiled
def guess(state: State, colour: int, size: int, random: Random) -> int:
    """Look for a placement of a size at some random attach points; -1 if there is none."""
    lacks = lacking(state, colour)
    live = state.numbers[colour, LIVE]
    half, word = np.uint64(32), np.uint64(0xFFFFFFFF)
    found = -1
    for _ in range(TRIES):
        if live == 0:
            break
        chance = next_random(random)
        i = np.int64(((chance & word) * np.uint64(live)) >> half)
        at = np.int64(state.attach[colour, LIVE, i])
        row, column = at >> 5, at & 31
        cell = np.uint32(1) << np.uint32(column + BORDER)
        if state.boards[colour, BLOCKED, row + BORDER] & cell:
            live -= 1
            state.attach[colour, LIVE, i] = state.attach[colour, LIVE, live]
            continue
        key = ring(state, colour, BLOCKED, row, column) * CLASSES + size
        first, last = START[key], START[key + 1]
        if first == last:
            continue
        taken = around(state, colour, BLOCKED, row, column) | lacks
        begin = first + np.int64(((chance >> half) * np.uint64(last - first)) >> half)
        j = begin
        while AROUND[j] & taken:
            j += 1
            if j == last:
                j = first
            if j == begin:
                break
        if not AROUND[j] & taken:
            found = (at << 9) | ORDER[j]
            break
    state.numbers[colour, LIVE] = live
    return found


@compiled
def pick(state: State, colour: int, random: Random) -> int:
    """A random legal placement of the largest size that has one; -1 if there is none.

    Guessing finds one of five cells at once while there are many; when it fails, the lists are asked, which miss none.
    """
    if not state.numbers[colour, SCARCE]:
        placement = guess(state, colour, CLASSES - 1, random)
        if placement >= 0:
            return placement
        state.numbers[colour, SCARCE] = 1
    if state.numbers[colour, EXPANDED] < state.numbers[colour, ATTACH]:
        expand(state, colour)
    for size in range(CLASSES - 1, -1, -1):
        count = state.numbers[colour, LISTED + size]
        while count > 0:
            i = below(random, count)
            placement = np.int64(state.lists[colour, size, i])
            if is_legal(state, colour, placement):
                state.numbers[colour, LISTED + size] = count
                return placement
            count -= 1
            state.lists[colour, size, i] = state.lists[colour, size, count]
        state.numbers[colour, LISTED + size] = 0
    return -1


@compiled
def points(tables: Tables, state: State, colour: int) -> int:
    """Covered cells and bonus; as ``Position.points``."""
    cells = state.numbers[colour, CELLS]
    if state.numbers[colour, HAND] > 0:
        return cells
    if state.numbers[colour, LAST] == 0:
        return cells + tables.bonus_single
    return cells + tables.bonus_all

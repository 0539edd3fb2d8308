"""Endings that only one seat still plays: every set of placements is tried, and the best one is exact.

Nobody interferes any more, so it is a search for the most points, depth first, large pieces first.  Two rules keep it
small.  A branch is given up when not even all pieces that are left, or all cells that they could come to, would make
more than the best that is known (branch and bound; A. Land and A. Doig, 1960).  And a placement that has been tried
in a position is not tried again below its later siblings: what can be placed in some order can be placed with that
one first (sleep sets; P. Godefroid, 1990).  Only the single square may be worth more as the last piece.

The search can be left at any time and gone on with: all that it knows is in a `Stack`.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.engine.kernel import (
    BLOCKED,
    EARLIER,
    LEFT,
    OPEN,
    OUT,
    TURN,
    TWICE,
    State,
    compiled,
    copy_state,
    empty_state,
    legal_list,
    points,
    put,
    seat_of,
)
from bots.engine.search import Style, rewards
from bots.engine.tables import BORDER, COUNT, PIECE, ROWS, Tables
from bots.engine.weigh import MAX_MOVES

DEPTH: Final = 50
"""Placements in a row; no seat has more than two hands."""
CELLS_OF_PIECE: Final = np.array([COUNT[list(PIECE).index(piece)] for piece in range(21)], np.int64)
"""How many cells each piece has."""
# What a stack counts.
NOW: Final = 0
"""The depth that the search is at; -1 when it is through."""
MOST: Final = 1
"""The most points found."""
FIRST: Final = 2
"""The placement that leads there."""
NUMBERS: Final = 3


class Stack(NamedTuple):
    """The positions from the root to where the search is, and what is still to be tried in each."""

    boards: NDArray[np.uint32]
    attach: NDArray[np.int32]
    lists: NDArray[np.int32]
    numbers: NDArray[np.int64]
    """A `State` for each depth, and a last one: the best end that was found."""
    found: NDArray[np.int32]
    """(DEPTH, MAX_MOVES) The placements of the colour to move."""
    counts: NDArray[np.int64]
    tried: NDArray[np.int64]
    """(DEPTH) How many of them were tried."""
    asleep: NDArray[np.int8]
    """(C, placements) Which were tried in a position above, so that they need not be tried here."""
    search: NDArray[np.int64]
    """(NUMBERS)"""


def empty_stack(colours: int) -> Stack:
    """Room for a search."""
    one = empty_state(colours)
    boards, attach, lists, numbers = (
        np.zeros((DEPTH + 1, *part.shape), part.dtype) for part in one
    )
    return Stack(
        boards=boards,
        attach=attach,
        lists=lists,
        numbers=numbers,
        found=np.zeros((DEPTH, MAX_MOVES), np.int32),
        counts=np.zeros(DEPTH, np.int64),
        tried=np.zeros(DEPTH, np.int64),
        asleep=np.zeros((colours, 20 * 32 * 512), np.int8),
        search=np.array([-1, -1, -1]),
    )


@compiled
def state_at(stack: Stack, depth: int) -> State:
    return State(stack.boards[depth], stack.attach[depth], stack.lists[depth], stack.numbers[depth])


@compiled
def alone(tables: Tables, state: State, found: NDArray[np.int32]) -> int:
    """The only seat that can still place something; -1 if there are more, or a shared colour can."""
    only = -1
    for colour in range(len(state.boards)):
        if state.numbers[colour, OUT] or seat_of(tables, state, colour) < 0:
            continue
        if legal_list(state, colour, found) > 0:
            owner = tables.owner[colour]
            if owner < 0 or (only >= 0 and owner != only):
                return -1
            only = owner
    return only


@compiled
def total(tables: Tables, state: State, seat: int) -> int:
    """The points of a seat."""
    sum_of = 0
    for colour in range(len(state.boards)):
        if tables.owner[colour] == seat:
            sum_of += points(tables, state, colour)
    return sum_of


@compiled
def room(state: State, colour: int) -> int:
    """How many cells a chain of pieces, joined at corners, might come to."""
    for row in range(ROWS):
        free = ~state.boards[colour, BLOCKED, row]
        state.boards[colour, EARLIER, row] = state.boards[colour, OPEN, row] & free
    count, before = 0, -1
    while count != before:
        before, count = count, 0
        below = np.uint32(0)
        for row in range(BORDER, ROWS - BORDER):
            here = state.boards[colour, EARLIER, row]
            grown = here | below | state.boards[colour, EARLIER, row + 1]
            grown |= grown << np.uint32(1) | grown >> np.uint32(1)
            grown &= ~state.boards[colour, BLOCKED, row]
            state.boards[colour, EARLIER, row] = grown
            below = here
            while grown:
                grown &= grown - np.uint32(1)
                count += 1
    return count


@compiled
def at_most(tables: Tables, state: State, seat: int) -> int:
    """More points than this the seat cannot come to."""
    most: int = total(tables, state, seat)
    for colour in range(len(state.boards)):
        if tables.owner[colour] != seat or state.numbers[colour, OUT]:
            continue
        cells = 0
        for piece in range(len(CELLS_OF_PIECE)):
            has = (state.numbers[colour, LEFT] >> piece) & 1
            has += (state.numbers[colour, TWICE] >> piece) & 1
            cells += has * CELLS_OF_PIECE[piece]
        free = room(state, colour)
        if cells <= free:
            most += cells + max(tables.bonus_all, tables.bonus_single)
        else:
            most += free
    return most


@compiled
def enter(tables: Tables, stack: Stack, depth: int, seat: int) -> None:
    """Find the colour to move at a depth, and what it has to try; if there is none, the game is over there."""
    state, found = state_at(stack, depth), stack.found[depth]
    colours = len(state.boards)
    colour = state.numbers[-1, TURN]
    stack.counts[depth] = stack.tried[depth] = 0
    for _ in range(colours):
        if state.numbers[colour, OUT] == 0 and tables.owner[colour] == seat:
            count = legal_list(state, colour, found)
            if count > 0:
                state.numbers[-1, TURN] = colour
                if depth > 0 and at_most(tables, state, seat) <= stack.search[MOST]:
                    return
                kept = 0
                for i in range(count):
                    if stack.asleep[colour, found[i]] == 0:
                        found[kept] = found[i]
                        kept += 1
                stack.counts[depth] = kept
                return
            state.numbers[colour, OUT] = 1
        colour = (colour + 1) % colours
    points_now = total(tables, state, seat)
    if points_now > stack.search[MOST]:
        stack.search[MOST] = points_now
        stack.search[FIRST] = stack.found[0, stack.tried[0] - 1]
        copy_state(state_at(stack, DEPTH), state)


@compiled
def begin(tables: Tables, stack: Stack, root: State, seat: int) -> None:
    """Start the search of a position that only this seat still plays."""
    stack.asleep[:] = 0
    stack.search[NOW] = 0
    stack.search[MOST] = stack.search[FIRST] = -1
    copy_state(state_at(stack, 0), root)
    enter(tables, stack, np.int64(0), seat)


@compiled
def solve(tables: Tables, stack: Stack, seat: int, placements: int) -> int:
    """Try at most so many placements more; gives how many were tried. It is through when `NOW` is -1."""
    depth = stack.search[NOW]
    done = 0
    while depth >= 0 and done < placements:
        state = state_at(stack, depth)
        colour = state.numbers[-1, TURN]
        i = stack.tried[depth]
        if i > 0 and PIECE[stack.found[depth, i - 1] & 511] > 0:
            stack.asleep[colour, stack.found[depth, i - 1]] = 1
        if i == stack.counts[depth]:
            for j in range(i):
                stack.asleep[colour, stack.found[depth, j]] = 0
            depth -= 1
            continue
        stack.tried[depth] = i + 1
        done += 1
        after = state_at(stack, depth + 1)
        copy_state(after, state)
        put(after, colour, np.int64(stack.found[depth, i]))
        after.numbers[-1, TURN] = (colour + 1) % len(state.boards)
        enter(tables, stack, depth + 1, seat)
        if stack.counts[depth + 1] > 0:
            depth += 1
    stack.search[NOW] = depth
    return done


@compiled
def best_reward(tables: Tables, stack: Stack, style: Style, seat: int) -> float:
    """The reward of the seat at the best end that was found."""
    gained = np.zeros(tables.seats, np.float64)
    rewards(tables, state_at(stack, DEPTH), style, gained)
    reward: float = gained[seat]
    return reward

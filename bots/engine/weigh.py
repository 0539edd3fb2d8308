"""Choosing without playing on: every placement is made, and the position that it leads to is weighed.

A position is weighed for each seat by what it covers, by its attach points, and by its *reach*: the cells that its next
two pieces might come to.  Looking ahead lets every rival answer in the same way before the position is weighed.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.engine.kernel import (
    BLOCKED,
    EARLIER,
    OPEN,
    OUT,
    TURN,
    Random,
    State,
    compiled,
    copy_boards,
    copy_state,
    legal_list,
    next_random,
    points,
    put,
    seat_of,
)
from bots.engine.tables import BORDER, ROWS, Tables

MAX_MOVES: Final = 4096
STEPS: Final = 4
"""A piece comes at most so many steps from the cell where it joins."""


class Weights(NamedTuple):
    """How much counts what: for the seat itself, and taken off for its best rival."""

    points: float = 1.0
    attach: float = 0.0
    """For each attach point that is free."""
    reach: float = 0.0
    """For each cell that two more pieces might cover."""
    rival: float = 0.0
    """The same sum of the rival that has the largest, times this, is taken off."""


@compiled
def attach_points(state: State, colour: int) -> int:
    """How many attach points of a colour are free."""
    count = 0
    for row in range(BORDER, ROWS - BORDER):
        word = state.boards[colour, OPEN, row] & ~state.boards[colour, BLOCKED, row]
        while word:
            word &= word - np.uint32(1)
            count += 1
    return count


@compiled
def spread(state: State, colour: int, steps: int) -> None:
    """Let a set of cells grow by so many steps over cells that are free for the colour."""
    for _ in range(steps):
        below = np.uint32(0)
        for row in range(BORDER, ROWS - BORDER):
            here = state.boards[colour, EARLIER, row]
            grown = here | here << np.uint32(1) | here >> np.uint32(1) | below
            grown |= state.boards[colour, EARLIER, row + 1]
            state.boards[colour, EARLIER, row] = grown & ~state.boards[colour, BLOCKED, row]
            below = here


@compiled
def reach(state: State, colour: int) -> int:
    """How many cells the next two pieces of a colour might come to, whatever pieces it has."""
    for row in range(ROWS):
        free = ~state.boards[colour, BLOCKED, row]
        state.boards[colour, EARLIER, row] = state.boards[colour, OPEN, row] & free
    spread(state, colour, STEPS)
    # The second piece joins at a corner of the first, and may lie as far from there.
    spread(state, colour, STEPS)
    count = 0
    for row in range(BORDER, ROWS - BORDER):
        word = state.boards[colour, EARLIER, row]
        while word:
            word &= word - np.uint32(1)
            count += 1
    return count


@compiled
def weigh(tables: Tables, state: State, weights: Weights, into: NDArray[np.float64]) -> None:
    """What the position is worth to each seat."""
    into[:] = 0.0
    for colour in range(len(state.boards)):
        owner = tables.owner[colour]
        if owner < 0:
            continue
        worth = weights.points * points(tables, state, colour)
        if state.numbers[colour, OUT] == 0:
            if weights.attach != 0.0:
                worth += weights.attach * attach_points(state, colour)
            if weights.reach != 0.0:
                worth += weights.reach * reach(state, colour)
        into[owner] += worth


@compiled
def judge(
    tables: Tables, state: State, seat: int, weights: Weights, worth: NDArray[np.float64]
) -> float:
    """What the position is worth to a seat, less what it is worth to its best rival."""
    weigh(tables, state, weights, worth)
    best = -1e9
    for rival in range(tables.seats):
        if rival != seat:
            best = max(best, worth[rival])
    return worth[seat] - weights.rival * best


@compiled
def best_placement(
    tables: Tables,
    state: State,
    trial: State,
    colour: int,
    weights: Weights,
    noise: float,
    random: Random,
    found: NDArray[np.int32],
    values: NDArray[np.float64],
    worth: NDArray[np.float64],
) -> int:
    """The placement after which the position is worth most, give or take the noise; -1 if there is none.

    ``found`` and ``values`` hold all of them and their values afterwards; ``found[-1]`` is their number.
    """
    copy_state(trial, state)
    count = legal_list(trial, colour, found)
    found[-1] = count
    seat = seat_of(tables, state, colour)
    chosen, most = -1, -1e18
    for i in range(count):
        copy_boards(trial, state)
        put(trial, colour, np.int64(found[i]))
        values[i] = judge(tables, trial, seat, weights, worth)
        if noise > 0.0:
            # The sum of four even chances is close enough to a normal one.
            luck = 0.0
            for _ in range(4):
                luck += np.float64(next_random(random) >> np.uint64(11)) / 9007199254740992.0 - 0.5
            values[i] += noise * luck * 1.7320508
        if values[i] > most:
            chosen, most = np.int64(found[i]), values[i]
    return chosen


@compiled
def room_like(state: State) -> State:
    """Another state of the same shape."""
    return State(
        np.empty_like(state.boards),
        np.empty_like(state.attach),
        np.empty_like(state.lists),
        np.empty_like(state.numbers),
    )


@compiled
def weighed(tables: Tables, state: State, weights: Weights, noise: float, random: Random) -> int:
    """The placement that the colour to move likes best when it looks no further."""
    trial = room_like(state)
    found = np.zeros(MAX_MOVES, np.int32)
    values = np.zeros(MAX_MOVES, np.float64)
    worth = np.zeros(tables.seats, np.float64)
    colour = state.numbers[-1, TURN]
    return best_placement(
        tables, state, trial, colour, weights, noise, random, found, values, worth
    )


@compiled
def looked_ahead(
    tables: Tables, state: State, weights: Weights, noise: float, candidates: int, random: Random
) -> int:
    """The best of the most promising placements, when every rival until the next own turn answers as it likes best."""
    trial = room_like(state)
    after = room_like(state)
    found = np.zeros(MAX_MOVES, np.int32)
    values = np.zeros(MAX_MOVES, np.float64)
    replies = np.zeros(MAX_MOVES, np.int32)
    scrap = np.zeros(MAX_MOVES, np.float64)
    worth = np.zeros(tables.seats, np.float64)
    colours = len(state.boards)
    colour = state.numbers[-1, TURN]
    seat = seat_of(tables, state, colour)
    best_placement(tables, state, trial, colour, weights, noise, random, found, values, worth)
    count = found[-1]
    chosen, most = -1, -1e18
    for _ in range(min(candidates, count)):
        i = np.argmax(values[:count])
        placement = np.int64(found[i])
        values[i] = -1e18
        copy_state(after, state)
        put(after, colour, placement)
        for step in range(1, colours):
            rival = (colour + step) % colours
            who = seat_of(tables, after, rival)
            if after.numbers[rival, OUT] or who < 0 or who == seat:
                continue
            reply = best_placement(
                tables, after, trial, rival, weights, 0.0, random, replies, scrap, worth
            )
            if reply < 0:
                after.numbers[rival, OUT] = 1
            else:
                put(after, rival, reply)
        value = judge(tables, after, seat, weights, worth)
        if value > most:
            chosen, most = placement, value
    return chosen

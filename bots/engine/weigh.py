"""Choosing without playing on: every placement is made, and the position that it leads to is weighed.

A position is weighed for each seat by what it covers, by its attach points, and by its *reach*: the cells that its next
two pieces might come to.  Looking ahead lets every rival answer in the same way before the position is weighed.
"""

from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.engine.kernel import (
    BLOCKED,
    CELLS,
    EARLIER,
    HAND,
    OPEN,
    OUT,
    TURN,
    Random,
    State,
    compiled,
    copy_state,
    legal_list,
    next_random,
    points,
    put,
    seat_of,
)
from bots.engine.tables import (
    BORDER,
    CELLS_OF,
    COUNT,
    EDGES_OF,
    LOW,
    PIECE,
    ROWS,
    TOUCHES_OF,
    Tables,
)

MAX_MOVES: Final = 4096
LANES: Final = 16
"""So many placements are weighed side by side, which the processor does at the cost of a few."""
STEPS: Final = 4
"""A piece comes at most so many steps from the cell where it joins."""


Lanes: TypeAlias = NDArray[np.uint32]
"""(ROWS * LANES) A board for each lane, the same row of all lanes side by side."""


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
def lay_out(
    state: State,
    colour: int,
    mover: int,
    placements: NDArray[np.int32],
    free: Lanes,
    area: Lanes,
) -> None:
    """What is free for a colour after each placement of the mover, and the attach points that it then has."""
    for row in range(ROWS):
        free[row * LANES : row * LANES + LANES] = ~state.boards[colour, BLOCKED, row]
        area[row * LANES : row * LANES + LANES] = state.boards[colour, OPEN, row]
    for lane in range(len(placements)):
        placement = np.int64(placements[lane])
        shape, shift = placement & 511, np.uint32((placement >> 9) & 31)
        at = ((placement >> 14) + BORDER + LOW[shape]) * LANES + lane
        for i in range(5):
            free[at + i * LANES] &= ~(CELLS_OF[shape, i] << shift)
        if colour == mover:
            at -= LANES
            for i in range(7):
                free[at + i * LANES] &= ~(EDGES_OF[shape, i] << shift)
                area[at + i * LANES] |= TOUCHES_OF[shape, i] << shift
    for i in range(ROWS * LANES):
        area[i] &= free[i]


@compiled
def flood(free: Lanes, area: Lanes, grown: Lanes) -> None:
    """As two steps of `spread`, for all lanes."""
    for i in range(BORDER * LANES, (ROWS - BORDER) * LANES):
        here = area[i]
        wide = here | np.uint32(here << np.uint32(1)) | np.uint32(here >> np.uint32(1))
        grown[i] = (wide | area[i - LANES] | area[i + LANES]) & free[i]
    for i in range(BORDER * LANES, (ROWS - BORDER) * LANES):
        here = grown[i]
        wide = here | np.uint32(here << np.uint32(1)) | np.uint32(here >> np.uint32(1))
        area[i] = (wide | grown[i - LANES] | grown[i + LANES]) & free[i]


@compiled
def add_bits(area: Lanes, count: Lanes, weight: float, into: NDArray[np.float64]) -> None:
    """Add to every lane how many cells it has, times a weight."""
    count[:LANES] = 0
    for row in range(BORDER * LANES, (ROWS - BORDER) * LANES, LANES):
        for lane in range(LANES):
            word = area[row + lane]
            word = np.uint32(word - np.uint32((word >> np.uint32(1)) & np.uint32(0x55555555)))
            word = np.uint32(
                (word & np.uint32(0x33333333)) + ((word >> np.uint32(2)) & np.uint32(0x33333333))
            )
            word = np.uint32((word + (word >> np.uint32(4))) & np.uint32(0x0F0F0F0F))
            count[lane] += np.uint32(np.uint32(word * np.uint32(0x01010101)) >> np.uint32(24))
    for lane in range(LANES):
        into[lane] += weight * np.int64(count[lane])


@compiled
def set_points(
    tables: Tables,
    state: State,
    mover: int,
    placements: NDArray[np.int32],
    weight: float,
    into: NDArray[np.float64],
) -> None:
    """The weighed points of the mover after each of its placements."""
    for lane in range(len(placements)):
        shape = placements[lane] & 511
        covered = state.numbers[mover, CELLS] + COUNT[shape]
        if state.numbers[mover, HAND] == 1:
            covered += tables.bonus_single if PIECE[shape] == 0 else tables.bonus_all
        into[lane] = weight * covered


@compiled
def weigh_some(
    tables: Tables,
    state: State,
    mover: int,
    placements: NDArray[np.int32],
    weights: Weights,
    into: NDArray[np.float64],
) -> None:
    """As `judge` after each of at most `LANES` placements of the mover, for the seat that makes them."""
    worth = np.zeros((tables.seats, LANES), np.float64)
    part = np.zeros(LANES, np.float64)
    free = np.zeros(ROWS * LANES, np.uint32)
    area = np.zeros(ROWS * LANES, np.uint32)
    grown = np.zeros(ROWS * LANES, np.uint32)
    for colour in range(len(state.boards)):
        owner = tables.owner[colour]
        if owner < 0:
            continue
        part[:] = weights.points * points(tables, state, colour)
        if colour == mover:
            set_points(tables, state, colour, placements, weights.points, part)
        if state.numbers[colour, OUT] == 0 and (weights.attach != 0.0 or weights.reach != 0.0):
            lay_out(state, colour, mover, placements, free, area)
            add_bits(area, grown, weights.attach, part)
            for _ in range(STEPS if weights.reach != 0.0 else 0):
                flood(free, area, grown)
            add_bits(area, grown, weights.reach, part)
        for lane in range(LANES):
            worth[owner, lane] += part[lane]
    seat = seat_of(tables, state, mover)
    for lane in range(len(placements)):
        best = -1e9
        for rival in range(tables.seats):
            if rival != seat:
                best = max(best, worth[rival, lane])
        into[lane] = worth[seat, lane] - weights.rival * best


@compiled
def weigh_all(
    tables: Tables,
    state: State,
    mover: int,
    found: NDArray[np.int32],
    count: int,
    weights: Weights,
    values: NDArray[np.float64],
) -> None:
    """What the position is worth, after each of so many placements, to the seat that makes it."""
    for begin in range(0, count, LANES):
        end = min(begin + LANES, count)
        weigh_some(tables, state, mover, found[begin:end], weights, values[begin:end])


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
) -> int:
    """The placement after which the position is worth most, give or take the noise; -1 if there is none.

    ``found`` and ``values`` hold all of them and their values afterwards; ``found[-1]`` is their number.
    """
    copy_state(trial, state)
    count = legal_list(trial, colour, found)
    found[-1] = count
    weigh_all(tables, state, colour, found, count, weights, values)
    chosen, most = -1, -1e18
    for i in range(count):
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
    colour = state.numbers[-1, TURN]
    return best_placement(tables, state, trial, colour, weights, noise, random, found, values)


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
    best_placement(tables, state, trial, colour, weights, noise, random, found, values)
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
                tables, after, trial, rival, weights, 0.0, random, replies, scrap
            )
            if reply < 0:
                after.numbers[rival, OUT] = 1
            else:
                put(after, rival, reply)
        value = judge(tables, after, seat, weights, worth)
        if value > most:
            chosen, most = placement, value
    return chosen

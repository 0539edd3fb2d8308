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


class Room(NamedTuple):
    """Where placements are weighed side by side."""

    free: Lanes
    area: Lanes
    grown: Lanes
    worth: NDArray[np.float64]
    """(LANES)"""
    placements: NDArray[np.int32]
    index: NDArray[np.int64]
    """(LANES) Where a lane's placement is among all."""


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
def points_after(tables: Tables, state: State, colour: int, placement: int) -> int:
    """The points of a colour after a placement of its own."""
    shape = placement & 511
    covered = state.numbers[colour, CELLS] + COUNT[shape]
    if state.numbers[colour, HAND] > 1:
        return covered
    return covered + (tables.bonus_single if PIECE[shape] == 0 else tables.bonus_all)


@compiled
def comes_near(state: State, colour: int, placement: int) -> bool:
    """Whether a placement covers one of the cells of the last `reach`: of a rival's no other one changes anything."""
    shape, shift = placement & 511, np.uint32((placement >> 9) & 31)
    low = (placement >> 14) + BORDER + LOW[shape]
    met = np.uint32(0)
    for i in range(5):
        met |= state.boards[colour, EARLIER, low + i] & (CELLS_OF[shape, i] << shift)
    return met != 0


@compiled
def settle(
    state: State,
    colour: int,
    mover: int,
    filled: int,
    weights: Weights,
    room: Room,
    into: NDArray[np.float64],
) -> None:
    """Weigh a colour after each of the placements in the first lanes, and add that to their values."""
    lay_out(state, colour, mover, room.placements[:filled], room.free, room.area)
    add_bits(room.area, room.grown, weights.attach, room.worth)
    for _ in range(STEPS if weights.reach != 0.0 else 0):
        flood(room.free, room.area, room.grown)
    add_bits(room.area, room.grown, weights.reach, room.worth)
    for lane in range(filled):
        into[room.index[lane]] += room.worth[lane]


@compiled
def weigh_colour(
    tables: Tables,
    state: State,
    colour: int,
    mover: int,
    found: NDArray[np.int32],
    count: int,
    weights: Weights,
    room: Room,
    into: NDArray[np.float64],
) -> None:
    """Add what a colour is worth after each of so many placements of the mover."""
    same = weights.points * points(tables, state, colour)
    playing = state.numbers[colour, OUT] == 0 and (weights.attach != 0.0 or weights.reach != 0.0)
    if playing and colour != mover:
        cells = reach(state, colour)
        same += weights.attach * attach_points(state, colour)
        same += weights.reach * cells
    filled = 0
    for i in range(count):
        placement = np.int64(found[i])
        if colour != mover and not (playing and comes_near(state, colour, placement)):
            into[i] += same
            continue
        after = points(tables, state, colour)
        if colour == mover:
            after = points_after(tables, state, colour, placement)
        if not playing:
            into[i] += weights.points * after
            continue
        room.worth[filled] = weights.points * after
        room.placements[filled], room.index[filled] = placement, i
        filled += 1
        if filled == LANES:
            settle(state, colour, mover, filled, weights, room, into)
            filled = 0
    if filled > 0:
        settle(state, colour, mover, filled, weights, room, into)


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
    """As `judge` after each of so many placements, for the seat that makes them; ``state`` is only scribbled on."""
    room = Room(
        np.empty(ROWS * LANES, np.uint32),
        np.empty(ROWS * LANES, np.uint32),
        np.zeros(ROWS * LANES, np.uint32),
        np.zeros(LANES, np.float64),
        np.empty(LANES, np.int32),
        np.empty(LANES, np.int64),
    )
    worth = np.zeros((tables.seats, count), np.float64)
    for colour in range(len(state.boards)):
        owner = tables.owner[colour]
        if owner >= 0:
            weigh_colour(tables, state, colour, mover, found, count, weights, room, worth[owner])
    seat = seat_of(tables, state, mover)
    for i in range(count):
        best = -1e9
        for rival in range(tables.seats):
            if rival != seat:
                best = max(best, worth[rival, i])
        values[i] = worth[seat, i] - weights.rival * best


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

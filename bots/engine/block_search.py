"""Looking ahead over a hand: every order and placement of its blocks, the most promising ones kept (a beam search,
B. Lowerre, 1976); and over hands that may come after it, drawn by the weights of the rules.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.engine.block_kernel import (
    Weights,
    dealable,
    drawn,
    fits,
    hope,
    part,
    put,
    scored,
    weigh,
)
from bots.engine.block_tables import Tables
from bots.engine.kernel import Random, below, compiled

HAND: Final = 3

# The numbers of a node.
LEFT: Final = 0
"""The slots that hold a block, a bit each."""
POINTS: Final = 1
"""What the placements that led there have scored."""
STREAK: Final = 2
AT_RISK: Final = 3
PLACEMENT: Final = 4
"""The latest placement, and its slot."""
SLOT: Final = 5
PARENT: Final = 6
"""The node before that placement, among those with one placement less."""
COLUMNS: Final = 7


class Beam(NamedTuple):
    """The nodes with 0 to 3 placements, up to ``W`` of each."""

    words: NDArray[np.uint64]
    """(4, W, 2) Their empty cells."""
    numbers: NDArray[np.int64]
    """(4, W, COLUMNS)"""
    values: NDArray[np.float64]
    """(4, W)"""
    sizes: NDArray[np.int64]
    """(4) How many there are."""


def empty_beam(width: int) -> Beam:
    """Room for so many nodes of each kind; nothing in it means anything yet."""
    return Beam(
        words=np.zeros((HAND + 1, width, 2), np.uint64),
        numbers=np.zeros((HAND + 1, width, COLUMNS), np.int64),
        values=np.zeros((HAND + 1, width), np.float64),
        sizes=np.zeros(HAND + 1, np.int64),
    )


@compiled
def set_root(
    beam: Beam, low: np.uint64, high: np.uint64, left: int, streak: int, at_risk: int
) -> None:
    """Make a position the only node without a placement."""
    beam.words[0, 0, 0] = low
    beam.words[0, 0, 1] = high
    beam.numbers[0, 0, LEFT] = left
    beam.numbers[0, 0, POINTS] = 0
    beam.numbers[0, 0, STREAK] = streak
    beam.numbers[0, 0, AT_RISK] = at_risk
    beam.sizes[0] = 1


@compiled
def greedy(
    tables: Tables,
    hand: NDArray[np.int64],
    low: np.uint64,
    high: np.uint64,
    streak: int,
    at_risk: int,
    random: Random,
) -> tuple[int, int]:
    """Slot and placement with the most points at once, any of them if there are several; -1 for the slot if none is."""
    most, ties, slot, chosen = -1, 0, -1, 0
    for at in range(HAND):
        if hand[at] < 0:
            continue
        for turn in range(4):
            block = tables.turns[hand[at], turn]
            if block < 0:
                continue
            for placement in range(tables.first[block], tables.first[block + 1]):
                if tables.masks[placement, 0] & ~low or tables.masks[placement, 1] & ~high:
                    continue
                cleared = put(tables, placement, low, high)[2]
                points = scored(tables.squares[block], cleared, streak, at_risk)[0]
                if points > most:
                    most, ties = points, 0
                if points == most:
                    ties += 1
                    if below(random, ties) == 0:
                        slot, chosen = at, placement
    return slot, chosen


@compiled
def _keep(
    beam: Beam,
    depth: int,
    width: int,
    worst: int,
    node: tuple[np.uint64, np.uint64, int, int, int, int, int, int, int],
    value: float,
) -> int:
    """Keep a node if it is among the best, and no other order has led to the same; gives the worst one that is kept."""
    size = beam.sizes[depth]
    for other in range(size):
        if (
            beam.values[depth, other] == value
            and beam.words[depth, other, 0] == node[0]
            and beam.words[depth, other, 1] == node[1]
            and beam.numbers[depth, other, LEFT] == node[2]
        ):
            return worst
    into = worst
    if size < width:
        into = size
        beam.sizes[depth] = size + 1
    beam.words[depth, into, 0] = node[0]
    beam.words[depth, into, 1] = node[1]
    beam.numbers[depth, into, LEFT] = node[2]
    beam.numbers[depth, into, POINTS] = node[3]
    beam.numbers[depth, into, STREAK] = node[4]
    beam.numbers[depth, into, AT_RISK] = node[5]
    beam.numbers[depth, into, PLACEMENT] = node[6]
    beam.numbers[depth, into, SLOT] = node[7]
    beam.numbers[depth, into, PARENT] = node[8]
    beam.values[depth, into] = value
    if beam.sizes[depth] < width:
        return 0
    worst = 0
    for other in range(1, width):
        if beam.values[depth, other] < beam.values[depth, worst]:
            worst = other
    return worst


@compiled
def _expand(
    tables: Tables,
    weights: Weights,
    hand: NDArray[np.int64],
    beam: Beam,
    depth: int,
    width: int,
) -> None:
    """Find the nodes with one placement more than those at ``depth``."""
    beam.sizes[depth + 1] = 0
    worst = 0
    for parent in range(beam.sizes[depth]):
        low, high = beam.words[depth, parent, 0], beam.words[depth, parent, 1]
        left = beam.numbers[depth, parent, LEFT]
        before = beam.numbers[depth, parent, POINTS]
        old_streak = beam.numbers[depth, parent, STREAK]
        old_risk = beam.numbers[depth, parent, AT_RISK]
        for slot in range(HAND):
            if not (left >> slot) & 1:
                continue
            rest = left & ~(1 << slot)
            for turn in range(4):
                block = tables.turns[hand[slot], turn]
                if block < 0:
                    continue
                for placement in range(tables.first[block], tables.first[block + 1]):
                    if tables.masks[placement, 0] & ~low or tables.masks[placement, 1] & ~high:
                        continue
                    new_low, new_high, cleared = put(tables, placement, low, high)
                    points, streak, at_risk = scored(
                        tables.squares[block], cleared, old_streak, old_risk
                    )
                    points += before
                    value = points + weigh(weights, new_low, new_high)
                    value += hope(weights, streak, at_risk)
                    full = beam.sizes[depth + 1] == width
                    if full and value <= beam.values[depth + 1, worst]:
                        continue
                    for other in range(HAND):
                        if (rest >> other) & 1 and not fits(tables, hand[other], new_low, new_high):
                            value -= weights.stuck
                    if full and value <= beam.values[depth + 1, worst]:
                        continue
                    node = (
                        new_low,
                        new_high,
                        rest,
                        points,
                        streak,
                        at_risk,
                        placement,
                        slot,
                        parent,
                    )
                    worst = _keep(beam, depth + 1, width, worst, node, value)


@compiled
def look_ahead(
    tables: Tables, weights: Weights, hand: NDArray[np.int64], beam: Beam, width: int
) -> int:
    """Place the blocks of the root's hand in every order, and give the most placements that were possible."""
    left = beam.numbers[0, 0, LEFT]
    blocks = (left & 1) + (left >> 1 & 1) + (left >> 2 & 1)
    depth = 0
    while depth < blocks:
        _expand(tables, weights, hand, beam, depth, width)
        if beam.sizes[depth + 1] == 0:
            break
        depth += 1
    return depth


@compiled
def best_of(beam: Beam, depth: int) -> int:
    """The node with so many placements that is worth most."""
    best = 0
    for node in range(1, beam.sizes[depth]):
        if beam.values[depth, node] > beam.values[depth, best]:
            best = node
    return best


@compiled
def trace(beam: Beam, depth: int, node: int, plan: NDArray[np.int64]) -> None:
    """Slots and placements that lead to a node, in order."""
    while depth > 0:
        depth -= 1
        plan[depth, 0] = beam.numbers[depth + 1, node, SLOT]
        plan[depth, 1] = beam.numbers[depth + 1, node, PLACEMENT]
        node = beam.numbers[depth + 1, node, PARENT]


@compiled
def sample(
    tables: Tables,
    weights: Weights,
    beam: Beam,
    depth: int,
    nodes: NDArray[np.int64],
    inner: Beam,
    width: int,
    hands: int,
    random: Random,
    totals: NDArray[np.float64],
) -> None:
    """Play every node on by the same chance, over so many hands, and add to its total what that comes to."""
    chances = np.empty(hands * HAND)
    for i in range(hands * HAND):
        chances[i] = part(random)
    hand = np.empty(HAND, np.int64)
    for i in range(len(nodes)):
        node = nodes[i]
        low, high = beam.words[depth, node, 0], beam.words[depth, node, 1]
        streak = beam.numbers[depth, node, STREAK]
        at_risk = beam.numbers[depth, node, AT_RISK]
        worth = float(beam.numbers[depth, node, POINTS])
        for number in range(hands):
            blocks = dealable(tables, low, high)
            for slot in range(HAND):
                hand[slot] = drawn(tables, blocks, chances[number * HAND + slot])
            set_root(inner, low, high, 7, streak, at_risk)
            reached = look_ahead(tables, weights, hand, inner, width)
            if reached < HAND:
                if reached > 0:
                    worth += inner.numbers[reached, best_of(inner, reached), POINTS]
                worth -= weights.over
                break
            best = best_of(inner, HAND)
            if number == hands - 1:
                worth += inner.values[HAND, best]
            else:
                worth += inner.numbers[HAND, best, POINTS]
                low, high = inner.words[HAND, best, 0], inner.words[HAND, best, 1]
                streak = inner.numbers[HAND, best, STREAK]
                at_risk = inner.numbers[HAND, best, AT_RISK]
        totals[i] += worth

"""A block puzzle in compiled code: place, clear, score, deal, and weigh what is left.

A position is its empty cells, in the two words that ``block_tables`` describes.
"""

from typing import Final, NamedTuple

import numpy as np

from bots.engine.block_tables import STRIDE, Tables
from bots.engine.kernel import Random, compiled, next_random

WORD: Final = np.uint64((1 << 55) - 1)
"""The bits of a word that are cells of the frame."""
UP: Final = np.uint64(STRIDE)
BITS: Final = np.uint64(55)
ONE: Final = np.uint64(1)
TWO: Final = np.uint64(2)
FOUR: Final = np.uint64(4)

LINE_POINTS: Final = 10
TOP_MULTIPLIER: Final = 5


class Weights(NamedTuple):
    """What a position is worth, in points of the game."""

    empty: float = 0.0
    """For each empty cell."""
    edges: float = 0.0
    """Taken off for each side of an empty cell that is the edge of the board or of a covered cell."""
    holes: float = 0.0
    """Taken off for each empty cell that has no empty neighbour."""
    narrow: float = 0.0
    """Taken off for each empty cell that is closed in on the left and right, and for each that is above and below."""
    bars: float = 0.0
    """Taken off, for lying and for standing straights of five, where there is no room; with ``n`` places, so much
    divided by ``n`` + 1."""
    squares: float = 0.0
    """The same for squares of 3×3."""
    streak: float = 0.0
    """For each step of the streak, up to the fifth."""
    at_risk: float = 0.0
    """The part of that which is left when the streak is at risk."""
    stuck: float = 0.0
    """Taken off for each block of the hand that has no room."""
    over: float = 0.0
    """Taken off when the run would be over."""


@compiled
def count(word: np.uint64) -> int:
    """How many bits are set (H. S. Warren, "Hacker's Delight", 5-1)."""
    x = word - ((word >> ONE) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> TWO) & np.uint64(0x3333333333333333))
    x = (x + (x >> FOUR)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@compiled
def shifted(low: np.uint64, high: np.uint64, bits: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The set moved down and left by so many bits, fewer than 55."""
    return (low >> bits) | ((high << (BITS - bits)) & WORD), high >> bits


@compiled
def has_room(tables: Tables, block: int, low: np.uint64, high: np.uint64) -> bool:
    """Whether the block fits somewhere as it is."""
    here, above = WORD, WORD
    for i in range(tables.squares[block]):
        moved = shifted(low, high, tables.steps[block, i])
        here &= moved[0]
        above &= moved[1]
        if here | above == 0:
            return False
    return True


@compiled
def fits(tables: Tables, block: int, low: np.uint64, high: np.uint64) -> bool:
    """Whether the block fits somewhere, turned if it may be."""
    for turn in range(4):
        turned = tables.turns[block, turn]
        if turned >= 0 and has_room(tables, turned, low, high):
            return True
    return False


@compiled
def put(
    tables: Tables, placement: int, low: np.uint64, high: np.uint64
) -> tuple[np.uint64, np.uint64, int]:
    """The empty cells after a placement that is legal, and how many lines it has cleared."""
    low &= ~tables.masks[placement, 0]
    high &= ~tables.masks[placement, 1]
    touched, line, cleared = tables.touched[placement], 0, 0
    back_low, back_high = np.uint64(0), np.uint64(0)
    while touched:
        first, second = tables.lines[line, 0], tables.lines[line, 1]
        if touched & np.uint32(1) and not (first & low or second & high):
            back_low |= first
            back_high |= second
            cleared += 1
        touched >>= np.uint32(1)
        line += 1
    return low | back_low, high | back_high, cleared


@compiled
def scored(squares: int, cleared: int, streak: int, at_risk: int) -> tuple[int, int, int]:
    """The points of a placement, the streak after it, and whether that is at risk (1 or 0)."""
    if cleared == 0:
        return squares, 0 if at_risk else streak, 1
    streak += 1
    times = min(streak, TOP_MULTIPLIER)
    return squares + LINE_POINTS * cleared * cleared * times, streak, 0


@compiled
def weigh(weights: Weights, low: np.uint64, high: np.uint64) -> float:
    """What the empty cells are worth."""
    right = low >> ONE, high >> ONE
    above = shifted(low, high, UP)
    level = low & right[0], high & right[1]
    stacked = low & above[0], high & above[1]
    cells = count(low) + count(high)
    pairs = count(level[0]) + count(level[1]) + count(stacked[0]) + count(stacked[1])
    # A cell has a pair to its right, or is the right one of a pair; likewise up and down.
    beside = level[0] | (level[0] << ONE), level[1] | (level[1] << ONE)
    upright = (
        stacked[0] | ((stacked[0] << UP) & WORD),
        stacked[1] | ((stacked[1] << UP) & WORD) | (stacked[0] >> (BITS - UP)),
    )
    closed = count(low & ~beside[0]) + count(high & ~beside[1])
    closed += count(low & ~upright[0]) + count(high & ~upright[1])
    holes = count(low & ~beside[0] & ~upright[0]) + count(high & ~beside[1] & ~upright[1])
    four = level[0] & (level[0] >> TWO), level[1] & (level[1] >> TWO)
    lying = count(four[0] & (low >> FOUR)) + count(four[1] & (high >> FOUR))
    pair = shifted(stacked[0], stacked[1], TWO * UP)
    fifth = shifted(low, high, FOUR * UP)
    standing = count(stacked[0] & pair[0] & fifth[0]) + count(stacked[1] & pair[1] & fifth[1])
    three = level[0] & (low >> TWO), level[1] & (high >> TWO)
    second, third = shifted(three[0], three[1], UP), shifted(three[0], three[1], TWO * UP)
    square = count(three[0] & second[0] & third[0]) + count(three[1] & second[1] & third[1])
    return (
        weights.empty * cells
        - weights.edges * (4 * cells - 2 * pairs)
        - weights.holes * holes
        - weights.narrow * closed
        - weights.bars * (1.0 / (1 + lying) + 1.0 / (1 + standing))
        - weights.squares / (1 + square)
    )


@compiled
def hope(weights: Weights, streak: int, at_risk: int) -> float:
    """What the streak is worth."""
    worth = weights.streak * min(streak, TOP_MULTIPLIER)
    return worth * weights.at_risk if at_risk else worth


@compiled
def dealable(tables: Tables, low: np.uint64, high: np.uint64) -> np.uint64:
    """The blocks that can be dealt on these empty cells, a bit each."""
    blocks = np.uint64(0)
    for block in range(len(tables.weights)):
        if not tables.fitting or fits(tables, block, low, high):
            blocks |= ONE << np.uint64(block)
    return blocks


@compiled
def drawn(tables: Tables, blocks: np.uint64, chance: float) -> int:
    """The block at ``chance``, from 0 to below 1, of the weights of these blocks set side by side."""
    total = 0
    for block in range(len(tables.weights)):
        if (blocks >> np.uint64(block)) & ONE:
            total += tables.weights[block]
    rest = chance * total
    found = 0
    for block in range(len(tables.weights)):
        if (blocks >> np.uint64(block)) & ONE:
            found = block
            rest -= tables.weights[block]
            if rest < 0:
                break
    return found


@compiled
def part(random: Random) -> float:
    """A random number from 0 to below 1."""
    return np.float64(next_random(random) >> np.uint64(11)) / 9007199254740992.0

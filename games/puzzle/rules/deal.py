"""The deal: which block comes next, as a pure function of seed, number of the draw, rules and board.

docs/puzzle.md writes the generator down bit for bit, with test vectors.  A change of anything here or of the order in
``blocks`` is another generator, with another name.

>>> rules, seed = Rules.of("daily"), bytes(32)
>>> [block.text for block in deal(rules, seed, first=0, board=0)]
['L4/6', 'R6/0', 'T4/3']
"""

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate
from types import MappingProxyType
from typing import Final, TypeAlias

from .blocks import BIG, BLOCKS, FORMS, SMALL, Block
from .board import BoardKind, Mask
from .rules import SHAPES, Rules

GENERATOR: Final = "kado-deal-1"
SEED_BYTES: Final = 32
HAND: Final = 3
"""How many blocks are dealt at once."""
_BITS: Final = 256
"""Of the number that a draw takes from the seed."""

_BIG_SHARE: Final = dict(zip(SHAPES, (10, 35, 70), strict=True))
"""Hundredths of all deals that are big shapes."""
_UNIT: Final = len(SMALL) * len(BIG) * 8
"""A hundredth of all weights: it can be split among the shapes of a tier, and these parts among 8 orientations."""


def _weights(big: int) -> tuple[int, ...]:
    shares = dict.fromkeys(SMALL, _UNIT * (100 - big) // len(SMALL))
    shares |= dict.fromkeys(BIG, _UNIT * big // len(BIG))
    return tuple(shares[block.shape] // len(FORMS[block.shape]) for block in BLOCKS)


WEIGHTS: Final = MappingProxyType({shapes: _weights(big) for shapes, big in _BIG_SHARE.items()})
"""The weight of every block of ``BLOCKS``, for each of ``SHAPES``; together always 57,600."""

_Shifts: TypeAlias = tuple[int, ...]


@cache
def _shifts(stride: int, block: Block) -> _Shifts:
    """How far each cell of a block is from its lower left corner, in bits."""
    return tuple(row * stride + column for row, column in block.form)


def anchors(kind: BoardKind, board: Mask, block: Block) -> Mask:
    """Where the lower left corner of the block's bounding box can be, so that it lies on empty cells only."""
    return _anchors(kind.full & ~board, _shifts(kind.stride, block))


def _anchors(empty: Mask, shifts: Iterable[int]) -> Mask:
    # No block reaches over the edge: one of its cells would be in the extra column, which is never empty.
    found = -1
    for shift in shifts:
        found &= empty >> shift
    return found


@cache
def _allowed(stride: int, block: Block, rotation: bool) -> tuple[_Shifts, ...]:
    """The distinct orientations in which the block may be placed."""
    turns = dict.fromkeys(block.turns) if rotation else (block,)
    return tuple(_shifts(stride, turned) for turned in turns)


def fits(rules: Rules, board: Mask, block: Block) -> bool:
    """Whether there is room for the block in an orientation that the rules allow."""
    empty = rules.board.full & ~board
    allowed = _allowed(rules.board.stride, block, rules.rotation)
    return any(_anchors(empty, shifts) for shifts in allowed)


def weights(rules: Rules, board: Mask) -> tuple[int, ...]:
    """The weight of every block of ``BLOCKS`` in a deal on this board; 0 for one that cannot be dealt."""
    all_weights = WEIGHTS[rules.shapes]
    if rules.dealing == "random":
        return all_weights
    return tuple(
        weight if fits(rules, board, block) else 0
        for block, weight in zip(BLOCKS, all_weights, strict=True)
    )


def draw(seed: bytes, k: int, among: Sequence[int]) -> Block:
    """Draw ``k`` of a run, counted from 0, by these weights."""
    message = GENERATOR.encode() + seed + k.to_bytes(8, "big")
    number = int.from_bytes(hashlib.sha256(message).digest(), "big")
    sums = list(accumulate(among))
    return BLOCKS[bisect_right(sums, number * sums[-1] >> _BITS)]


def deal(rules: Rules, seed: bytes, first: int, board: Mask) -> tuple[Block, ...]:
    """A new hand on a board: the draws from number ``first``."""
    among = weights(rules, board)
    return tuple(draw(seed, k, among) for k in range(first, first + HAND))


def seed_hash(seed: bytes) -> str:
    """What is published of a seed before the run ends: its SHA-256, in hex."""
    return hashlib.sha256(seed).hexdigest()

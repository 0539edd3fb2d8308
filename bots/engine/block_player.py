"""One who plays the block puzzle: a kind, its chance, and the plan that it has for the hand."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from string import ascii_lowercase
from typing import Final

import numpy as np

from bots.engine.block_kernel import put, scored
from bots.engine.block_kinds import KIND, Greedy, Planning, Sampling
from bots.engine.block_search import (
    HAND,
    Beam,
    best_of,
    empty_beam,
    greedy,
    look_ahead,
    sample,
    set_root,
    trace,
)
from bots.engine.block_tables import NUMBERS, STRIDE, Tables, tables_of, words_of_mask
from games.puzzle.rules import SEED_BYTES, Rules, Run, start

WIDEST: Final = 1024
"""Where the width of a kind finds no way to place the whole hand, so many nodes are kept instead."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A placement as the rules take it."""

    slot: int
    rotation: int
    at: str


@dataclass(frozen=True, slots=True)
class Position:
    """What is to be decided on: the empty cells, and the numbers of the blocks in hand, -1 for an empty slot."""

    tables: Tables = field(compare=False)
    words: tuple[np.uint64, np.uint64]
    hand: tuple[int, ...]
    streak: int
    at_risk: int

    @classmethod
    def of(cls, run: Run) -> "Position":
        kind = run.rules.board
        low, high = words_of_mask(kind.full & ~run.board, kind)
        hand = tuple(-1 if block is None else NUMBERS[block] for block in run.hand)
        return cls(
            tables_of(run.rules),
            (np.uint64(low), np.uint64(high)),
            hand,
            run.streak,
            int(run.streak_at_risk),
        )

    @property
    def left(self) -> int:
        """The slots that hold a block, a bit each."""
        return sum(1 << slot for slot, block in enumerate(self.hand) if block >= 0)

    @property
    def blocks(self) -> int:
        return self.left.bit_count()

    def after(self, slot: int, placement: int) -> "Position":
        """What a placement that is legal leads to, before a new hand is dealt."""
        low, high, cleared = put(self.tables, placement, *self.words)
        hand = (*self.hand[:slot], -1, *self.hand[slot + 1 :])
        _, streak, at_risk = scored(0, cleared, self.streak, self.at_risk)
        return Position(self.tables, (low, high), hand, streak, at_risk)


@dataclass(frozen=True, slots=True)
class Step:
    """One placement of a plan, and the position that it is for."""

    position: Position
    slot: int
    placement: int


class BlockPlayer:
    """A player of a kind, for one run at a time and one thread; it knows neither the seed nor the draws to come.

    ``seed`` makes its choices reproducible.  ``seconds`` bounds how long a sampling kind plays on; what it then
    chooses depends on the machine.  Without, every kind does a bounded amount of work.
    """

    def __init__(self, kind: str, *, seed: int | None = None, seconds: float | None = None) -> None:
        self.kind = KIND[kind]
        self.seconds = seconds
        self.samples = 0
        """How many times each candidate of the latest plan was played on."""
        self._random = np.array([Random(seed).getrandbits(64) | 1], np.uint64)
        self._beams: dict[int, Beam] = {}
        self._plan: list[Step] = []

    def choose(self, run: Run) -> Choice:
        """A placement in a run that is not over. Raises ``ValueError`` for one that is."""
        if run.over:
            raise ValueError("a run that is over has no placements")
        position = Position.of(run)
        if not self._plan or self._plan[0].position != position:
            self._plan = self._think(position)
        step = self._plan.pop(0)
        return choice_of(position.tables, position.hand[step.slot], step.slot, step.placement)

    def _think(self, position: Position) -> list[Step]:
        """What to do with the whole hand; at least one placement."""
        if isinstance(self.kind, Greedy):
            slot, placement = greedy(
                position.tables,
                np.array(position.hand),
                *position.words,
                position.streak,
                position.at_risk,
                self._random,
            )
            return [Step(position, int(slot), int(placement))]
        beam, depth = self._looked_ahead(position, self.kind)
        node = int(best_of(beam, depth))
        if isinstance(self.kind, Sampling) and depth == position.blocks:
            node = self._sampled(position.tables, beam, depth, self.kind)
        return list(_steps(position, beam, depth, node))

    def _looked_ahead(self, position: Position, kind: Planning | Sampling) -> tuple[Beam, int]:
        """The beam over the hand, and how many of its blocks it can place."""
        hand = np.array(position.hand)
        beam, depth = empty_beam(1), 0
        for width in (kind.width, WIDEST):
            beam = self._room(width)
            set_root(beam, *position.words, position.left, position.streak, position.at_risk)
            depth = int(look_ahead(position.tables, kind.weights, hand, beam, width))
            if depth == position.blocks:
                break
        return beam, depth

    def _sampled(self, tables: Tables, beam: Beam, depth: int, kind: Sampling) -> int:
        """The candidate that comes off best with the hands that may follow."""
        size = int(beam.sizes[depth])
        nodes = np.argsort(-beam.values[depth, :size], kind="stable")[: kind.candidates]
        totals = np.zeros(len(nodes))
        began = time.perf_counter()
        self.samples = 0
        while self.samples < kind.samples and (
            self.seconds is None or time.perf_counter() - began < self.seconds
        ):
            sample(
                tables,
                kind.weights,
                beam,
                depth,
                nodes,
                self._room(kind.inner_width),
                kind.inner_width,
                kind.hands,
                self._random,
                totals,
            )
            self.samples += 1
        return int(nodes[np.argmax(totals)])

    def _room(self, width: int) -> Beam:
        if width not in self._beams:
            self._beams[width] = empty_beam(width)
        return self._beams[width]


def _steps(position: Position, beam: Beam, depth: int, node: int) -> Iterator[Step]:
    plan = np.zeros((HAND, 2), np.int64)
    trace(beam, depth, node, plan)
    for slot, placement in plan[:depth].tolist():
        yield Step(position, slot, placement)
        position = position.after(slot, placement)


def choice_of(tables: Tables, block: int, slot: int, placement: int) -> Choice:
    """The placement of this block as the rules take it, by the least turn that does it."""
    turned = int(np.searchsorted(tables.first, placement, "right")) - 1
    rotation = tables.turns[block].tolist().index(turned)
    row, column = divmod(int(tables.anchor[placement]), STRIDE)
    return Choice(slot, rotation, f"{ascii_lowercase[column]}{row + 1}")


def prepare() -> float:
    """Compile everything, or load it compiled; gives the seconds that it took."""
    began = time.perf_counter()
    run = start(Rules.of("normal", "8x8"), bytes(SEED_BYTES))
    for kind in KIND:
        BlockPlayer(kind, seed=1).choose(run)
    return time.perf_counter() - began

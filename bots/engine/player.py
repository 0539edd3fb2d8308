"""One who plays: a level, its chance, its budget, and for a searching level the tree that it keeps between moves."""

import time
from dataclasses import dataclass
from random import Random
from typing import Final

import numpy as np

from bots.engine.kernel import State, below, empty_state, legal_list
from bots.engine.levels import LEVEL, Looking, Searching, Weighing
from bots.engine.positions import load, mask_of, move_of
from bots.engine.search import (
    Style,
    Tree,
    best_child,
    clear,
    empty_tree,
    is_decided,
    move_root,
    search,
)
from bots.engine.solo import FIRST, NOW, alone, begin, best_reward, empty_stack, solve
from bots.engine.tables import Tables, tables_of
from bots.engine.weigh import MAX_MOVES, looked_ahead, weighed
from games.territory.rules import Move, Position, variant

NODES: Final = 1_000_000
"""Room in a tree: 41 MB; when it is full, the search goes on with the nodes that are there."""
CHUNK_SECONDS: Final = 0.005
"""About how long simulations run before the clock is looked at."""
FIRST_CHUNK: Final = 16


@dataclass(frozen=True, slots=True)
class Thought:
    """What a move was chosen by."""

    move: Move
    value: float
    """The mean reward that the seat expects, from 0 to 1; half where nothing was searched."""
    simulations: int
    seconds: float


class Player:
    """A CPU player of a level, for one game at a time and one thread.

    ``seed`` makes its choices reproducible, if it is bounded by simulations.  ``seconds`` and ``simulations`` bound
    each move of a level that searches; without both the level's own budget does.
    """

    def __init__(
        self,
        level: str,
        *,
        seed: int | None = None,
        seconds: float | None = None,
        simulations: int | None = None,
    ) -> None:
        self.level = LEVEL[level]
        self.last: Thought | None = None
        self._random = np.array([Random(seed).getrandbits(64) | 1], np.uint64)
        self._searcher: Searcher | None = None
        if isinstance(self.level, Searching):
            if seconds is None and simulations is None:
                seconds = self.level.seconds
            self._searcher = Searcher(self.level.style, self._random, seconds, simulations)

    def choose(self, position: Position) -> Move:
        """A move of the colour to move, which must be able to place something."""
        began = time.perf_counter()
        value, simulations = 0.5, 0
        if self._searcher is not None:
            placement, value, simulations = self._searcher.think(position)
        else:
            placement = self._at_once(position)
        move = move_of(placement, position.variant.size)
        self.last = Thought(move, value, simulations, time.perf_counter() - began)
        return move

    def _at_once(self, position: Position) -> int:
        state, tables = load(position), tables_of(position.variant)
        match self.level:
            case Weighing(weights, noise):
                return int(weighed(tables, state, weights, noise, self._random))
            case Looking(weights, noise, candidates):
                chosen = looked_ahead(tables, state, weights, noise, candidates, self._random)
                return int(chosen)
        found = np.zeros(MAX_MOVES, np.int32)
        count = legal_list(state, position.turn, found)
        return int(found[below(self._random, count)])


class Searcher:
    """A tree, and the position that its root is."""

    def __init__(
        self,
        style: Style,
        random: "np.ndarray[tuple[int], np.dtype[np.uint64]]",
        seconds: float | None,
        simulations: int | None,
    ) -> None:
        self.style = style
        self.seconds = seconds
        self.simulations = simulations
        self._random = random
        self._tree = empty_tree(NODES)
        self._other: Tree | None = None
        self._position: Position | None = None
        self._stopped = False

    def stop(self) -> None:
        """End the search that another thread is in; it answers with what it has found."""
        self._stopped = True

    def think(self, position: Position) -> tuple[int, float, int]:
        """The best placement, its mean reward, and how many simulations were run for it."""
        self._stopped = False
        began = now = time.perf_counter()
        end = began + self.seconds if self.seconds is not None else float("inf")
        most = self.simulations if self.simulations is not None else 2**62
        tables, root = tables_of(position.variant), load(position)
        seat = int(alone(tables, root, np.zeros(MAX_MOVES, np.int32)))
        done = 0
        if seat >= 0:
            placement, value, done = self._solve(tables, root, seat, began, most)
            if placement >= 0:
                return placement, value, done
            now = time.perf_counter()
        self._turn_to(position)
        tree = self._tree
        state = empty_state(len(root.boards))
        sums, chunk = np.zeros(position.variant.seats), FIRST_CHUNK
        while done < most and now < end and not self._stopped:
            chunk = min(chunk, most - done)
            search(tables, root, state, tree, self.style, self._random, chunk, sums)
            done += chunk
            before, now = now, time.perf_counter()
            rate = chunk / max(now - before, 1e-6)
            chunk = max(1, int(rate * min(CHUNK_SECONDS, max(end - now, 0.0))))
            left = most - done if end == float("inf") else int(rate * max(end - now, 0.0))
            if tree.children[0] == 1 or is_decided(tree, min(left, most - done)):
                break
        chosen = int(best_child(tree))
        value = float(tree.reward[chosen]) / max(1, int(tree.visits[chosen]))
        return int(tree.placement[chosen]), value, done

    def _solve(
        self, tables: Tables, root: State, seat: int, began: float, most: int
    ) -> tuple[int, float, int]:
        """As `think`, but exact, for a seat alone; the placement is -1 if half of what it may take is too little."""
        stack = empty_stack(len(root.boards))
        begin(tables, stack, root, seat)
        half = began + self.seconds / 2 if self.seconds is not None else float("inf")
        now, done, chunk = time.perf_counter(), 0, FIRST_CHUNK
        while stack.search[NOW] >= 0 and done < most // 2 and now < half and not self._stopped:
            done += int(solve(tables, stack, seat, min(chunk, most // 2 - done)))
            before, now = now, time.perf_counter()
            chunk = max(FIRST_CHUNK, int(chunk / max(now - before, 1e-6) * CHUNK_SECONDS))
        value = float(best_reward(tables, stack, self.style, seat))
        return -1 if stack.search[NOW] >= 0 else int(stack.search[FIRST]), value, done

    def _turn_to(self, position: Position) -> None:
        """Make the position the root, with what is known of it already if it comes from the last one."""
        node = self._find(position)
        self._position = position
        if node < 0:
            clear(self._tree)
            return
        if self._other is None:
            self._other = empty_tree(NODES)
        move_root(self._tree, node, self._other)
        self._tree, self._other = self._other, self._tree

    def _find(self, position: Position) -> int:
        """The node of a position that some moves have led to from the root; -1 if there is none."""
        old = self._position
        if old is None or old.variant != position.variant or old.gone != position.gone:
            return -1
        news = [new & ~was for was, new in zip(old.squares, position.squares, strict=True)]
        if any(was & ~new for was, new in zip(old.squares, position.squares, strict=True)):
            return -1
        tree, node = self._tree, 0
        while any(news):
            first, colour = int(tree.first[node]), int(tree.colour[node])
            if first < 0:
                return -1
            children = range(first, first + int(tree.children[node]))
            size = position.variant.size
            step = next(
                (c for c in children if not mask_of(int(tree.placement[c]), size) & ~news[colour]),
                -1,
            )
            if step < 0:
                return -1
            news[colour] &= ~mask_of(int(tree.placement[step]), size)
            node = step
        first = int(tree.first[node])
        return node if first < 0 or int(tree.colour[node]) == position.turn else -1


def choose(level: str, position: Position, random: Random, effort: float = 1.0) -> Move:
    """A move of the colour to move, which must have one. KeyError for a level that does not exist.

    ``effort`` is the part of the level's seconds that a search may take.
    """
    plays = LEVEL[level]
    seconds = plays.seconds * effort if isinstance(plays, Searching) else None
    return Player(level, seed=random.getrandbits(64), seconds=seconds).choose(position)


def prepare() -> float:
    """Compile everything, or load it compiled, so that no move waits for it; gives the seconds that it took."""
    began = time.perf_counter()
    position = Position.start(variant("duo"))
    for level in LEVEL:
        player = Player(level, seed=1, simulations=4)
        # The second choice keeps what is known from the first, which is compiled code too.
        player.choose(position.play(player.choose(position)))
        if player._searcher is not None:
            # No game begins with an ending; what solves one takes any position for one.
            player._searcher._solve(tables_of(position.variant), load(position), 0, began, most=4)
    return time.perf_counter() - began

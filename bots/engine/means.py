"""What a position is worth to every seat, and its best move, from a search of so many simulations: nothing is kept.

The value of a seat is the mean of its rewards over all simulations.  The mean at a position and those at the positions
after it are measured alike, so they may be compared; that of the best child alone leaves out what its seat tried in
vain, but not what the next one does, and is too high by three hundredths (docs/adr/0016-analysis.md).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bots.engine.kernel import empty_state
from bots.engine.levels import LEVEL, Searching
from bots.engine.positions import load, move_of
from bots.engine.search import Style, best_child, empty_tree, rewards, search
from bots.engine.tables import tables_of
from games.territory.rules import Move, Position

NODES: Final = 1_000_000
"""Room in the tree: 41 MB, when all of it is used."""
SEED: Final = 1
"""The same chance for every position, so that all can be had again, in any order."""


@dataclass(frozen=True, slots=True)
class Study:
    """What a search found of a position."""

    values: tuple[float, ...]
    """The reward that each seat expects, from 0 to 1."""
    best: Move | None
    """The move that was followed most often; none if the game is over."""


def study(position: Position, simulations: int) -> Study:
    """Search a position.  Of a game that is over, also because seats left, the values are the rewards themselves."""
    tables, root, style = tables_of(position.variant), load(position), _style()
    sums = np.zeros(position.variant.seats, np.float64)
    if position.is_over:
        rewards(tables, root, style, sums)
        return Study(_shares(sums, 1), None)
    # A tree of its own, for another thread may be searching; what is not used of it takes no memory.
    tree, random = empty_tree(NODES), np.array([2 * SEED + 1], np.uint64)
    state = empty_state(len(root.boards))
    search(tables, root, state, tree, style, random, simulations, sums)
    best = move_of(int(tree.placement[best_child(tree)]), position.variant.size)
    return Study(_shares(sums, simulations), best)


def _shares(sums: NDArray[np.float64], of: int) -> tuple[float, ...]:
    return tuple(float(total) / of for total in sums)


def _style() -> Style:
    """How the strongest level plays."""
    level = LEVEL["expert"]
    assert isinstance(level, Searching)
    return level.style

"""How each kind of player of the block puzzle plays, as data.

| kind | how it plays |
|---|---|
| simple | the placement with the most points now; any of them if there are several |
| careful | looks ahead over the whole hand, in every order, and minds holes, and room for big blocks |
| patient | also plays on with hands that may come next, many times |
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from bots.engine.block_kernel import Weights


@dataclass(frozen=True, slots=True)
class Greedy:
    """The most points at once."""


@dataclass(frozen=True, slots=True)
class Planning:
    """The placements of the whole hand after which the board is worth most, among the ``width`` best at each step."""

    weights: Weights
    width: int


@dataclass(frozen=True, slots=True)
class Sampling:
    """The best ``candidates`` of these, each played on with ``samples`` times ``hands`` hands that may come."""

    weights: Weights
    width: int
    candidates: int
    samples: int
    hands: int
    inner_width: int
    """The width of looking ahead over a hand that may come."""


Kind: TypeAlias = Greedy | Planning | Sampling

ORDER: Final = Weights(
    empty=0.43,
    edges=2.6,
    holes=1.6,
    narrow=3.8,
    bars=11.0,
    squares=15.0,
    streak=5.3,
    at_risk=0.53,
    stuck=50.0,
    over=200.0,
)
"""Found by evolution: variations of the best so far played the same runs, and the best of them were mixed."""

KIND: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "simple": Greedy(),
        "careful": Planning(ORDER, width=24),
        "patient": Sampling(ORDER, width=32, candidates=6, samples=10, hands=2, inner_width=3),
    }
)

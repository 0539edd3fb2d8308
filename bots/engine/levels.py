"""How each CPU level plays, as data.

| level | how it plays |
|---|---|
| starter | on a whim: any legal placement |
| beginner | its largest pieces first, where its own attach points increase |
| intermediate | weighs also its territory, and what it takes from the others |
| advanced | lets every rival answer its best placements before it chooses |
| expert | searches a tree |
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from bots.engine.search import Style
from bots.engine.weigh import Weights


@dataclass(frozen=True, slots=True)
class Whim:
    """Every legal placement is equally likely."""


@dataclass(frozen=True, slots=True)
class Weighing:
    """The placement after which the position is worth most, give or take ``noise``: a standard deviation, in points."""

    weights: Weights
    noise: float


@dataclass(frozen=True, slots=True)
class Looking:
    """The same after the rivals' best answers to the most promising ``candidates``."""

    weights: Weights
    noise: float
    candidates: int


@dataclass(frozen=True, slots=True)
class Searching:
    """A tree search of so many seconds."""

    style: Style
    seconds: float


Level: TypeAlias = Whim | Weighing | Looking | Searching

TERRITORY: Final = Weights(points=1.0, attach=0.5, reach=0.15, rival=1.0)

LEVEL: Final[Mapping[str, Level]] = MappingProxyType(
    {
        "starter": Whim(),
        "beginner": Weighing(Weights(points=10.0, attach=1.0, reach=0.0, rival=0.0), noise=1.0),
        "intermediate": Weighing(TERRITORY, noise=0.5),
        "advanced": Looking(TERRITORY, noise=0.0, candidates=60),
        "expert": Searching(
            Style(
                weights=TERRITORY,
                temperature=1.0,
                even=0.1,
                wide=80,
                explore=2.0,
                reduction=0.2,
                threshold=8,
                margin=0.5,
                spread=20.0,
            ),
            seconds=1.0,
        ),
    }
)

"""The CPU levels. A level is a function of the position and a source of randomness."""

from collections.abc import Callable, Mapping
from random import Random

from games.territory.rules import Move, Position


def starter(position: Position, random: Random) -> Move:
    """On a whim: every legal placement is equally likely."""
    masks = position.legal()
    return random.choice(list(masks))


CHOICES: Mapping[str, Callable[[Position, Random], Move]] = {"starter": starter}


def choose(level: str, position: Position, random: Random) -> Move:
    """A move of the colour to move, which must have one. KeyError for a level that does not exist."""
    return CHOICES[level](position, random)

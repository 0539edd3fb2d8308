"""The rules of the block puzzle: pure values, standard library only.

See docs/puzzle.md, which begins with a tutorial.
"""

from .blocks import BLOCKS, Block
from .board import BOARDS, BoardKind, Line
from .deal import GENERATOR, SEED_BYTES, seed_hash
from .errors import (
    DateError,
    IllegalPlacementError,
    RecordError,
    RulesError,
    UndoError,
    WrongRulesError,
)
from .rules import DAILY, LEVELS, Rules
from .run import (
    Legal,
    Placed,
    Points,
    Preview,
    Run,
    Statistics,
    fits,
    legal,
    place,
    preview,
    start,
    take_back,
)
from .state import dump, load

__all__ = [
    "BLOCKS",
    "BOARDS",
    "DAILY",
    "GENERATOR",
    "LEVELS",
    "SEED_BYTES",
    "Block",
    "BoardKind",
    "DateError",
    "IllegalPlacementError",
    "Legal",
    "Line",
    "Placed",
    "Points",
    "Preview",
    "RecordError",
    "Rules",
    "RulesError",
    "Run",
    "Statistics",
    "UndoError",
    "WrongRulesError",
    "dump",
    "fits",
    "legal",
    "load",
    "place",
    "preview",
    "seed_hash",
    "start",
    "take_back",
]

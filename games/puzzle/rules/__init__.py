"""The rules of the block puzzle: pure values, standard library only.

See docs/puzzle.md, which begins with a tutorial.
"""

from games.palette import THEMES

from .blocks import BLOCKS, Block
from .board import BOARDS, BoardKind, Line
from .daily import closes_at, daily_seed, date_at, opens_at, parse_date
from .deal import GENERATOR, SEED_BYTES, seed_hash
from .errors import (
    DateError,
    IllegalPlacementError,
    RecordError,
    RulesError,
    UndoError,
    WrongRulesError,
)
from .record import STATUSES, Command, Difference, Place, Record, Replay, Result, TakeBack, replay
from .record_json import as_dict, read_json, write_json
from .rules import DAILY, LEVELS, Rules
from .run import (
    Legal,
    Placed,
    Points,
    Preview,
    Run,
    Statistics,
    aim,
    fits,
    legal,
    place,
    preview,
    start,
    take_back,
    would_clear,
)
from .state import dump, load
from .svg import board_svg
from .text import board_text, summary

__all__ = [
    "BLOCKS",
    "BOARDS",
    "DAILY",
    "GENERATOR",
    "LEVELS",
    "SEED_BYTES",
    "STATUSES",
    "THEMES",
    "Block",
    "BoardKind",
    "Command",
    "DateError",
    "Difference",
    "IllegalPlacementError",
    "Legal",
    "Line",
    "Place",
    "Placed",
    "Points",
    "Preview",
    "Record",
    "RecordError",
    "Replay",
    "Result",
    "Rules",
    "RulesError",
    "Run",
    "Statistics",
    "TakeBack",
    "UndoError",
    "WrongRulesError",
    "aim",
    "as_dict",
    "board_svg",
    "board_text",
    "closes_at",
    "daily_seed",
    "date_at",
    "dump",
    "fits",
    "legal",
    "load",
    "opens_at",
    "parse_date",
    "place",
    "preview",
    "read_json",
    "replay",
    "seed_hash",
    "start",
    "summary",
    "take_back",
    "would_clear",
    "write_json",
]

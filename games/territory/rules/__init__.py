"""The rules of corner-to-corner games: pure values, standard library only.

A variant is data, a position is an immutable value, a move reads and writes as its cells:

>>> position = Position.start(variant("duo"))
>>> position.turn, position.variant.colours[position.turn]
(0, 'blue')
>>> len(position.legal())
414
>>> move = parse_move("f9, E10, g9, f10", position.variant)
>>> move in position.legal()
True
>>> position = position.play(move)
>>> move.text, move.piece, position.points(0), position.turn
('f9,g9,e10,f10', 'Z4', 4, 1)

A refusal has a stable code and says why:

>>> position.check(parse_move("a1", 14))
Traceback (most recent call last):
    ...
games.territory.rules.errors.IllegalMoveError: Orange's first piece has to cover j5.

``advance`` also tells what happened to the turn, and ``outcome`` who won:

>>> step = position.advance(parse_move("j5", 14))
>>> step.skipped, step.newly_out, step.position.attach_points(1)
((), (), ('i4', 'k4', 'i6', 'k6'))
>>> outcome(step.position, [(1, Termination.TIMEOUT)]).ranks
(1, 2)

A ``Record`` is a whole game; it reads and writes as Blokus SGF and as JSON, and ``replay`` checks every move of it:

>>> record = read_sgf("(;GM[Blokus Duo]PB[Ada]PW[Ben];B[f9,g9,e10,f10];W[j5])")
>>> record.replay().end.points(0), read_json(write_json(record)) == record
(4, True)
"""

from games.palette import THEMES

from .blokus_sgf import read_sgf, write_sgf
from .clock import Clock, Speed, TimeControl, TimeKind
from .errors import (
    ClockError,
    GameNotOverError,
    IllegalMoveError,
    MalformedMoveError,
    RecordError,
    RulesError,
    UnknownVariantError,
)
from .notation import Move, Placement, move_at, parse_move
from .outcome import Outcome, Termination, outcome
from .placements import Placements
from .position import Position, Step
from .record import Node, Record, Replay, Setup
from .record_json import as_dict, read_json, write_json
from .svg import board_svg
from .text import board_text
from .variant import VARIANTS, Variant, variant

__all__ = [
    "THEMES",
    "VARIANTS",
    "Clock",
    "ClockError",
    "GameNotOverError",
    "IllegalMoveError",
    "MalformedMoveError",
    "Move",
    "Node",
    "Outcome",
    "Placement",
    "Placements",
    "Position",
    "Record",
    "RecordError",
    "Replay",
    "RulesError",
    "Setup",
    "Speed",
    "Step",
    "Termination",
    "TimeControl",
    "TimeKind",
    "UnknownVariantError",
    "Variant",
    "as_dict",
    "board_svg",
    "board_text",
    "move_at",
    "outcome",
    "parse_move",
    "read_json",
    "read_sgf",
    "variant",
    "write_json",
    "write_sgf",
]

"""Counts of move sequences from the empty board, against those of another program."""

import json
from collections import Counter
from pathlib import Path

import pytest

from games.territory.rules import VARIANTS, Position, variant

PERFT = json.loads(
    (Path(__file__).parents[3] / "reference" / "territory" / "perft.json").read_text()
)
CLASSIC = PERFT["classic (same for classic_2, classic_3)"]


def perft(position: Position, depth: int) -> int:
    legal = position.legal()
    if depth == 1:
        return len(legal)
    return sum(perft(position.play(move), depth - 1) for move in legal)


@pytest.mark.parametrize(
    ("key", "depth", "count"),
    [
        ("duo", 1, PERFT["duo"]["1"]),
        ("duo", 2, PERFT["duo"]["2"]),
        ("junior", 1, PERFT["junior"]["1"]),
        ("junior", 2, PERFT["junior"]["2"]),
        *((key, depth, CLASSIC[str(depth)]) for key in ("classic",) for depth in (1, 2, 3)),
        ("classic-2", 2, CLASSIC["2"]),
        ("classic-3", 2, CLASSIC["2"]),
    ],
)
def test_perft(key: str, depth: int, count: int) -> None:
    assert perft(Position.start(variant(key)), depth) == count


@pytest.mark.parametrize("key", ["duo", "junior", "classic"])
def test_first_moves_by_piece(key: str) -> None:
    counts = Counter(move.piece for move in Position.start(VARIANTS[key]).legal())
    expected = {piece: n for piece, n in PERFT[f"first_move_by_piece_{key}"].items() if n}
    assert counts == expected

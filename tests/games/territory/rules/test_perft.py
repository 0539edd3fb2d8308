"""Counts of move sequences from the empty board, against those of another program."""

import json
from collections import Counter
from pathlib import Path

import pytest

from games.territory.proofs import KNOWN_COUNTS, perft
from games.territory.rules import VARIANTS, Position

PERFT = json.loads(
    (Path(__file__).parents[3] / "reference" / "territory" / "perft.json").read_text()
)
CLASSIC = PERFT["classic (same for classic_2, classic_3)"]


@pytest.mark.parametrize("key", VARIANTS)
def test_the_known_counts_are_those_of_the_other_program(key: str) -> None:
    counts = PERFT.get(key, CLASSIC)
    assert KNOWN_COUNTS[key] == (1, *(counts[str(depth)] for depth in range(1, len(counts) + 1)))


@pytest.mark.parametrize(
    ("key", "depth"),
    [
        *((key, depth) for key in VARIANTS for depth in (0, 1, 2)),
        *((key, 3) for key in ("classic", "classic-2", "classic-3")),
    ],
)
def test_perft(key: str, depth: int) -> None:
    assert perft(Position.start(VARIANTS[key]), depth) == KNOWN_COUNTS[key][depth]


@pytest.mark.parametrize("key", ["duo", "junior", "classic"])
def test_first_moves_by_piece(key: str) -> None:
    counts = Counter(move.piece for move in Position.start(VARIANTS[key]).legal())
    expected = {piece: n for piece, n in PERFT[f"first_move_by_piece_{key}"].items() if n}
    assert counts == expected

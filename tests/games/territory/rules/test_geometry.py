import json
from collections import Counter
from pathlib import Path

import pytest

from games.territory.rules.geometry import board

PERFT = json.loads(
    (Path(__file__).parents[3] / "reference" / "territory" / "perft.json").read_text()
)


@pytest.mark.parametrize("size", [14, 20])
def test_placements_on_the_empty_board_by_piece(size: int) -> None:
    counts = Counter(board(size).placements.values())
    assert counts == PERFT[f"placements_by_piece_{size}x{size}"]


@pytest.mark.parametrize(("size", "total"), [(14, 13_729), (20, 30_433)])
def test_placements_on_the_empty_board(size: int, total: int) -> None:
    assert len(board(size).placements) == total


@pytest.mark.parametrize("size", [5, 14, 20])
def test_neighbours_by_definition(size: int) -> None:
    tables = board(size)
    for row in range(size):
        for column in range(size):
            bit = tables.bit_at(row, column)
            for steps, found in (
                (((0, 1), (1, 0), (0, -1), (-1, 0)), tables.edges(bit)),
                (((1, 1), (1, -1), (-1, 1), (-1, -1)), tables.corners(bit)),
            ):
                expected = 0
                for down, across in steps:
                    expected |= tables.bit_at(row + down, column + across)
                assert found == expected


def test_names_and_coordinates() -> None:
    tables = board(14)
    bits = tables.cells["n1"] | tables.cells["a14"] | tables.cells["b1"]
    assert list(tables.split(bits)) == ["b1", "n1", "a14"]
    assert list(tables.coordinates(bits)) == [(13, 1), (13, 13), (0, 0)]
    assert tables.bit_at(0, 14) == tables.bit_at(-1, 0) == 0
    assert tables.full.bit_count() == 196


def test_placements_over_a_cell_follow_what_is_blocked_around_it() -> None:
    tables = board(14)
    bit = tables.cells["g7"]
    near = tables.near[bit]
    assert near.around == sum(tables.cells[cell] for cell in ("g6", "g8", "f7", "h7"))
    assert sum(map(len, near[0].values())) == 414
    alone = near[near.around]
    assert alone["1"] == (bit,)
    assert sum(map(len, alone.values())) == 1


def test_tables_are_kept() -> None:
    assert board(14) is board(14)

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.polyomino import (
    ORIENTATIONS,
    PIECE_OF,
    PIECES,
    Shape,
    drawn,
    normalised,
    orientations,
    symmetries,
)

NAMES = "1 2 I3 V3 I4 L4 T4 O Z4 F I5 L5 N P T5 U V5 W X Y Z5"

shapes = st.sets(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=6)


def grown(shape: Shape) -> set[Shape]:
    """Every shape with one cell more that hangs together, by definition."""
    cells = set(shape)
    around = {
        (row + down, column + across)
        for row, column in cells
        for down, across in ((0, 1), (1, 0), (0, -1), (-1, 0))
    }
    return {normalised([*cells, cell]) for cell in around - cells}


def test_the_pieces_have_the_names_of_the_vocabulary_in_order() -> None:
    assert " ".join(PIECES) == NAMES


def test_the_orientations_are_all_fixed_polyominoes_of_up_to_five_cells() -> None:
    level: set[Shape] = {((0, 0),)}
    everything = set(level)
    for _ in range(4):
        level = {bigger for shape in level for bigger in grown(shape)}
        everything |= level
    found = [shape for shapes in ORIENTATIONS.values() for shape in shapes]
    assert len(found) == len(everything) == 91
    assert set(found) == everything


def test_no_two_pieces_are_the_same_free_polyomino() -> None:
    assert len({min(orientations(shape)) for shape in PIECES.values()}) == 21


def test_89_cells() -> None:
    sizes = Counter(len(shape) for shape in PIECES.values())
    assert sizes == {1: 1, 2: 1, 3: 2, 4: 5, 5: 12}
    assert sum(sizes.elements()) == 89


@pytest.mark.parametrize(
    ("piece", "count"),
    [("1", 1), ("2", 2), ("X", 1), ("I5", 2), ("Z5", 4), ("W", 4), ("F", 8), ("N", 8), ("P", 8)],
)
def test_number_of_orientations(piece: str, count: int) -> None:
    assert len(ORIENTATIONS[piece]) == count


def test_a_shape_leads_back_to_its_piece() -> None:
    assert PIECE_OF[drawn(".#. ### .#.")] == "X"
    assert PIECE_OF[drawn("## .# .#")] == "L4"
    assert drawn("#.# #.#") not in PIECE_OF


@given(shapes)
def test_normalising_moves_to_the_origin_and_is_idempotent(cells: set[tuple[int, int]]) -> None:
    shape = normalised(cells)
    assert len(shape) == len(cells)
    assert min(row for row, _ in shape) == min(column for _, column in shape) == 0
    assert normalised(shape) == shape
    assert normalised((row + 5, column - 2) for row, column in cells) == shape


@given(shapes)
def test_the_symmetries_are_a_group(cells: set[tuple[int, int]]) -> None:
    images = set(symmetries(cells))
    assert len(list(symmetries(cells))) == 8
    assert len(images) in {1, 2, 4, 8}
    assert all(set(symmetries(image)) == images for image in images)
    assert orientations(cells) == tuple(sorted(images))

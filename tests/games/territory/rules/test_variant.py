import pytest

from games.territory.rules import VARIANTS, UnknownVariantError, Variant, variant
from games.territory.rules.geometry import board


@pytest.fixture(params=list(VARIANTS))
def each(request: pytest.FixtureRequest) -> Variant:
    return VARIANTS[request.param]


def test_the_five_variants() -> None:
    assert list(VARIANTS) == ["duo", "classic", "classic-2", "classic-3", "junior"]


@pytest.mark.parametrize(
    ("keys", "size", "starts"),
    [
        (["duo", "junior"], 14, "blue e10, orange j5"),
        (["classic", "classic-2", "classic-3"], 20, "blue a20, yellow t20, red t1, green a1"),
    ],
)
def test_the_colours_and_their_first_cells_in_turn_order(
    keys: list[str], size: int, starts: str
) -> None:
    for row in map(variant, keys):
        assert row.size == size
        cells = zip(row.colours, row.first_cells, strict=True)
        assert ", ".join(f"{colour} {cell}" for colour, cell in cells) == starts


def test_a_row_is_consistent(each: Variant) -> None:
    assert VARIANTS[each.key] is variant(each.key) is each
    assert len(each.colours) == len(each.first_cells) == len(each.owners)
    assert {owner for owner in each.owners if owner is not None} == set(range(each.seats))
    assert set(each.first_cells) <= set(board(each.size).cells)


def test_owners() -> None:
    assert variant("classic-2").colours_of(0) == (0, 2)
    assert variant("classic-2").colours_of(1) == (1, 3)
    assert [variant("classic-3").colours_of(seat) for seat in range(3)] == [(0,), (1,), (2,)]


@pytest.mark.parametrize(
    ("key", "pieces", "cells"), [("duo", 21, 89), ("classic", 21, 89), ("junior", 24, 88)]
)
def test_hands(key: str, pieces: int, cells: int) -> None:
    assert len(variant(key).hand) == pieces
    assert variant(key).hand_cells == cells


def test_junior_has_two_of_each() -> None:
    assert variant("junior").hand[:4] == ("1", "1", "2", "2")
    assert "X" not in variant("junior").hand


def test_an_unknown_variant_is_refused_with_a_code() -> None:
    with pytest.raises(UnknownVariantError, match="'trio'; choose one of duo, classic, ") as caught:
        variant("trio")
    assert caught.value.code == "unknown-variant"

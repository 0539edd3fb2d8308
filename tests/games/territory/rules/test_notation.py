from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.territory.rules import (
    IllegalMoveError,
    MalformedMoveError,
    Move,
    RulesError,
    move_at,
    parse_move,
    variant,
)
from games.territory.rules.notation import all_moves

sizes = st.sampled_from([14, 20])
moves = sizes.flatmap(lambda size: st.sampled_from(list(all_moves(size).values())))


@given(moves, st.randoms(use_true_random=False))
def test_text_round_trips_in_any_order_and_case(move: Move, chance: Random) -> None:
    cells = list(move.cells)
    chance.shuffle(cells)
    written = " , ".join(cell.upper() if chance.random() < 0.5 else cell for cell in cells)
    again = parse_move(f"  {written} ", move.size)
    assert again == move
    assert again.text == move.text == str(move) == ",".join(move.cells)


@given(moves)
def test_coordinates_round_trip(move: Move) -> None:
    assert move_at(move.coordinates, move.size) == move
    assert move_at(reversed(move.coordinates), move.size) == move
    for cell, (row, column) in zip(move.cells, move.coordinates, strict=True):
        assert cell == f"{'abcdefghijklmnopqrst'[column]}{move.size - row}"


def test_canonical_order_is_by_row_number_then_column() -> None:
    assert parse_move("e10,f10,g9,f9", variant("duo")).text == "f9,g9,e10,f10"


def test_a_move_knows_its_piece_and_hashes_by_value() -> None:
    move = parse_move("f9,g9,e10,f10", 14)
    assert move.piece == "Z4"
    assert {move: 1}[Move("Z4", move.mask, 14)] == 1
    assert move != parse_move("f9,g9,e10,f10", 20)


NO_PIECE = r"^These cells are not the shape of a piece\.$"
TWICE = r"^A move names each of its cells once\.$"
TOO_LONG = r"^A move has at most 64 characters\.$"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "'' is not a cell"),
        (" ", "'' is not a cell"),
        (",", "'' is not a cell"),
        ("a1,", "'' is not a cell"),
        ("a1,,a2", "'' is not a cell"),
        ("a0", "'a0' is not a cell; write a move as its cells"),
        ("a01", "'a01' is not a cell"),
        ("1a", "'1a' is not a cell"),
        ("aa1", "'aa1' is not a cell"),
        ("a1 a2", "'a1 a2' is not a cell"),
        ("a1;a2", "'a1;a2' is not a cell"),
        ("pass", "'pass' is not a cell"),
        ("a1\n,b\u0661", "'b\u0661' is not a cell"),
        ("á1", "'á1' is not a cell"),
        ("a100", "'a100' is not a cell"),
        ("a1,a1", TWICE),
        ("a1,A1", TWICE),
        ("a1," * 40, TOO_LONG),
        (" " * 65, TOO_LONG),
        ("a1" + " " * 63, TOO_LONG),
    ],
)
def test_malformed_texts(text: str, says: str) -> None:
    with pytest.raises(MalformedMoveError, match=says) as caught:
        parse_move(text, 14)
    assert caught.value.code == "malformed-move"


@pytest.mark.parametrize("text", ["  a14 ,  b14 ,  c14 ,  d14 ,  e14  ", "a14".ljust(64)])
def test_spaces_are_welcome_up_to_64_characters(text: str) -> None:
    assert parse_move(text, 14).text == text.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "cell"),
    [("o1", "o1"), ("a15", "a15"), ("Z9", "z9"), ("n14,o14", "o14"), ("t20", "t20")],
)
def test_cells_outside_the_board(text: str, cell: str) -> None:
    with pytest.raises(IllegalMoveError, match=f"The cell {cell} is outside the board") as caught:
        parse_move(text, 14)
    assert caught.value.code == "outside-board"


@pytest.mark.parametrize("text", ["a1,c1", "a1,b2", "a1,b1,c1,d1,e1,f1", "n1,a2"])
def test_cells_that_are_no_piece(text: str) -> None:
    with pytest.raises(IllegalMoveError, match=NO_PIECE) as caught:
        parse_move(text, 14)
    assert caught.value.code == "not-a-piece"


@pytest.mark.parametrize(
    ("cells", "code", "says"),
    [
        ([], "malformed-move", r"^A move covers at least one cell\.$"),
        ([(0, 0), (0, 0)], "malformed-move", TWICE),
        ([(0, 14)], "outside-board", r"\[0, 14\] is outside the board"),
        ([(-1, 0)], "outside-board", r"\[-1, 0\] is outside the board"),
        ([(0, 0), (0, 2)], "not-a-piece", NO_PIECE),
    ],
)
def test_bad_coordinates(cells: list[tuple[int, int]], code: str, says: str) -> None:
    with pytest.raises(RulesError, match=says) as caught:
        move_at(cells, 14)
    assert caught.value.code == code


@given(st.text(max_size=80))
def test_any_text_is_a_move_or_a_coded_error(text: str) -> None:
    try:
        move = parse_move(text, 14)
    except RulesError as error:
        assert error.code in {"malformed-move", "outside-board", "not-a-piece"}
    else:
        assert parse_move(move.text, 14) == move

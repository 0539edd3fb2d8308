"""The pictures of a position: SVG and text."""

import re
from xml.etree import ElementTree as ET

import pytest

from games.territory.rules import (
    VARIANTS,
    Position,
    RulesError,
    board_svg,
    board_text,
    parse_move,
    variant,
)
from games.territory.rules.svg import _FILLS, _MARKS, THEMES
from games.territory.rules.text import _STYLES

DUO = variant("duo")
LAST = parse_move("d7,d8,d9", DUO)


@pytest.fixture
def position() -> Position:
    found = Position.start(DUO)
    for text in ("e10,f10", "j5", LAST.text):
        found = found.play(parse_move(text, DUO))
    return found


def elements(svg: str, name: str) -> list[ET.Element]:
    """The elements of this class."""
    return [each for each in ET.fromstring(svg).iter() if each.get("class") == name]


def centres(svg: str, name: str) -> set[tuple[float, float]]:
    return {(float(each.get("cx", "")), float(each.get("cy", ""))) for each in elements(svg, name)}


def test_one_path_for_each_piece_and_one_square_for_each_cell(position: Position) -> None:
    svg = board_svg(position)
    pieces = [each.get("d") for each in elements(svg, "piece blue")]
    # The square h1v1h-1 at each cell; e10 is at x 4, y 4.
    assert pieces == ["M3 7h1v1h-1zM3 6h1v1h-1zM3 5h1v1h-1z", "M4 4h1v1h-1zM5 4h1v1h-1z"]
    assert len(elements(svg, "piece orange")) == 1


def test_the_outline_of_a_piece_runs_around_it_and_not_through_it(position: Position) -> None:
    svg = board_svg(position)
    outlines = [re.findall(r"M[^M]+", each.get("d") or "") for each in elements(svg, "outline")]
    # I3, 2 and 1 have eight, six and four sides.
    assert [len(sides) for sides in outlines] == [8, 6, 4]
    assert "M5 4v1" not in outlines[1]


def test_the_last_move_has_a_dot_on_each_cell(position: Position) -> None:
    assert not elements(board_svg(position), "last")
    svg = board_svg(position, last_move=LAST)
    assert centres(svg, "last") == {(3.5, 5.5), (3.5, 6.5), (3.5, 7.5)}


def test_first_cells_show_until_they_are_covered(position: Position) -> None:
    assert centres(board_svg(Position.start(DUO)), "first") == {(4.5, 4.5), (9.5, 9.5)}
    assert not elements(board_svg(position), "first")


def test_attach_points_of_a_colour(position: Position) -> None:
    svg = board_svg(position, attach=1)
    assert centres(svg, "attach") == {(8.5, 8.5), (8.5, 10.5), (10.5, 8.5), (10.5, 10.5)}
    assert not elements(board_svg(position), "attach")


def test_coordinates_can_be_left_out(position: Position) -> None:
    texts = [each.text for each in ET.fromstring(board_svg(position)).iter() if each.text]
    assert {"a", "n", "1", "14"} <= set(texts)
    assert not elements(board_svg(position, coordinates=False), "coordinates")


@pytest.mark.parametrize("theme", list(THEMES))
def test_themes(position: Position, theme: str) -> None:
    assert THEMES[theme].page in board_svg(position, theme=theme)


def test_an_unknown_theme_is_refused(position: Position) -> None:
    with pytest.raises(RulesError, match="light, dark") as caught:
        board_svg(position, theme="<script>")
    assert caught.value.code == "unknown-theme"


@pytest.mark.parametrize("key", list(VARIANTS))
def test_the_colours_of_a_variant_differ_in_hue_and_mark(key: str) -> None:
    names = VARIANTS[key].colours
    for painted in (_FILLS, _MARKS, _STYLES):
        assert len({painted[name] for name in names}) == len(names)
    assert len({name[0] for name in names}) == len(names)


def test_the_title_tells_the_points_and_the_turn(position: Position) -> None:
    title = ET.fromstring(board_svg(position))[0].text
    assert title == "Block Territory: blue 5, orange 1; orange to move"


def test_a_picture_is_pure(position: Position) -> None:
    assert board_svg(position, last_move=LAST) == board_svg(position, last_move=LAST)


def test_plain_text(position: Position) -> None:
    lines = board_text(position, colour=False).splitlines()
    assert lines[0] == lines[-2] == "    a b c d e f g h i j k l m n"
    assert lines[1] == " 14 . . . . . . . . . . . . . . 14"
    assert lines[5] == " 10 . . . . B B . . . . . . . . 10"
    assert lines[6] == "  9 . . . B . . . . . . . . . . 9"
    assert lines[10] == "  5 . . . . . . . . . O . . . . 5"
    assert lines[-1] == "blue 5, orange 1; orange to move"


def test_plain_text_of_first_cells_and_of_colours_that_are_out() -> None:
    text = board_text(Position.start(DUO), colour=False)
    assert " 10 . . . . b . . . . . . . . . 10" in text
    over = Position.start(DUO).without_seat(0).position
    assert board_text(over, colour=False).endswith("blue 0, orange 0; game over\n")
    out = Position.setup(DUO, [[parse_move("j5", DUO)], []], turn=1)
    assert board_text(out, colour=False).endswith("orange 0 (out); blue to move\n")


def test_coloured_text_is_the_plain_text_with_escape_codes(position: Position) -> None:
    coloured = board_text(position)
    assert coloured != board_text(position, colour=False)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == board_text(position, colour=False)
    assert coloured.count("\x1b[0m") == 6

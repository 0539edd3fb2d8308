"""The pictures of a position: SVG and text."""

import re
from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from games.palette import MARKS, THEMES, UnknownThemeError
from games.territory.rules import (
    VARIANTS,
    Position,
    board_svg,
    board_text,
    parse_move,
    variant,
)
from tests.games.territory.rules.test_properties import random_position

DUO = variant("duo")
LAST = parse_move("d7,d8,d9", DUO)
SVG = "{http://www.w3.org/2000/svg}"
SIXTH = replace(
    DUO,
    key="sixth",
    title="Tea & <cake>",
    seats=3,
    colours=("blue", "black", "teal"),
    first_cells=("a1", "a14", "n1"),
    owners=(0, 1, 2),
)


@pytest.fixture
def position() -> Position:
    return played("e10,f10", "j5", LAST.text)


def played(*moves: str) -> Position:
    found = Position.start(DUO)
    for text in moves:
        found = found.play(parse_move(text, DUO))
    return found


def elements(svg: str, name: str) -> list[ET.Element]:
    """The elements of this class."""
    return [each for each in ET.fromstring(svg).iter() if each.get("class") == name]


def paths(svg: str, name: str) -> list[str]:
    return [each.get("d", "") for each in elements(svg, name)]


def centres(svg: str, name: str) -> set[tuple[str, str]]:
    return {(each.get("cx", ""), each.get("cy", "")) for each in elements(svg, name)}


def said(svg: str, name: str) -> list[str]:
    return [each.text or "" for each in ET.fromstring(svg).iter(SVG + name)]


def area(path: str) -> int:
    """The cells that loops of `h` and `v` enclose, those of holes taken away."""
    twice = 0
    for loop in path.split("z")[:-1]:
        numbers = re.findall(r"[hv]|-?\d+", loop.removeprefix("M"))
        x, y = points_x, points_y = int(numbers[0]), int(numbers[1])
        for way, length in zip(numbers[2::2], map(int, numbers[3::2]), strict=True):
            next_x, next_y = (x + length, y) if way == "h" else (x, y + length)
            twice += x * next_y - next_x * y
            x, y = next_x, next_y
        assert points_x == x or points_y == y, "the last side, which z draws, is straight"
        twice += x * points_y - points_x * y
    return twice // 200


# SVG


def test_one_loop_around_each_piece(position: Position) -> None:
    svg = board_svg(position)
    assert paths(svg, "piece blue") == ["M30 50h10v30h-10zM40 40h20v10h-20z"]
    assert paths(svg, "piece orange") == ["M90 90h10v10h-10z"]


def test_pieces_that_meet_at_corners_keep_loops_of_their_own() -> None:
    three = Position.setup(DUO, [[parse_move(c, DUO) for c in ("e10,e11", "f12", "d12,d13,d14")]])
    assert paths(board_svg(three), "piece blue") == [
        "M30 0h10v30h-10zM40 30h10v20h-10zM50 20h10v10h-10z"
    ]


def test_a_study_may_have_a_ring_with_a_hole() -> None:
    ring = [parse_move(text, DUO) for text in ("a1,b1,c1,a2,a3", "b3,c3", "c2")]
    (path,) = paths(board_svg(Position.setup(DUO, [ring])), "piece blue")
    assert path == "M0 110h30v30h-30zM10 120v10h10v-10z"
    assert area(path) == 8


@pytest.mark.parametrize("key", list(VARIANTS))
@pytest.mark.parametrize("seed", range(5))
def test_the_loops_enclose_the_squares_and_every_square_has_its_mark(key: str, seed: int) -> None:
    shown = random_position(VARIANTS[key], seed, 60)
    svg = board_svg(shown)
    for colour, name in enumerate(shown.variant.colours):
        (path,) = paths(svg, f"piece {name}")
        assert area(path) == shown.squares[colour].bit_count()
        assert path.count("z") == len(shown.variant.hand) - len(shown.left[colour])
        (marks,) = paths(svg, f"marks {name}")
        assert marks.count(MARKS[name][2]) == shown.squares[colour].bit_count()


def test_the_last_move_has_a_frame_and_is_told_in_words(position: Position) -> None:
    assert not elements(board_svg(position), "last")
    svg = board_svg(position, last_move=LAST)
    (frame,) = elements(svg, "last")
    assert {path.get("d") for path in frame} == {"M30 50h10v30h-10z"}
    assert said(svg, "desc") == ["Last move: blue I3 at d7,d8,d9."]


def test_first_cells_show_with_their_mark_until_they_are_covered(position: Position) -> None:
    svg = board_svg(Position.start(DUO))
    assert centres(svg, "first") == {("45", "45"), ("95", "95")}
    assert paths(svg, "marks blue") == ["M43 47l4-4"]
    assert not elements(board_svg(position), "first")


def test_attach_points_of_a_colour(position: Position) -> None:
    svg = board_svg(position, attach=1)
    assert centres(svg, "attach") == {("85", "85"), ("85", "105"), ("105", "85"), ("105", "105")}
    assert said(svg, "desc") == ["Attach points of orange: i4,k4,i6,k6."]
    assert not elements(board_svg(position), "attach")
    assert not said(board_svg(position), "desc")
    over = position.without_seat(0).position
    assert said(board_svg(over, attach=1), "desc") == ["Attach points of orange: none."]


def test_coordinates_and_legend_can_be_left_out(position: Position) -> None:
    assert {"a", "n", "1", "14"} <= set(said(board_svg(position), "text"))
    bare = board_svg(position, coordinates=False, legend=False)
    assert not said(bare, "text")
    assert 'viewBox="-2 -2 144 144"' in bare


def test_the_legend_tells_points_turn_and_who_is_out(position: Position) -> None:
    def legend(shown: Position) -> list[str | None]:
        (group,) = elements(board_svg(shown), "legend")
        return [each.text for each in group.iter(SVG + "text")]

    assert legend(position) == ["Blue 5", "Orange 1"]
    svg = board_svg(position)
    assert len(elements(svg, "turn")) == 1
    (bold,) = (e.text for e in ET.fromstring(svg).iter() if e.get("font-weight"))
    assert bold == "Orange 1"
    out = Position.setup(DUO, [[parse_move("j5", DUO)], []], turn=1)
    assert legend(out) == ["Blue 1", "Orange 0 out"]
    over = position.without_seat(1).position
    assert legend(over) == ["Blue 5", "Orange 1 left", "Game over"]
    assert not elements(board_svg(over), "turn")
    assert legend(replace(out, turn=None)) == ["Blue 1", "Orange 0", "Game over"]


@pytest.mark.parametrize("key", list(VARIANTS))
@pytest.mark.parametrize("leavers", range(3))
def test_the_legend_fits_below_the_board(key: str, leavers: int) -> None:
    shown = random_position(VARIANTS[key], 7, 200 if leavers == 0 else 30)
    for seat in range(min(leavers, shown.variant.seats - 1)):
        shown = shown.without_seat(seat).position
    (group,) = elements(board_svg(shown), "legend")
    ends = [
        float(text.get("x", "")) + 0.56 * float(group.get("font-size", "")) * len(text.text or "")
        for text in group.iter(SVG + "text")
    ]
    assert ends == sorted(ends)
    assert ends[-1] <= shown.variant.size * 10 + 0.1
    starts = [float(rect.get("x", "")) for rect in group.iter(SVG + "rect")]
    assert all(start > end + 2 for start, end in zip(starts[1:], ends, strict=False))


@pytest.mark.parametrize("theme", list(THEMES))
def test_themes(position: Position, theme: str) -> None:
    svg, look = board_svg(position, theme=theme), THEMES[theme]
    fills = {each.get("fill") for each in ET.fromstring(svg).iter()}
    assert {look.page, look.ground, look.ink, look.fills["blue"], look.fills["orange"]} <= fills


def test_an_unknown_theme_is_refused(position: Position) -> None:
    with pytest.raises(UnknownThemeError) as caught:
        board_svg(position, theme="<script>")
    assert caught.value.code == "unknown-theme"


def test_the_title_tells_the_points_and_the_turn(position: Position) -> None:
    svg = board_svg(position)
    assert ET.fromstring(svg)[0].tag == SVG + "title"
    assert said(svg, "title") == ["Block Territory: blue 5, orange 1; orange to move"]
    over = board_svg(position.without_seat(1).position)
    assert said(over, "title") == ["Block Territory: blue 5, orange 1 (left); game over"]


def whole_games() -> Iterator[str]:
    for key in VARIANTS:
        yield board_svg(random_position(VARIANTS[key], 3, 200), last_move=LAST, attach=0)


def test_a_picture_is_pure_safe_to_repeat_in_a_page_and_small(position: Position) -> None:
    assert board_svg(position, last_move=LAST) == board_svg(position, last_move=LAST)
    for svg in whole_games():
        for each in ET.fromstring(svg).iter():
            assert each.tag.removeprefix(SVG) not in ("script", "style", "image", "use")
            assert not {name for name in each.attrib if name == "id" or name.startswith("on")}
        assert len(svg) < 13_000


def test_a_sixth_variant_is_drawn_without_further_ado() -> None:
    shown = Position.start(SIXTH).play(parse_move("a1", SIXTH)).play(parse_move("a14", SIXTH))
    for theme in THEMES:
        svg = board_svg(shown, theme=theme)
        assert said(svg, "title") == ["Tea & <cake>: blue 1, black 1, teal 0; teal to move"]
        (one,), (two,) = paths(svg, "marks blue"), paths(svg, "marks black")
        assert one != two
    lines = board_text(shown, colour=False).splitlines()
    assert [line.split()[1] for line in (lines[1], lines[14])] == ["L", "B"]
    assert " t 1" in lines[14]


# Text


def test_plain_text(position: Position) -> None:
    lines = board_text(position, colour=False).splitlines()
    assert lines[0] == lines[-2] == "    a b c d e f g h i j k l m n"
    assert lines[1] == " 14 . . . . . . . . . . . . . . 14"
    assert lines[5] == " 10 . . . . B B . . . . . . . . 10"
    assert lines[6] == "  9 . . . B . . . . . . . . . . 9"
    assert lines[10] == "  5 . . . . . . . . . O . . . . 5"
    assert lines[-1] == "blue 5, orange 1; orange to move"


def test_plain_text_with_the_last_move_and_attach_points(position: Position) -> None:
    lines = board_text(position, colour=False, last_move=LAST, attach=1).splitlines()
    assert lines[5] == " 10 . . . . B B . . . . . . . . 10"
    assert lines[6] == "  9 . . .*B . . . . . . . . . . 9"
    assert lines[9] == "  6 . . . . . . . . + . + . . . 6"
    assert lines[10] == "  5 . . . . . . . . . O . . . . 5"
    assert lines[-1] == "blue 5, orange 1; orange to move; last move d7,d8,d9"
    first = board_text(Position.start(DUO), colour=False, attach=0)
    assert " 10 . . . . + . . . . . . . . . 10" in first


def test_plain_text_of_first_cells_and_of_colours_without_turns() -> None:
    text = board_text(Position.start(DUO), colour=False)
    assert " 10 . . . . b . . . . . . . . . 10" in text
    over = Position.start(DUO).without_seat(0).position
    assert board_text(over, colour=False).endswith("blue 0 (left), orange 0; game over\n")
    out = Position.setup(DUO, [[parse_move("j5", DUO)], []], turn=1)
    assert board_text(out, colour=False).endswith("orange 0 (out); blue to move\n")


@pytest.mark.parametrize("key", list(VARIANTS))
def test_the_letters_of_a_variant_differ(key: str) -> None:
    names = VARIANTS[key].colours
    assert len({name[0] for name in names}) == len(names)


def test_coloured_text_is_the_plain_text_with_escape_codes(position: Position) -> None:
    coloured = board_text(position, last_move=LAST, attach=0)
    plain = board_text(position, colour=False, last_move=LAST, attach=0)
    assert coloured != plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    assert coloured.count("\x1b[0m") == 6
    assert coloured.count("\x1b[48;5;25;38;5;231m*B") == 3
    assert coloured.count("\x1b[48;5;208;38;5;16m O") == 1

"""The pictures of a run: text and SVG."""

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from games.palette import THEMES, UnknownThemeError
from games.puzzle.rules import Rules, Run, board_svg, board_text, place, summary

from .runs import SEED, run_with

BOXES = Rules.of("easy", "9x9")
HARD = Rules.of("hard", "8x8")
CROSS = (
    *["....#...."] * 3,
    *["...###...", "####.####", "...###..."],
    *["....#...."] * 3,
)
CROWDED = [".#.#.#.#", "#.#.#.#."] * 4


@pytest.fixture
def cross() -> Run:
    """Row 5, column e and the box in the middle each want e5 only."""
    return run_with(BOXES, *CROSS, hand="1/0 O9/0 -", streak=2)


def elements(svg: str, name: str) -> list[ET.Element]:
    return [each for each in ET.fromstring(svg).iter() if each.get("class") == name]


def squares(svg: str, name: str) -> int:
    return sum(each.get("d", "").count("z") for each in elements(svg, name))


# Text


def test_the_board_and_the_hand(cross: Run) -> None:
    assert board_text(cross, colour=False) == (
        "    a b c d e f g h i\n"
        "  9 . . .|. # .|. . . 9\n"
        "  8 . . .|. # .|. . . 8\n"
        "  7 . . .|. # .|. . . 7\n"
        "    -----+-----+-----\n"
        "  6 . . .|# # #|. . . 6\n"
        "  5 # # #|# . #|# # # 5\n"
        "  4 . . .|# # #|. . . 4\n"
        "    -----+-----+-----\n"
        "  3 . . .|. # .|. . . 3\n"
        "  2 . . .|. # .|. . . 2\n"
        "  1 . . .|. # .|. . . 1\n"
        "    a b c d e f g h i\n"
        "\n"
        "  1  1/0            2  O9/0           3  –\n"
        "     #                 # # #\n"
        "                       # # #\n"
        "                       # # #\n"
        "score 0; streak 2 (×3 next)\n"
    )


def test_brackets_stand_around_the_lines_that_would_clear(cross: Run) -> None:
    text = board_text(cross, colour=False, aimed=cross.rules.board.cells["e5"])
    assert text.splitlines()[5:8] == [
        "  6 . . .[# # #]. . . 6",
        "  5[# # #|# o #|# # #]5",
        "  4 . . .[# # #]. . . 4",
    ]
    assert text.count(".[#].") == 6


def test_a_block_that_lies_on_another_is_marked_and_clears_nothing(cross: Run) -> None:
    kind = cross.rules.board
    text = board_text(cross, colour=False, aimed=kind.mask_of(["e5", "e6"]))
    assert "  6 . . .|# x #|. . . 6" in text
    assert "  5 # # #|# o #|# # # 5" in text
    assert "[" not in text


@pytest.mark.parametrize("aimed", [0, 1 << 44])
def test_without_its_colours_the_text_is_the_plain_one(cross: Run, aimed: int) -> None:
    coloured = board_text(cross, aimed=aimed)
    plain = re.sub("\x1b\\[[0-9;]*m", "", coloured)
    assert "\x1b" in coloured
    assert [line.rstrip() for line in plain.splitlines()] == (
        board_text(cross, colour=False, aimed=aimed).splitlines()
    )


def test_blocks_without_room_are_said_to_have_none_and_are_faint() -> None:
    run = run_with(HARD, *CROWDED, hand="I5/0 1/0 R6/0")
    text = board_text(run, colour=False)
    assert "1  I5/0 no room   2  1/0            3  R6/0 no room" in text
    assert board_text(run).count("\x1b[2m") == 2 * 3


def test_a_run_in_words() -> None:
    run = run_with(HARD, *CROWDED, hand="I5/0 1/0 R6/0")
    assert summary(run) == "score 0"
    assert summary(replace(run, streak=7, streak_at_risk=True, score=90)) == (
        "score 90; streak 7 (×5 next, at risk)"
    )
    over, _ = place(run, SEED, 1, 0, "a8")
    assert summary(over) == "score 1; run over"


# SVG


def test_every_covered_cell_is_drawn(cross: Run) -> None:
    svg = board_svg(cross)
    assert squares(svg, "covered") == cross.board.bit_count()
    assert elements(svg, "aimed") == elements(svg, "line") == []
    assert squares(svg, "block") == 10
    (boxes,) = elements(svg, "boxes")
    assert boxes.get("d", "").count("M") == 8
    assert elements(board_svg(run_with(HARD)), "boxes") == []


def test_a_cell_is_where_its_name_says() -> None:
    run = run_with(HARD)
    run = replace(run, board=run.rules.board.mask_of(["a1", "h1", "c8"]))
    (path,) = elements(board_svg(run), "covered")
    assert re.findall(r"M(\d+) (\d+)", path.get("d", "")) == [
        ("0", "70"),
        ("70", "70"),
        ("20", "0"),
    ]


def test_a_held_block_is_pale_and_its_lines_have_thick_yellow_outlines(cross: Run) -> None:
    svg = board_svg(cross, aimed=cross.rules.board.cells["e5"])
    (aimed,) = elements(svg, "aimed")
    assert float(aimed.get("fill-opacity", "1")) < 0.5
    found = {}
    for line in elements(svg, "line"):
        title, _, front = line
        assert front.get("stroke") == THEMES["light"].fills["yellow"]
        found[title.text] = [int(front.get(name, "")) for name in ("x", "y", "width", "height")]
    assert found == {
        "row 5": [0, 40, 90, 10],
        "column e": [40, 0, 10, 90],
        "box d4": [30, 30, 30, 30],
    }


def test_a_held_block_that_lies_on_another_has_crosses(cross: Run) -> None:
    svg = board_svg(cross, aimed=cross.rules.board.mask_of(["e5", "e6", "f6"]))
    (crosses,) = elements(svg, "blocked")
    assert crosses.get("d", "").count("M") == 2
    assert squares(svg, "aimed") == 1
    assert elements(svg, "line") == []


def test_blocks_without_room_are_faded() -> None:
    svg = board_svg(run_with(HARD, *CROWDED, hand="I5/0 1/0 R6/0"))
    assert squares(svg, "block") == 1
    assert [each.get("opacity") for each in elements(svg, "block faded")] == ["0.3", "0.3"]


def test_a_streak_at_risk_stands_in_a_red_dotted_box(cross: Run) -> None:
    assert elements(board_svg(cross), "at-risk") == []
    (box,) = elements(board_svg(replace(cross, streak_at_risk=True)), "at-risk")
    assert box.get("stroke") == THEMES["light"].fills["red"]
    assert box.get("stroke-dasharray")


def test_it_says_in_words_what_it_shows(cross: Run) -> None:
    kind = cross.rules.board
    svg = ET.fromstring(board_svg(cross, aimed=kind.cells["e5"]))
    title, description = svg[0], svg[1]
    assert title.text == "Block puzzle 9x9: score 0; streak 2 (×3 next)"
    assert description.text is not None
    assert description.text.startswith("Covered: e1,e2,e3,d4,e4,f4,a5,")
    assert description.text.endswith(
        "Hand: 1/0, O9/0, empty. A block is held over e5. It would clear: row 5, column e, box d4."
    )


@pytest.mark.parametrize("theme", list(THEMES))
def test_the_themes_differ(cross: Run, theme: str) -> None:
    svg = board_svg(cross, theme=theme)
    (ground,) = elements(svg, "ground")
    (covered,) = elements(svg, "covered")
    assert ground.get("fill") == THEMES[theme].ground
    assert covered.get("fill") == THEMES[theme].fills["blue"]


def test_an_unknown_theme_is_refused(cross: Run) -> None:
    with pytest.raises(UnknownThemeError):
        board_svg(cross, theme="pink")


def test_parts_can_be_left_out(cross: Run) -> None:
    bare = board_svg(cross, coordinates=False, hand=False)
    assert "<text" not in bare
    assert elements(bare, "block") == elements(bare, "coordinates") == []
    box = ET.fromstring(bare).get("viewBox")
    assert box == "-2 -2 94 94"

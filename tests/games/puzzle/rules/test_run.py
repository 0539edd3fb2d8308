"""Placing, clearing, scoring, the end and the undo, by the examples of the description."""

from dataclasses import replace

import pytest

from games.puzzle.rules import (
    IllegalPlacementError,
    Rules,
    Run,
    Statistics,
    UndoError,
    fits,
    legal,
    place,
    preview,
    start,
    take_back,
)
from games.puzzle.rules.run import Points

from .runs import SEED, run_with

EASY = Rules.of("easy", undo="once")
FIXED = Rules.of("normal", board="8x8")
BOXES = Rules.of("easy", board="9x9")
EMPTY = "." * 8


def rows_of(run: Run) -> tuple[str, ...]:
    return run.rules.board.rows(run.board)


# Placing


def test_a_block_covers_its_cells_and_leaves_the_hand() -> None:
    run, placed = place(run_with(EASY, hand="L4/2 1/0 O/0"), SEED, 0, 0, "c4")
    assert placed.cells == ("c4", "d4", "c5", "c6")
    assert tuple(run.rules.board.split(run.board)) == placed.cells
    assert [block and block.text for block in run.hand] == [None, "1/0", "O/0"]
    assert (run.score, run.turn, run.over, placed.dealt) == (4, 1, False, ())
    assert placed.points == (Points("squares", 4, 1, 4),)


@pytest.mark.parametrize(
    ("rotation", "cells"),
    [
        (0, ("a1", "a2", "a3", "b3")),
        (1, ("c1", "a2", "b2", "c2")),
        (2, ("a1", "b1", "b2", "b3")),
        (3, ("a1", "b1", "c1", "a2")),
    ],
)
def test_a_quarter_turn_is_clockwise(rotation: int, cells: tuple[str, ...]) -> None:
    run = run_with(EASY, hand="L4/5 1/0 1/0")
    assert place(run, SEED, 0, rotation, "a1")[1].cells == cells


def test_at_is_the_corner_of_the_bounding_box_which_may_be_empty() -> None:
    run = run_with(EASY, hand="X/0 1/0 1/0")
    assert place(run, SEED, 0, 0, "a1")[1].cells == ("b1", "a2", "b2", "c2", "b3")


def test_the_third_block_brings_a_new_hand() -> None:
    run = run_with(EASY, hand="- 1/0 -")
    after, placed = place(run, SEED, 1, 0, "e5")
    assert placed.dealt == after.hand
    assert None not in after.hand
    assert (run.draws, after.draws) == (3, 6)


@pytest.mark.parametrize(
    ("rules", "slot", "rotation", "at", "code"),
    [
        (EASY, 1, 0, "a1", "block-not-in-hand"),
        (EASY, 3, 0, "a1", "block-not-in-hand"),
        (EASY, -1, 0, "a1", "block-not-in-hand"),
        (EASY, 0, 4, "a1", "rotation-not-allowed"),
        (EASY, 0, -1, "a1", "rotation-not-allowed"),
        (FIXED, 0, 1, "a1", "rotation-not-allowed"),
        (EASY, 0, 0, "h1", "outside-board"),
        (EASY, 0, 1, "a8", "outside-board"),
        (EASY, 0, 0, "k1", "outside-board"),
        (EASY, 0, 0, "a11", "outside-board"),
        (EASY, 0, 0, "A1", "outside-board"),
        (EASY, 0, 0, "", "outside-board"),
        (EASY, 2, 0, "d4", "cells-occupied"),
    ],
)
def test_what_is_refused(rules: Rules, slot: int, rotation: int, at: str, code: str) -> None:
    run = run_with(rules, hand="I4/0 - 1/0")
    run = replace(run, board=run.rules.board.cells["d4"])
    for ask in (preview, lambda *asked: place(asked[0], SEED, *asked[1:])):
        with pytest.raises(IllegalPlacementError) as caught:
            ask(run, slot, rotation, at)
        assert caught.value.code == code


# Lines and points


@pytest.mark.parametrize(("lines", "points"), [(1, 10), (2, 40), (3, 90), (4, 160), (5, 250)])
def test_the_score_table(lines: int, points: int) -> None:
    """A bar of five beside rows that each want one cell."""
    rows = [EMPTY] * 3 + ["." + "#" * 7] * lines + [EMPTY] * (5 - lines)
    run = run_with(FIXED, *rows, hand="I5/1 1/0 1/0")
    after, placed = place(run, SEED, 0, 0, "a1")
    assert placed.points == (Points("squares", 5, 1, 5), Points("lines", lines, 1, points))
    assert after.score == placed.total == 5 + points
    assert placed.lines == tuple(f"row {row}" for row in range(6 - lines, 6))
    assert (after.statistics.lines, after.statistics.largest_clear) == (lines, lines)


def test_three_lines_with_the_streak_at_five() -> None:
    rows = [EMPTY] * 5 + [".#######"] * 3
    run = run_with(FIXED, *rows, hand="I3/1 1/0 1/0", streak=4)
    after, placed = place(run, SEED, 0, 0, "a1")
    assert placed.points[1] == Points("lines", 3, 5, 450)
    assert (after.score, after.streak) == (453, 5)


def test_the_multiplier_stops_at_five_and_the_streak_goes_on() -> None:
    run = run_with(FIXED, *[EMPTY] * 7, ".#######", streak=7)
    after, placed = place(run, SEED, 0, 0, "a1")
    assert (after.streak, after.score, placed.points[1].multiplier) == (8, 51, 5)
    assert after.statistics.longest_streak == 8


def test_a_row_and_a_column_clear_together() -> None:
    rows = ["...#...."] * 4 + ["###.####"] + ["...#...."] * 3
    after, placed = place(run_with(FIXED, *rows), SEED, 0, 0, "d4")
    assert placed.lines == ("row 4", "column d")
    assert len(placed.cleared) == 15
    assert after.board == 0
    assert after.score == 41


def test_nothing_falls() -> None:
    rows = ["#......."] + [EMPTY] * 5 + [".#......", ".#######"]
    after, _ = place(run_with(FIXED, *rows), SEED, 0, 0, "a1")
    assert rows_of(after) == ("#.......", *[EMPTY] * 5, ".#......", EMPTY)


def test_a_box_is_a_line_on_nine_by_nine_only() -> None:
    rows = ["." * 9] * 3 + ["...###..."] * 2 + ["...##...."] + ["." * 9] * 3
    after, placed = place(run_with(BOXES, *rows), SEED, 0, 0, "f4")
    assert placed.lines == ("box d4",)
    assert (after.board, after.score) == (0, 11)
    other = run_with(EASY, ".........." * 1, *[f"{row}." for row in rows])
    assert place(other, SEED, 0, 0, "f4")[1].lines == ()


def test_a_row_a_column_and_a_box_at_once() -> None:
    row = "####.####"
    rows = ["....#...."] * 3 + ["...###...", row, "...###..."] + ["....#...."] * 3
    after, placed = place(run_with(BOXES, *rows), SEED, 0, 0, "e5")
    assert placed.lines == ("row 5", "column e", "box d4")
    assert (after.board, after.score) == (0, 91)


# The streak


def test_a_breather() -> None:
    rows = [EMPTY] * 6 + [".#######"] * 2
    run = run_with(FIXED, *rows, hand="1/0 1/0 1/0", streak=2)
    run, _ = place(run, SEED, 0, 0, "h8")
    assert (run.streak, run.streak_at_risk) == (2, True)
    cleared, placed = place(run, SEED, 1, 0, "a1")
    assert (cleared.streak, cleared.streak_at_risk, placed.points[1].points) == (3, False, 30)
    lost, _ = place(run, SEED, 1, 0, "h7")
    assert (lost.streak, lost.streak_at_risk) == (0, True)


def test_only_a_clear_removes_the_warning() -> None:
    run = run_with(FIXED, *[EMPTY] * 7, ".#######", hand="1/0 1/0 1/0")
    run, _ = place(run, SEED, 0, 0, "h8")
    assert (run.streak, run.streak_at_risk) == (0, True)
    run, _ = place(run, SEED, 1, 0, "a1")
    assert (run.streak, run.streak_at_risk) == (1, False)


# The end


def test_the_end_comes_when_no_block_of_the_hand_fits() -> None:
    """Every other cell is covered; the single square leaves two bars that fit nowhere."""
    rows = [".#.#.#.#", "#.#.#.#."] * 4
    run = run_with(FIXED, *rows, hand="I4/0 1/0 2/1")
    assert fits(run) == (False, True, False)
    after, placed = place(run, SEED, 1, 0, "a8")
    assert (after.over, placed.over, fits(after), legal(after)) == (
        True,
        True,
        (False, False, False),
        [],
    )
    with pytest.raises(IllegalPlacementError) as caught:
        place(after, SEED, 0, 0, "a1")
    assert caught.value.code == "run-over"


def test_a_block_that_fits_turned_keeps_the_run_going_where_turning_is_allowed() -> None:
    rows = [*["#.#.#.#."] * 7, ".#.#.#.#"]
    for level, over in (("easy", False), ("hard", True)):
        run = run_with(Rules.of(level, board="8x8"), *rows, hand="I3/0 1/0 -")
        after, _ = place(run, SEED, 1, 0, "h8")
        assert after.over is over


# Undo


def test_a_placement_is_taken_back() -> None:
    before = run_with(EASY, hand="L4/2 - -", streak=3)
    after, _ = place(before, SEED, 0, 0, "c4")
    undone = take_back(after)
    assert undone == replace(before, turn=2, undo_used=True)
    again, placed = place(undone, SEED, 0, 0, "c4")
    assert placed.dealt == after.hand
    assert (again.before, again.undo_used, again.turn) == (None, True, 3)


def test_also_after_the_end() -> None:
    rules = Rules.of("hard", board="8x8", undo="once")
    run = run_with(rules, *[".#.#.#.#", "#.#.#.#."] * 4, hand="I4/0 1/0 2/1")
    over, _ = place(run, SEED, 1, 0, "a8")
    assert over.over
    assert not take_back(over).over


def test_what_undo_refuses() -> None:
    def why(run: Run) -> str:
        with pytest.raises(UndoError) as caught:
            take_back(run)
        return caught.value.code

    assert why(run_with(FIXED)) == "undo-off"
    first = start(EASY, SEED)
    assert why(first) == "nothing-to-undo"
    choice = legal(first)[0]
    second, _ = place(first, SEED, choice.slot, choice.rotation, choice.at)
    undone = take_back(second)
    assert why(undone) == "undo-used"
    assert why(place(undone, SEED, choice.slot, choice.rotation, choice.at)[0]) == "undo-used"


def test_without_undo_nothing_is_kept_for_it() -> None:
    run, _ = place(run_with(FIXED), SEED, 0, 0, "a1")
    assert run.before is None


# The list of what is allowed


def test_the_first_placements() -> None:
    run = run_with(EASY, hand="I4/0 - O/0")
    found = legal(run)
    assert len(found) == 7 * 10 * 2 + 81
    assert [(each.slot, each.rotation, each.at) for each in found[:2]] == [
        (0, 0, "a1"),
        (0, 0, "b1"),
    ]
    assert {each.rotation for each in found if each.slot == 2} == {0}


def test_it_tells_which_lines_would_clear() -> None:
    rows = [EMPTY] * 6 + [".#######"] * 2
    run = run_with(FIXED, *rows, hand="2/1 - -")
    found = {each.at: [line.text for line in each.lines] for each in legal(run)}
    assert found["a1"] == ["row 1", "row 2"]
    assert found["a2"] == ["row 2"]
    assert found["a3"] == []
    assert "b1" not in found


def test_statistics() -> None:
    run = run_with(FIXED, *[EMPTY] * 7, ".#######", hand="1/0 O/0 1/0")
    run, _ = place(run, SEED, 0, 0, "a1")
    run, _ = place(run, SEED, 1, 0, "a1")
    assert run.statistics == Statistics(
        placements=2, squares=5, lines=1, largest_clear=1, longest_streak=1
    )


def test_the_best_so_far_stays_the_best() -> None:
    best = Statistics(largest_clear=3, longest_streak=6)
    run = replace(run_with(FIXED, *[EMPTY] * 7, ".#######"), statistics=best)
    run, _ = place(run, SEED, 0, 0, "a1")
    assert (run.streak, run.statistics.longest_streak, run.statistics.largest_clear) == (1, 6, 3)

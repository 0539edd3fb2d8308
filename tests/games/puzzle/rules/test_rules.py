"""Levels, boards, blocks, weights: the tables of the description."""

from fractions import Fraction
from typing import Any

import pytest

from games.puzzle.rules import BLOCKS, BOARDS, DAILY, LEVELS, Block, Rules, WrongRulesError
from games.puzzle.rules.blocks import BIG, FORMS, SMALL
from games.puzzle.rules.deal import WEIGHTS


@pytest.mark.parametrize(
    ("level", "rotation", "dealing", "shapes"),
    [
        ("easy", True, "fitting", "mostly-small"),
        ("normal", False, "fitting", "some-big"),
        ("hard", False, "random", "mostly-big"),
        ("daily", False, "random", "some-big"),
    ],
)
def test_the_levels(level: str, rotation: bool, dealing: str, shapes: str) -> None:
    rules = Rules.of(level)
    assert (rules.rotation, rules.dealing, rules.shapes) == (rotation, dealing, shapes)
    assert (rules.board.key, rules.undo) == ("10x10", "off")
    assert Rules.of(**rules.as_dict()) == rules


def test_the_keys_of_bests_differ_where_the_rules_do() -> None:
    assert Rules.of("easy", undo="once").key == "easy:10x10:once"
    custom: dict[str, Any] = {"dealing": "fitting", "shapes": "mostly-small"}
    assert Rules.of("custom", "9x9", rotation=False, **custom).key == (
        "custom-fixed-fitting-mostly-small:9x9:off"
    )
    assert DAILY.key == "daily"
    keys = {
        Rules.of("custom", board, undo, rotation=rotation, dealing=dealing, shapes=shapes).key
        for board in BOARDS
        for undo in ("once", "off")
        for rotation in (True, False)
        for dealing in ("fitting", "random")
        for shapes in WEIGHTS
    }
    assert len(keys) == 3 * 2 * 2 * 2 * 3


@pytest.mark.parametrize(
    ("asked", "field", "says"),
    [
        ({"level": "brutal"}, "level", "choose one of easy, normal, hard, custom, daily"),
        ({"level": "easy", "board": "7x7"}, "board", "choose one of 10x10, 9x9, 8x8"),
        ({"level": "easy", "undo": "twice"}, "undo", "choose one of once, off"),
        ({"level": "easy", "rotation": False}, "rotation", "easy has rotation on; choose custom"),
        ({"level": "hard", "dealing": "fitting"}, "dealing", "hard has dealing random"),
        ({"level": "hard", "shapes": "tiny"}, "shapes", "mostly-small, some-big, mostly-big"),
        ({"level": "daily", "board": "9x9"}, "board", "daily has board 10x10."),
        ({"level": "daily", "undo": "once"}, "undo", "daily has undo off."),
        ({"level": "custom", "rotation": True, "dealing": "random"}, "shapes", "wants shapes"),
        ({"level": "custom"}, "rotation", "custom wants rotation: on, off"),
    ],
)
def test_rules_that_are_not_allowed(asked: dict[str, Any], field: str, says: str) -> None:
    with pytest.raises(WrongRulesError, match=says) as caught:
        Rules.of(**asked)
    assert (caught.value.field, caught.value.code) == (field, "wrong-rules")


def test_the_shares_of_shapes() -> None:
    """A tier has its share, every free shape of it an equal part, and every orientation an equal part of that."""
    for shapes, big in (("mostly-small", 10), ("some-big", 35), ("mostly-big", 70)):
        weights = dict(zip(BLOCKS, WEIGHTS[shapes], strict=True))
        total = sum(weights.values())
        assert total == 57_600
        for tier, share in ((SMALL, 100 - big), (BIG, big)):
            for shape in tier:
                own = [weight for block, weight in weights.items() if block.shape == shape]
                assert len(set(own)) == 1
                assert Fraction(sum(own), total) == Fraction(share, 100 * len(tier))


def test_the_shapes() -> None:
    orientations = {shape: len(forms) for shape, forms in FORMS.items()}
    assert orientations == {
        "1": 1,
        "2": 2,
        "I3": 2,
        "V3": 4,
        "O": 1,
        "L4": 8,
        "T4": 4,
        "Z4": 4,
        "I4": 2,
        "I5": 2,
        "V5": 4,
        "X": 1,
        "U": 4,
        "T5": 4,
        "W": 4,
        "R6": 2,
        "O9": 1,
    }
    assert [block.text for block in BLOCKS][:4] == ["1/0", "2/0", "2/1", "I3/0"]


def test_no_turn_is_a_mirror_image() -> None:
    """Of the eight forms of the L, four can be turned into each other."""
    kinds = {frozenset(block.turns) for block in BLOCKS if block.shape == "L4"}
    assert sorted(map(len, kinds)) == [4, 4]
    assert {len(set(block.turns)) for block in BLOCKS if block.shape == "Z4"} == {2}
    for block in BLOCKS:
        assert block.turned(0) is block
        assert block.turned(4) == block.turned(1).turned(3) == block
        assert block.turned(-1) == block.turned(3)


def test_bounding_boxes() -> None:
    assert {(block.width, block.height) for block in BLOCKS if block.shape == "R6"} == {
        (3, 2),
        (2, 3),
    }


@pytest.mark.parametrize(("key", "lines"), [("10x10", 20), ("9x9", 27), ("8x8", 16)])
def test_the_lines(key: str, lines: int) -> None:
    kind = BOARDS[key]
    assert len({line.text for line in kind.lines}) == len(kind.lines) == lines
    assert all(line.mask.bit_count() == kind.size for line in kind.lines)
    assert kind.full.bit_count() == kind.size**2


def test_boards_in_writing() -> None:
    kind = BOARDS["8x8"]
    mask = kind.mask_of(["a1", "h8", "b1"])
    rows = kind.rows(mask)
    assert (rows[0], rows[7]) == (".......#", "##......")
    assert kind.read_rows(rows) == mask
    for wrong in (rows[1:], [*rows[1:], "##....."], [*rows[1:], "##.....x"], ["." * 64]):
        with pytest.raises(ValueError, match="row"):
            kind.read_rows(wrong)


def test_texts_that_are_no_block() -> None:
    for text in ("L4/8", "L4", "F/0", ""):
        with pytest.raises(KeyError):
            Block.read(text)


def test_every_level_has_a_key_of_its_own() -> None:
    custom: dict[str, Any] = {"rotation": True, "dealing": "random", "shapes": "some-big"}
    keys = {Rules.of(level, **(custom if level == "custom" else {})).key for level in LEVELS}
    assert len(keys) == len(LEVELS)

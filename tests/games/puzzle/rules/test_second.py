"""The rules and a second implementation of docs/puzzle.md agree, in fixed vectors and in runs by chance."""

import json
import random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.env import PROJECT
from games.puzzle.rules import BLOCKS, BOARDS, Rules, Run, legal, place, start
from games.puzzle.rules.deal import WEIGHTS, deal, draw

from . import second

VECTORS: Final = json.loads((PROJECT / "tests/reference/puzzle/vectors.json").read_text())


def hand_of(run: Run) -> list[str]:
    return [block.text if block else "-" for block in run.hand]


def test_the_blocks_and_their_order() -> None:
    assert [(block.text, ",".join(block.cells)) for block in BLOCKS] == list(
        VECTORS["blocks"].items()
    )
    assert {block.text: frozenset((x, y) for y, x in block.form) for block in BLOCKS} == (
        second.BLOCKS
    )


def test_a_turn_is_the_same_in_both() -> None:
    for block in BLOCKS:
        for times, turned in enumerate(block.turns):
            assert second.BLOCKS[turned.text] == second.turned(second.BLOCKS[block.text], times)


@pytest.mark.parametrize("vector", VECTORS["draws"])
def test_the_draws(vector: dict[str, Any]) -> None:
    seed, weights = bytes.fromhex(vector["seed"]), WEIGHTS[vector["shapes"]]
    assert [draw(seed, k, weights).text for k in range(12)] == vector["blocks"]
    assert draw(seed, vector["far"], weights).text == vector["far_block"]


@pytest.mark.parametrize(
    "vector", VECTORS["runs"], ids=lambda each: "{level}-{board}-{shapes}".format(**each["rules"])
)
def test_the_runs(vector: dict[str, Any]) -> None:
    seed = bytes.fromhex(vector["seed"])
    run = start(Rules.of(**vector["rules"]), seed)
    assert hand_of(run) == vector["first_hand"]
    for slot, rotation, at, score, streak, hand in vector["placements"]:
        run, _ = place(run, seed, slot, rotation, at)
        assert (run.score, run.streak, hand_of(run)) == (score, streak, hand)
    assert run.over is vector["over"]
    assert list(run.rules.board.rows(run.board)) == vector["rows"]


def test_the_vectors_are_those_of_the_second_implementation() -> None:
    assert {
        text: ",".join(f"{'abcde'[x]}{y + 1}" for y, x in second.by_rows(form))
        for text, form in second.BLOCKS.items()
    } == VECTORS["blocks"]
    for vector in VECTORS["runs"]:
        if vector["rules"]["dealing"] == "random":
            game = second.Game(vector["rules"], bytes.fromhex(vector["seed"]))
            for slot, rotation, at, score, *_ in vector["placements"]:
                game.place(slot, rotation, at)
                assert game.score == score
            assert list(game.rows) == vector["rows"]


some_rules = st.builds(
    Rules.of,
    st.just("custom"),
    st.sampled_from(list(BOARDS)),
    rotation=st.booleans(),
    dealing=st.sampled_from(["fitting", "random"]),
    shapes=st.sampled_from(list(WEIGHTS)),
)
seeds = st.binary(min_size=32, max_size=32)


@settings(max_examples=12, deadline=None)
@given(some_rules, seeds, st.integers(0, 2**32 - 1).map(random.Random))
def test_runs_by_chance(rules: Rules, seed: bytes, chance: random.Random) -> None:
    run, game = start(rules, seed), second.Game(rules.as_dict(), seed)
    while not run.over and run.turn < 24:
        pick = max(legal(run), key=lambda each: (len(each.lines), chance.random()))
        run, _ = place(run, seed, pick.slot, pick.rotation, pick.at)
        game.place(pick.slot, pick.rotation, pick.at)
        assert (run.score, run.streak, run.over) == (game.score, game.streak, game.over)
        assert hand_of(run) == [block or "-" for block in game.hand]
        assert run.rules.board.rows(run.board) == game.rows


@settings(max_examples=25, deadline=None)
@given(
    rows=st.lists(st.text("#.", min_size=8, max_size=8), min_size=8, max_size=8),
    rotation=st.booleans(),
    seed=seeds,
)
def test_deals_on_any_board(rows: list[str], rotation: bool, seed: bytes) -> None:
    """Also on boards so crowded that play hardly ever reaches them; e5 is left empty, so that something fits."""
    rules = Rules.of("custom", "8x8", rotation=rotation, dealing="fitting", shapes="mostly-big")
    game = second.Game(rules.as_dict(), seed)
    game.board = {
        (x, 7 - y) for y, row in enumerate(rows) for x, mark in enumerate(row) if mark == "#"
    } - {(4, 4)}
    game.k = 0
    game.deal()
    board = rules.board.read_rows(rows) & ~rules.board.cells["e5"]
    assert [block.text for block in deal(rules, seed, 0, board)] == game.hand

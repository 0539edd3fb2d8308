"""Players of the block puzzle: always a legal placement, the same by the same seed, and each better than the last."""

import hashlib
import random
from statistics import fmean

import pytest

from bots.engine import BlockPlayer
from bots.engine.block_kinds import KIND, Sampling
from games.puzzle.rules import BLOCKS, BOARDS, Rules, Run, legal, place, start
from tests.games.puzzle.rules.runs import run_with

KINDS = pytest.mark.parametrize("kind", KIND)
RULES = [
    *(Rules.of(level, board) for level in ("easy", "normal", "hard") for board in BOARDS),
    Rules.of("daily"),
    Rules.of("custom", "8x8", rotation=True, dealing="random", shapes="mostly-big"),
]


def seed_of(number: int) -> bytes:
    return hashlib.sha256(f"player {number}".encode()).digest()


def play(kind: str, rules: Rules, number: int, most: int) -> Run:
    """A run of a player, which raises if the player chooses what is not legal."""
    seed, player = seed_of(number), BlockPlayer(kind, seed=number)
    run = start(rules, seed)
    while not run.over and run.turn < most:
        chosen = player.choose(run)
        run, _ = place(run, seed, chosen.slot, chosen.rotation, chosen.at)
    return run


@KINDS
@pytest.mark.parametrize("rules", RULES, ids=lambda rules: rules.key)
def test_runs_are_legal_and_the_same_by_the_same_seed(kind: str, rules: Rules) -> None:
    runs = [play(kind, rules, 5, most=45) for _ in range(2)]
    assert runs[0] == runs[1]
    assert runs[0].over or runs[0].turn == 45


@KINDS
def test_a_placement_is_at_hand_whatever_the_position(kind: str) -> None:
    """Boards with as little room as possible, any blocks, any of them gone: without a plan, and without time."""
    chance, tried = random.Random(8), 0
    for number in range(150):
        rules = chance.choice(RULES)
        cells = list(rules.board.cells.values())
        covered = sum(chance.sample(cells, len(cells) * chance.randrange(60, 97) // 100))
        for line in rules.board.lines:
            if line.mask & ~covered == 0:
                covered ^= chance.choice([cell for cell in cells if cell & line.mask])
        hand = [chance.choice(BLOCKS) for _ in range(3)]
        blocks = tuple(chance.choice((block, block, None)) for block in hand)
        run = Run(rules, covered, blocks, 3, streak=number % 7, streak_at_risk=number % 3 == 1)
        options = {(each.slot, each.rotation, each.at) for each in legal(run)}
        if not options:
            continue
        tried += 1
        chosen = BlockPlayer(kind, seed=number, seconds=0.0).choose(run)
        assert (chosen.slot, chosen.rotation, chosen.at) in options
    assert tried > 40


def test_a_run_that_is_over_has_no_placement() -> None:
    run = play("simple", Rules.of("hard", "8x8"), 1, most=500)
    assert run.over
    with pytest.raises(ValueError, match="over"):
        BlockPlayer("simple").choose(run)


def test_simple_takes_the_points_that_there_are() -> None:
    run = run_with(
        Rules.of("normal", "8x8"),
        "........",
        "........",
        "........",
        "........",
        "........",
        "........",
        "######..",
        "######..",
        hand="O9/0 2/0 O/0",
    )
    chosen = {BlockPlayer("simple", seed=seed).choose(run) for seed in range(5)}
    assert {(each.slot, each.at) for each in chosen} == {(2, "g1")}, "40 points and 4 squares"


@pytest.mark.parametrize("kind", ["careful", "patient"])
def test_who_looks_ahead_makes_room_for_the_last_block(kind: str) -> None:
    """Only where the straight clears its row, there is room for the square afterwards."""
    run = run_with(
        Rules.of("normal", "8x8"),
        "##.#.##.",
        "...##.##",
        "####....",
        "...#.###",
        ".#.##.##",
        "#.#.#.#.",
        "##.#.#.#",
        "....#.##",
        hand="O9/0 I4/0 -",
    )
    assert {(each.slot, each.at) for each in legal(run)} == {(1, "a1"), (1, "e6")}
    player = BlockPlayer(kind, seed=1)
    first = player.choose(run)
    assert (first.slot, first.at) == (1, "e6")
    run, _ = place(run, seed_of(1), first.slot, first.rotation, first.at)
    second = player.choose(run)
    assert (second.slot, second.at) == (0, "a5")


def test_a_plan_is_kept_for_the_hand_and_made_anew_for_another_position() -> None:
    rules, seed = Rules.of("normal"), seed_of(3)
    first, player = start(rules, seed), BlockPlayer("patient", seed=3)
    chosen = player.choose(first)
    second, _ = place(first, seed, chosen.slot, chosen.rotation, chosen.at)
    player.samples = 0
    chosen = player.choose(second)
    assert player.samples == 0, "this is the second step of the plan"
    third, _ = place(second, seed, chosen.slot, chosen.rotation, chosen.at)
    for other in (second, first, third):
        chosen = player.choose(other)
        place(other, seed, chosen.slot, chosen.rotation, chosen.at)
    assert player.samples > 0, "these came in another order than planned"


def test_thinking_is_bounded_by_samples_or_by_time() -> None:
    kind = KIND["patient"]
    assert isinstance(kind, Sampling)
    run = start(Rules.of("normal"), seed_of(1))
    whole, hurried = BlockPlayer("patient", seed=1), BlockPlayer("patient", seed=1, seconds=0.0)
    whole.choose(run)
    hurried.choose(run)
    assert (whole.samples, hurried.samples) == (kind.samples, 0)


def test_a_hand_that_may_come_is_not_the_one_that_will() -> None:
    """A player is given the run, which has no seed: with other draws to come, it chooses the same."""
    rules = Rules.of("hard")
    run = start(rules, seed_of(1))
    chosen = []
    for number in range(3):
        player, now = BlockPlayer("patient", seed=9), run
        for _ in range(3):
            chosen.append(player.choose(now))
            last = chosen[-1]
            now, _ = place(now, seed_of(number), last.slot, last.rotation, last.at)
    assert chosen[:3] == chosen[3:6] == chosen[6:]


def mean(kind: str, rules: Rules, runs: int, most: int) -> float:
    return fmean(play(kind, rules, number, most).score for number in range(runs))


@pytest.mark.parametrize("rules", [Rules.of("normal"), Rules.of("hard")], ids=["normal", "hard"])
def test_careful_beats_simple_by_far(rules: Rules) -> None:
    """Fifty runs of each with the same seeds. (Within the placements that it takes, careful mostly goes on.)"""
    assert mean("careful", rules, 50, most=150) > 4 * mean("simple", rules, 50, most=150)


@pytest.mark.slow
def test_patient_beats_careful() -> None:
    rules = Rules.of("hard")
    assert mean("patient", rules, 50, most=400) > 1.2 * mean("careful", rules, 50, most=400)

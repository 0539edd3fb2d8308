"""The compiled block puzzle against the rules, on every board and level: what is legal, what it clears and scores."""

import hashlib
import random
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, chain
from typing import TypeAlias

import numpy as np
import pytest

from bots.engine import block_kernel as kernel
from bots.engine.block_kernel import Weights
from bots.engine.block_player import BlockPlayer, Position, choice_of
from bots.engine.block_search import (
    HAND,
    LEFT,
    POINTS,
    best_of,
    empty_beam,
    greedy,
    look_ahead,
    set_root,
    trace,
)
from bots.engine.block_tables import NUMBERS, tables_of, words_of_mask
from games.puzzle.rules import BLOCKS, BOARDS, Placed, Rules, Run, legal, place, start
from games.puzzle.rules.deal import fits, weights
from tests.games.puzzle.rules.runs import played

RULES = [
    *(Rules.of(level, board) for level in ("easy", "normal", "hard") for board in BOARDS),
    Rules.of("daily"),
    Rules.of("custom", "9x9", rotation=True, dealing="random", shapes="mostly-big"),
]
KEYS = [rules.key for rules in RULES]
each_rules = pytest.mark.parametrize("rules", RULES, ids=KEYS)
BOARD_KEYS = pytest.mark.parametrize("board", BOARDS)


def words_of(run: Run) -> tuple[int, int]:
    """The empty cells of a run, as compiled code has them."""
    return words_of_mask(run.rules.board.full & ~run.board, run.rules.board)


def seed_of(number: int) -> bytes:
    return hashlib.sha256(f"test {number}".encode()).digest()


def legal_here(position: Position) -> dict[tuple[int, int, str], int]:
    """What the compiled tables call legal: the placement for each command."""
    tables, (low, high) = position.tables, position.words
    found = {}
    for slot, block in enumerate(position.hand):
        for turned in tables.turns[block] if block >= 0 else ():
            if turned < 0:
                continue
            for placement in range(tables.first[turned], tables.first[turned + 1]):
                mask = tables.masks[placement]
                if not (mask[0] & ~low or mask[1] & ~high):
                    choice = choice_of(tables, block, slot, placement)
                    found[choice.slot, choice.rotation, choice.at] = placement
    return found


Turn: TypeAlias = tuple[Run, tuple[int, int, str], Run, Placed]
"""A run before and after a placement, the command, and what it did."""


def at_random(rules: Rules, seed: int) -> Iterator[Turn]:
    before = start(rules, seed_of(seed))
    for run, pick, placed in played(rules, seed_of(seed), random.Random(seed), 100):
        if pick is not None and placed is not None:
            yield before, (pick.slot, pick.rotation, pick.at), run, placed
        before = run


def with_care(rules: Rules, seed: int, most: int = 80) -> Iterator[Turn]:
    """A long run, with streaks and several lines at once."""
    run, player = start(rules, seed_of(seed)), BlockPlayer("careful", seed=seed)
    while not run.over and run.turn < most:
        chosen = player.choose(run)
        command = chosen.slot, chosen.rotation, chosen.at
        after, placed = place(run, seed_of(seed), *command)
        yield run, command, after, placed
        run = after


@each_rules
def test_what_is_legal_clears_and_scores_is_what_the_rules_say(rules: Rules) -> None:
    cleared_lines: set[int] = set()
    streaks: set[int] = set()
    turns = chain(
        at_random(rules, 1), at_random(rules, 2), *(with_care(rules, seed) for seed in (3, 4, 5))
    )
    for before, command, run, placed in turns:
        position = Position.of(before)
        found = legal_here(position)
        options = {(each.slot, each.rotation, each.at): each for each in legal(before)}
        assert found.keys() == options.keys()
        for option, placement in found.items():
            cleared = kernel.put(position.tables, placement, *position.words)[2]
            assert cleared == len(options[option].lines)
        after = position.after(command[0], found[command])
        assert (*map(int, after.words),) == words_of(run)
        assert (after.streak, after.at_risk) == (run.streak, run.streak_at_risk)
        points, _, _ = kernel.scored(
            len(placed.cells), len(placed.lines), before.streak, int(before.streak_at_risk)
        )
        assert points == placed.total
        assert run.over == (not legal_here(Position.of(run)))
        cleared_lines.add(len(placed.lines))
        streaks.add(run.streak)
    assert {0, 1, 2} <= cleared_lines
    assert {0, 1, 2, 3} <= streaks


@each_rules
def test_what_fits_and_can_be_dealt_is_what_the_rules_say(rules: Rules) -> None:
    chance = random.Random(1)
    tables = tables_of(rules)
    for run, _, _ in played(rules, seed_of(7), random.Random(7), 80):
        # Fuller boards too than a run comes to.
        more = sum(chance.sample(list(rules.board.cells.values()), chance.randrange(40)))
        board = run.board | more
        words = words_of_mask(rules.board.full & ~board, rules.board)
        low, high = np.uint64(words[0]), np.uint64(words[1])
        for block, number in NUMBERS.items():
            assert kernel.fits(tables, number, low, high) == fits(rules, board, block)
        among = weights(rules, board)
        dealable = int(kernel.dealable(tables, low, high))
        assert dealable == sum(1 << number for number, weight in enumerate(among) if weight)
        sums = list(accumulate(among))
        for _ in range(40 if sums[-1] else 0):
            part = chance.random()
            drawn = kernel.drawn(tables, np.uint64(dealable), part)
            assert drawn == bisect_right(sums, part * sums[-1])


def test_draws_come_as_often_as_their_weights() -> None:
    tables, luck = tables_of(RULES[0]), np.array([12345], np.uint64)
    everywhere = np.uint64((1 << len(BLOCKS)) - 1)
    total, number = int(tables.weights.sum()), 60_000
    seen = np.zeros(len(BLOCKS), int)
    for _ in range(number):
        seen[kernel.drawn(tables, everywhere, kernel.part(luck))] += 1
    expected = tables.weights / total * number
    assert ((seen - expected) ** 2 / expected).sum() < 95, "chi-square, 49 degrees: p < 0.0001"


# Weighing


def features(rules: Rules, board: int) -> dict[str, float]:
    """What is weighed, counted cell by cell."""
    kind = rules.board
    empty = {
        (row, column)
        for row in range(kind.size)
        for column in range(kind.size)
        if not board >> (row * kind.stride + column) & 1
    }

    def places(height: int, width: int) -> int:
        return sum(
            all(
                (row + up, column + right) in empty
                for up in range(height)
                for right in range(width)
            )
            for row, column in empty
        )

    def open_sides(row: int, column: int) -> list[bool]:
        steps = ((0, -1), (0, 1), (-1, 0), (1, 0))
        return [(row + up, column + right) in empty for up, right in steps]

    sides = [open_sides(row, column) for row, column in empty]
    return {
        "empty": len(empty),
        "edges": -sum(each.count(False) for each in sides),
        "holes": -sum(not any(each) for each in sides),
        "narrow": -sum((not any(each[:2])) + (not any(each[2:])) for each in sides),
        "bars": -1 / (1 + places(1, 5)) - 1 / (1 + places(5, 1)),
        "squares": -1 / (1 + places(3, 3)),
    }


@BOARD_KEYS
def test_weighing_counts_what_one_would_count(board: str) -> None:
    rules, chance = Rules.of("normal", board), random.Random(3)
    cells = list(rules.board.cells.values())
    for number in range(200):
        covered = sum(chance.sample(cells, chance.randrange(len(cells) + 1)))
        if number == 0:
            covered = 0
        words = words_of_mask(rules.board.full & ~covered, rules.board)
        low, high = np.uint64(words[0]), np.uint64(words[1])
        for name, value in features(rules, covered).items():
            assert kernel.weigh(Weights(**{name: 1.0}), low, high) == pytest.approx(value), name


def test_the_streak_is_worth_less_when_it_is_at_risk_and_no_more_from_the_fifth_on() -> None:
    worth = Weights(streak=2.0, at_risk=0.25)
    assert [kernel.hope(worth, streak, 0) for streak in (0, 1, 5, 6)] == [0, 2, 10, 10]
    assert [kernel.hope(worth, streak, 1) for streak in (1, 5)] == [0.5, 2.5]


# Looking ahead


@each_rules
def test_the_most_points_now_are_what_the_rules_give_most_for(rules: Rules) -> None:
    luck, seed = np.array([99], np.uint64), seed_of(11)

    def points(run: Run, slot: int, rotation: int, at: str) -> int:
        return place(run, seed, slot, rotation, at)[1].total

    for run, _, _ in played(rules, seed, random.Random(11), 40):
        position, options = Position.of(run), legal(run)
        slot, placement = greedy(
            position.tables,
            np.array(position.hand),
            *position.words,
            position.streak,
            position.at_risk,
            luck,
        )
        if not options:
            assert slot == -1
            continue
        chosen = choice_of(position.tables, position.hand[slot], slot, placement)
        assert points(run, chosen.slot, chosen.rotation, chosen.at) == max(
            points(run, each.slot, each.rotation, each.at) for each in options
        )


def crowded(board: str, seed: int) -> Run:
    """A run on a board with so little room that every way to place the hand can be tried."""
    rules, chance = Rules.of("hard", board), random.Random(seed)
    cells = list(rules.board.cells.values())
    covered = sum(chance.sample(cells, len(cells) * 4 // 5))
    for line in rules.board.lines:
        if line.mask & ~covered == 0:
            covered ^= chance.choice([cell for cell in cells if cell & line.mask])
    blocks = [block for block in BLOCKS if len(block.form) <= 3]
    hand = tuple(chance.choice(blocks) for _ in range(HAND))
    return Run(rules, covered, hand, 3, streak=seed % 4, streak_at_risk=seed % 4 == 3)


def every_end(run: Run, seed: bytes) -> Iterator[Run]:
    """Every way to place the whole hand, by the rules."""
    for option in legal(run):
        after, placed = place(run, seed, option.slot, option.rotation, option.at)
        if placed.dealt:
            yield after
        else:
            yield from every_end(after, seed)


@BOARD_KEYS
def test_a_wide_beam_finds_the_best_way_to_place_the_hand(board: str) -> None:
    """Against all orders and placements by the rules, where points alone count."""
    possible = 0
    for seed in range(12):
        run = crowded(board, seed)
        ends = {(end.score, end.board) for end in every_end(run, seed_of(seed))}
        position, beam = Position.of(run), empty_beam(4096)
        set_root(beam, *position.words, position.left, position.streak, position.at_risk)
        hand = np.array(position.hand)
        depth = look_ahead(position.tables, Weights(), hand, beam, 4096)
        assert (depth == HAND) == bool(ends)
        if not ends:
            continue
        possible += 1
        node, plan = best_of(beam, HAND), np.zeros((HAND, 2), np.int64)
        assert beam.numbers[HAND, node, LEFT] == 0
        assert beam.numbers[HAND, node, POINTS] == max(score for score, _ in ends)
        trace(beam, HAND, node, plan)
        for slot, placement in plan.tolist():
            choice = choice_of(position.tables, position.hand[slot], slot, placement)
            run, _ = place(run, seed_of(seed), choice.slot, choice.rotation, choice.at)
        assert run.score == beam.numbers[HAND, node, POINTS]
        assert (*map(int, beam.words[HAND, node]),) == words_of(run)
    assert possible >= 4

"""What holds in every position, checked on random ones."""

import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games.polyomino import ORIENTATIONS
from games.territory.rules import (
    VARIANTS,
    IllegalMoveError,
    Move,
    Position,
    Step,
    Termination,
    Variant,
    move_at,
    outcome,
    parse_move,
)
from games.territory.rules.notation import all_moves

Cell = tuple[int, int]
SYMMETRIES: list[Callable[[int, int, int], Cell]] = [
    lambda last, row, column: (row, column),
    lambda last, row, column: (column, last - row),
    lambda last, row, column: (last - row, last - column),
    lambda last, row, column: (last - column, row),
    lambda last, row, column: (row, last - column),
    lambda last, row, column: (last - row, column),
    lambda last, row, column: (column, row),
    lambda last, row, column: (last - column, last - row),
]

SIXTH = Variant(
    key="sixth",
    title="A sixth row",
    size=10,
    seats=3,
    colours=("blue", "yellow", "red", "green", "orange"),
    first_cells=("a10", "e5", "j10", "j1", "a1"),
    owners=(0, None, 1, 2, None),
    pieces=("1", "V3", "T4"),
    copies=2,
    all_placed_bonus=7,
    single_last_bonus=9,
)
"""Unlike the five in all that a row can say, for the rules never ask which variant it is."""
ROWS = {**VARIANTS, SIXTH.key: SIXTH}

keys = st.sampled_from(list(ROWS))
seeds = st.integers(0, 2**32 - 1)
plies = st.integers(0, 40)


def random_steps(on: Variant, seed: int, limit: int) -> list[tuple[Move, Step]]:
    """Moves chosen at random, and what they led to, until the limit or the end."""
    chance = random.Random(seed)
    position = Position.start(on)
    steps: list[tuple[Move, Step]] = []
    while len(steps) < limit and not position.is_over:
        move = chance.choice(list(position.legal()))
        steps.append((move, position.advance(move)))
        position = steps[-1][1].position
    return steps


def random_position(on: Variant, seed: int, limit: int) -> Position:
    steps = random_steps(on, seed, limit)
    return steps[-1][1].position if steps else Position.start(on)


def named(cell: str) -> Cell:
    """The row and column of a cell, with row 0 at the bottom."""
    return int(cell[1:]) - 1, ord(cell[0]) - ord("a")


def by_definition(position: Position, colour: int) -> tuple[set[Cell], set[frozenset[Cell]]]:
    """The attach points and legal placements by the words of the rules: slow and independent."""
    size = position.variant.size
    stride = size + 1

    def covered(mask: int) -> set[Cell]:
        return {
            (row, column)
            for row in range(size)
            for column in range(size)
            if mask >> (row * stride + column) & 1
        }

    own = covered(position.squares[colour])
    taken = set().union(*(covered(mask) for mask in position.squares))
    start = named(position.variant.first_cells[colour])

    def joins(cells: list[Cell]) -> bool:
        """Whether cells touch the colour's own at a corner and none along an edge."""
        if not own:
            return start in cells
        steps = {(abs(r - y), abs(c - x)) for r, c in cells for y, x in own}
        return (1, 1) in steps and not {(0, 1), (1, 0)} & steps

    everywhere = {(row, column) for row in range(size) for column in range(size)}
    attach = {cell for cell in everywhere - taken if joins([cell])}
    found = set()
    for piece in set(position.left[colour]):
        for shape in ORIENTATIONS[piece]:
            for down, across in everywhere:
                cells = [(row + down, column + across) for row, column in shape]
                if taken.isdisjoint(cells) and everywhere.issuperset(cells) and joins(cells):
                    found.add(frozenset(cells))
    return attach, found


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(["duo", "junior", "sixth"]), seeds, st.integers(0, 40))
def test_the_legal_list_is_that_of_the_definition(key: str, seed: int, limit: int) -> None:
    position = random_position(ROWS[key], seed, limit)
    for colour in range(len(position.variant.colours)):
        legal = [frozenset(map(named, move.cells)) for move in position.legal(colour)]
        attach = position.attach_points(colour)
        if position.is_playing(colour):
            assert (set(map(named, attach)), set(legal)) == by_definition(position, colour)
            assert len(legal) == len(set(legal))
        else:
            assert not legal
            assert not attach


@settings(max_examples=12, deadline=None)
@given(keys, seeds, plies)
def test_legal_if_and_only_if_play_accepts(key: str, seed: int, limit: int) -> None:
    position = random_position(ROWS[key], seed, limit)
    legal = position.legal()
    accepted = set()
    for move in all_moves(position.variant.size).values():
        try:
            position.check(move)
        except IllegalMoveError as error:
            assert error.code != "illegal-move"
            assert move not in legal
        else:
            assert move in legal
            accepted.add(move)
    assert accepted == set(legal)
    assert len(legal) == len(accepted)
    assert bool(legal) == bool(accepted)


@settings(max_examples=40, deadline=None)
@given(keys, seeds, plies, st.sampled_from(range(8)))
def test_turning_and_mirroring_a_position_maps_its_moves(
    key: str, seed: int, limit: int, which: int
) -> None:
    on = ROWS[key]
    last = on.size - 1

    def image(move: Move) -> Move:
        return move_at((SYMMETRIES[which](last, *cell) for cell in move.coordinates), on.size)

    cells = tuple(image(parse_move(cell, on)).text for cell in on.first_cells)
    turned = Position.start(replace(on, key="turned", first_cells=cells))
    position = Position.start(on)
    for move, step in random_steps(on, seed, limit):
        there = turned.advance(image(move))
        assert (there.skipped, there.newly_out) == (step.skipped, step.newly_out)
        position, turned = step.position, there.position
    assert {image(move) for move in position.legal()} == set(turned.legal())
    for colour in range(len(on.colours)):
        assert position.points(colour) == turned.points(colour)


@settings(max_examples=30, deadline=None)
@given(keys, seeds)
def test_a_whole_game(key: str, seed: int) -> None:
    on = ROWS[key]
    colours = len(on.colours)
    before = Position.start(on)
    made: list[list[Move]] = [[] for _ in on.colours]
    for move, step in random_steps(on, seed, 1000):
        after = step.position
        assert before.turn is not None
        made[before.turn].append(move)
        # A colour that is out stays out, and has indeed nothing to place.
        assert before.out <= after.out
        assert after.out - before.out == set(step.newly_out)
        asked_again = replace(after, turn=before.turn, out=frozenset())
        assert not any(asked_again.has_placement(colour) for colour in after.out)
        # The colours between the one that moved and the next are the skipped ones.
        if after.turn is not None:
            between = []
            for offset in count(1):
                colour = (before.turn + offset) % colours
                if colour == after.turn:
                    break
                between.append(colour)
            assert step.skipped == tuple(between)
            assert after.has_placement(after.turn)
            assert set(step.skipped) <= after.out
        # A fold of the trusted moves gives the same.
        assert before.apply(move) == after
        assert before.apply(move, step.newly_out) == after
        before = after
    assert before.is_over
    assert before.out == set(range(colours))
    for colour, moves in enumerate(made):
        bonus = 0
        if len(moves) == len(on.hand):
            bonus = on.single_last_bonus if moves[-1].piece == "1" else on.all_placed_bonus
        assert before.points(colour) == sum(len(move.cells) for move in moves) + bonus
    found = outcome(before)
    assert min(found.ranks) == 1
    for one in range(on.seats):
        for two in range(on.seats):
            better = found.points[one] > found.points[two]
            assert better == (found.ranks[one] < found.ranks[two])


@settings(max_examples=40, deadline=None)
@given(keys, seeds, plies, st.lists(st.integers(0, 3), max_size=3))
def test_games_that_seats_leave_go_on_to_their_end(
    key: str, seed: int, limit: int, leavers: list[int]
) -> None:
    on = ROWS[key]
    position = random_position(on, seed, limit)
    for seat in leavers:
        position = position.without_seat(seat % on.seats).position
    left = [
        seat for seat in dict.fromkeys(each % on.seats for each in leavers) if seat in position.gone
    ]
    chance = random.Random(seed)
    while not position.is_over:
        assert position.turn is not None
        assert position.turn not in position.out
        assert position.seat_to_move is not None
        assert position.seat_to_move not in position.gone
        squares = position.squares
        step = position.advance(chance.choice(list(position.legal())))
        position = step.position
        for colour, owner in enumerate(on.owners):
            if owner in position.gone:
                assert position.squares[colour] == squares[colour]
                assert colour not in {*step.skipped, *step.newly_out}
    assert position.seat_to_move is None
    ranks = outcome(position, [(seat, Termination.RESIGNED) for seat in left]).ranks
    assert [ranks[seat] for seat in left] == list(range(on.seats, on.seats - len(left), -1))
    with pytest.raises(IllegalMoveError) as caught:
        position.check(parse_move("a1", on))
    assert caught.value.code == "game-over"


@given(keys, seeds)
@settings(max_examples=15, deadline=None)
def test_shared_moves_are_dealt_out_in_turn(key: str, seed: int) -> None:
    on = ROWS[key]
    position = Position.start(on)
    shared: dict[int, list[int | None]] = defaultdict(list)
    for _, step in random_steps(on, seed, 1000):
        assert position.turn is not None
        if on.owners[position.turn] is None:
            shared[position.turn].append(position.seat_to_move)
        else:
            assert position.seat_to_move == on.owners[position.turn]
        position = step.position
    for dealt in shared.values():
        assert dealt == [number % on.seats for number in range(len(dealt))]


@given(keys, seeds, plies)
@settings(max_examples=20, deadline=None)
def test_a_position_can_be_set_up_from_its_pieces(key: str, seed: int, limit: int) -> None:
    on = ROWS[key]
    position = Position.start(on)
    placed: list[list[Move]] = [[] for _ in on.colours]
    for move, step in random_steps(on, seed, limit):
        assert position.turn is not None
        placed[position.turn].append(move)
        position = step.position
    again = Position.setup(on, placed, position.turn or 0)
    assert again.out <= position.out
    assert replace(again, out=position.out) == position

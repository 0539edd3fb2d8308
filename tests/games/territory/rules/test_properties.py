"""What holds in every position, checked on random ones."""

import random
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

keys = st.sampled_from(list(VARIANTS))
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


def by_definition(position: Position, colour: int) -> set[frozenset[Cell]]:
    """The legal placements by the words of the rules, cell by cell: slow and independent."""
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
    first = position.variant.first_cells[colour]
    start = (int(first[1:]) - 1, ord(first[0]) - ord("a"))
    found = set()
    for piece in set(position.left[colour]):
        for shape in ORIENTATIONS[piece]:
            for down in range(size):
                for across in range(size):
                    cells = [(row + down, column + across) for row, column in shape]
                    if any(max(cell) >= size or cell in taken for cell in cells):
                        continue
                    steps = [(abs(r - y), abs(c - x)) for r, c in cells for y, x in own]
                    if own and (1, 1) in steps and not {(0, 1), (1, 0)} & set(steps):
                        found.add(frozenset(cells))
                    if not own and start in cells:
                        found.add(frozenset(cells))
    return found


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(["duo", "junior"]), seeds, st.integers(8, 40))
def test_the_legal_list_is_that_of_the_definition(key: str, seed: int, limit: int) -> None:
    position = random_position(VARIANTS[key], seed, limit)
    for colour in range(len(position.variant.colours)):
        size = position.variant.size
        legal = [
            frozenset((size - 1 - row, column) for row, column in move.coordinates)
            for move in position.legal(colour)
        ]
        expected = by_definition(position, colour) if position.is_playing(colour) else set()
        assert len(legal) == len(set(legal))
        assert set(legal) == expected


@settings(max_examples=30, deadline=None)
@given(keys, seeds, plies)
def test_legal_if_and_only_if_play_accepts(key: str, seed: int, limit: int) -> None:
    position = random_position(VARIANTS[key], seed, limit)
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
    on = VARIANTS[key]
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
    on = VARIANTS[key]
    colours = len(on.colours)
    before = Position.start(on)
    for move, step in random_steps(on, seed, 1000):
        after = step.position
        assert before.turn is not None
        # A colour that is out stays out, and has indeed nothing to place.
        assert before.out <= after.out
        assert after.out - before.out == set(step.newly_out)
        assert not any(Position.legal(replace(after, out=frozenset()), c) for c in after.out)
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
    on = VARIANTS[key]
    position = random_position(on, seed, limit)
    for seat in leavers:
        position = position.without_seat(seat % on.seats).position
    chance = random.Random(seed)
    while not position.is_over:
        assert position.turn is not None
        assert position.turn not in position.out
        assert position.seat_to_move is not None
        assert position.seat_to_move not in position.gone
        squares = position.squares
        position = position.play(chance.choice(list(position.legal())))
        for colour, owner in enumerate(on.owners):
            if owner in position.gone:
                assert position.squares[colour] == squares[colour]
    assert position.seat_to_move is None
    with pytest.raises(IllegalMoveError) as caught:
        position.check(parse_move("a1", on))
    assert caught.value.code == "game-over"


@given(keys, seeds)
@settings(max_examples=15, deadline=None)
def test_shared_moves_are_dealt_out_in_turn(key: str, seed: int) -> None:
    on = VARIANTS[key]
    position = Position.start(on)
    shared: list[int | None] = []
    for _, step in random_steps(on, seed, 1000):
        assert position.turn is not None
        if on.owners[position.turn] is None:
            shared.append(position.seat_to_move)
        else:
            assert position.seat_to_move == on.owners[position.turn]
        position = step.position
    assert shared == [number % on.seats for number in range(len(shared))]

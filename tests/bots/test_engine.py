"""The compiled engine against the rules: lists, points, games to their end, and what a search promises."""

import math
import random
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from bots.engine import Player, choose, kernel, search
from bots.engine.levels import LEVEL, Searching
from bots.engine.player import Searcher
from bots.engine.positions import legal_moves, load, mask_of, move_of
from bots.engine.tables import tables_of
from bots.engine.weigh import attach_points, reach
from bots.levels import LEVELS
from games.territory.rules import VARIANTS, Position, Termination, outcome, parse_move, variant

KEYS = sorted(VARIANTS)


def positions(key: str, seed: int, *, leaving: bool = False) -> Iterator[Position]:
    """A game at random, from its start to its end; seats may leave."""
    chance = random.Random(seed)
    position = Position.start(VARIANTS[key])
    yield position
    while not position.is_over:
        if leaving and chance.random() < 0.05:
            position = position.without_seat(chance.randrange(position.variant.seats)).position
        else:
            position = position.play(chance.choice(list(position.legal())))
        yield position


def generator(seed: int) -> kernel.Random:
    return np.array([seed * 2 + 1], np.uint64)


@pytest.mark.parametrize("key", KEYS)
def test_lists_are_those_of_the_rules(key: str) -> None:
    for seed in range(4):
        for position in positions(key, seed, leaving=seed == 3):
            for colour in range(len(position.variant.colours)):
                if position.is_playing(colour):
                    found = legal_moves(position, colour)
                    assert len(found) == len(set(found))
                    assert set(found) == set(position.legal(colour))


@pytest.mark.parametrize("key", KEYS)
def test_pieces_put_down_one_by_one_lead_to_the_same_position(key: str) -> None:
    """Lists that grow with the game hold the same as those of a position that is loaded, and so do points."""
    on = VARIANTS[key]
    tables, chance, luck = tables_of(on), random.Random(5), generator(5)
    position = Position.start(on)
    state = load(position)
    found = np.zeros(4096, np.int32)
    while position.turn is not None:
        colour = position.turn
        if chance.random() < 0.5:
            count = kernel.legal_list(state, colour, found)
            listed = {move_of(int(number), on.size) for number in found[:count]}
            assert len(listed) == count
            assert listed == set(position.legal())
        placement = kernel.pick(state, colour, luck)
        move = move_of(int(placement), on.size)
        assert mask_of(int(placement), on.size) == move.mask
        largest = max(len(other.cells) for other in position.legal())
        assert len(move.cells) == largest
        assert kernel.seat_of(tables, state, colour) == position.seat_to_move
        kernel.put(state, colour, placement)
        position = position.play(move)
        for each in range(len(on.colours)):
            assert kernel.points(tables, state, each) == position.points(each)
            live = list(position.attach_points(each)) if position.is_playing(each) else []
            if live and position.squares[each]:
                assert attach_points(state, each) == len(live)
    for each in range(len(on.colours)):
        assert kernel.pick(state, each, luck) == -1


def test_picks_are_spread_over_all_that_is_legal() -> None:
    position = list(positions("duo", 8))[12]
    largest = max(len(move.cells) for move in position.legal())
    wanted = {move for move in position.legal() if len(move.cells) == largest}
    luck = generator(3)
    assert position.turn is not None
    seen = set()
    for _ in range(60 * len(wanted)):
        placement = kernel.pick(load(position), position.turn, luck)
        seen.add(move_of(int(placement), 14))
    assert seen == wanted


def test_reach_is_what_two_pieces_may_come_to() -> None:
    state = load(Position.start(variant("duo")))
    # From e10: within eight steps, on the board.
    near = sum(abs(4 - column) + abs(9 - row) <= 8 for row in range(14) for column in range(14))
    assert reach(state, 0) == near
    # Cells that are taken, or beside own squares, are not come to.
    state = load(Position.setup(variant("duo"), [[], [parse_move("j5", 14)]]))
    assert reach(state, 0) == near - (abs(4 - 9) + abs(9 - 4) <= 8)


# Levels


@pytest.mark.parametrize("key", KEYS)
def test_every_level_plays_legal_moves_to_the_end(key: str) -> None:
    players = [Player(level, seed=n, simulations=30) for n, level in enumerate(LEVELS)]
    position = Position.start(VARIANTS[key])
    number = 0
    while not position.is_over:
        player = players[number % len(players)]
        position = position.play(player.choose(position))
        assert player.last is not None
        assert 0.0 <= player.last.value <= 1.0
        number += 1
    assert outcome(position).termination is Termination.COMPLETED


@pytest.mark.parametrize("level", LEVELS)
def test_a_seed_makes_choices_reproducible(level: str) -> None:
    some = [position for position in positions("classic-3", 4) if not position.is_over][::12]
    texts = [
        [player.choose(position).text for position in some]
        for player in (Player(level, seed=7, simulations=60) for _ in range(2))
    ]
    assert texts[0] == texts[1]


def test_levels_are_those_that_are_offered() -> None:
    assert tuple(LEVEL) == LEVELS
    with pytest.raises(KeyError):
        Player("grandmaster")


def test_a_level_may_be_asked_once() -> None:
    position = Position.start(variant("junior"))
    assert choose("beginner", position, random.Random(1)) in position.legal()


def test_less_effort_takes_less_time() -> None:
    position = Position.start(variant("duo"))
    began = time.perf_counter()
    assert choose("expert", position, random.Random(1), effort=0.05) in position.legal()
    assert time.perf_counter() - began < 0.9


def test_stronger_levels_win() -> None:
    """A few games are enough to notice a level that has lost its wits; the arena measures how much stronger."""
    for stronger, weaker in zip(LEVELS[1:4], LEVELS, strict=False):
        won = 0.0
        for game in range(10):
            players = [Player(stronger, seed=game), Player(weaker, seed=game)]
            seats = players if game % 2 else players[::-1]
            position = Position.start(variant("duo"))
            while position.seat_to_move is not None:
                position = position.play(seats[position.seat_to_move].choose(position))
            ranks = outcome(position).ranks
            won += ranks[seats.index(players[0])] == 1
        assert won >= 6, (stronger, weaker, won)


# Searching


def searcher(*, seconds: float | None = None, simulations: int | None = None) -> Searcher:
    level = LEVEL["expert"]
    assert isinstance(level, Searching)
    return Searcher(level.style, generator(1), seconds, simulations)


def test_a_search_keeps_to_its_time() -> None:
    mind = searcher(seconds=0.2)
    for position in [p for p in positions("classic", 1) if not p.is_over][:40:13]:
        began = time.perf_counter()
        mind.think(position)
        assert time.perf_counter() - began < 0.2 + 0.25  # a busy machine may take its share


def test_a_search_runs_as_many_simulations_as_it_may() -> None:
    mind = searcher(simulations=200)
    # A search ends early once nothing can change its choice any more.
    assert 150 < mind.think(Position.start(variant("duo")))[2] <= 200


def test_a_search_can_be_stopped() -> None:
    mind = searcher(seconds=60)
    threading.Timer(0.1, mind.stop).start()
    began = time.perf_counter()
    placement, value, simulations = mind.think(Position.start(variant("duo")))
    assert time.perf_counter() - began < 10
    assert simulations > 0
    assert move_of(placement, 14) in Position.start(variant("duo")).legal()
    assert 0 < value < 1


def test_a_search_with_one_choice_does_not_ponder() -> None:
    mind = searcher(seconds=30)
    position = next(p for p in positions("duo", 2) if not p.is_over and len(p.legal()) == 1)
    began = time.perf_counter()
    mind.think(position)
    assert time.perf_counter() - began < 5


def test_what_is_known_is_kept_for_the_next_move() -> None:
    mind = searcher(simulations=3_000)
    position = Position.start(variant("duo"))
    own = move_of(mind.think(position)[0], 14)
    tree = mind._tree
    chosen = int(search.best_child(tree))
    first = int(tree.first[chosen])
    followers = range(first, first + int(tree.children[chosen]))
    answer = max(followers, key=lambda child: int(tree.visits[child]))
    visits, reward = int(tree.visits[answer]), float(tree.reward[answer])
    reply = move_of(int(tree.placement[answer]), 14)
    mind._turn_to(position.play(own).play(reply))
    assert visits > 10
    assert (int(mind._tree.visits[0]), float(mind._tree.reward[0])) == (visits, reward)
    assert mind._tree.used[0] < tree.used[0]
    mind._turn_to(position)
    assert int(mind._tree.visits[0]) == 0
    mind._turn_to(Position.start(variant("junior")))
    assert int(mind._tree.visits[0]) == 0


def test_a_full_tree_is_searched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bots.engine.player.NODES", 500)
    mind = searcher(simulations=3_000)
    placement, _, simulations = mind.think(Position.start(variant("duo")))
    assert move_of(placement, 14) in Position.start(variant("duo")).legal()
    assert simulations > 500
    assert 400 < mind._tree.used[0] <= 500


def test_alone_on_the_board_a_seat_gets_all_there_is() -> None:
    """Endings in which one seat plays on alone, small enough to try everything in another way."""
    checked = 0
    for key, seed in ((key, seed) for key in KEYS for seed in range(12)):
        ending = next((p for p in positions(key, seed) if _is_small_ending(p)), None)
        if ending is None:
            continue
        mind = searcher(simulations=20_000)
        end = ending
        while not end.is_over:
            end = end.play(move_of(mind.think(end)[0], end.variant.size))
        seat = ending.seat_to_move
        assert seat is not None
        assert _points(end, seat) == _most_points(ending, seat)
        checked += 1
    assert checked > 15


def test_the_value_of_an_ending_is_that_of_its_best_end() -> None:
    """What the last seat expects is what the reward is when it has played on as it chose."""
    ending = next(p for seed in range(40) for p in positions("duo", seed) if _is_small_ending(p))
    mind = searcher(simulations=20_000)
    expected = mind.think(ending)[1]
    end = ending
    while not end.is_over:
        end = end.play(move_of(mind.think(end)[0], 14))
    gained = np.zeros(2)
    search.rewards(tables_of(end.variant), load(end), mind.style, gained)
    assert ending.seat_to_move is not None
    assert expected == gained[ending.seat_to_move]


def test_an_ending_that_is_too_large_is_searched_as_any_position() -> None:
    ending = next(
        p
        for seed in range(40)
        for p in positions("duo", seed)
        if _is_small_ending(p) and len(p.legal()) > 3
    )
    placement, value, simulations = searcher(simulations=4).think(ending)
    assert move_of(placement, 14) in ending.legal()
    assert 0 < value < 1
    assert simulations == 4


def _is_small_ending(position: Position) -> bool:
    """Whether only one seat can still place something, and not much."""
    if position.is_over:
        return False
    able = [
        colour
        for colour in range(len(position.variant.colours))
        if position.is_playing(colour) and position.legal(colour)
    ]
    owners = {position.variant.owners[colour] for colour in able}
    if len(owners) > 1 or owners == {None}:
        return False
    return math.prod(len(position.legal(colour)) for colour in able) <= 12


def _points(position: Position, seat: int) -> int:
    owners = position.variant.owners
    return sum(position.points(c) for c in range(len(owners)) if owners[c] == seat)


def _most_points(position: Position, seat: int) -> int:
    if position.is_over:
        return _points(position, seat)
    return max(_most_points(position.play(move), seat) for move in position.legal())

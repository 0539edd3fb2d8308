"""Which game is worth watching: pure."""

import random

from msgspec.structs import replace

from games.territory.featured import Candidate, choose, score, strength_of
from tests.games.territory.support import BLITZ, DAYS, NO_CLOCK, begin, begin_alone


def candidate(game: str, strength: int = 1500, watchers: int = 0, at: str = "1") -> Candidate:
    return Candidate(game, strength, at, watchers)


def test_the_strongest_game_is_chosen_whatever_the_order() -> None:
    games = [
        candidate(f"g{number}", strength) for number, strength in enumerate((1500, 1900, 1700))
    ]
    for seed in range(5):
        random.Random(seed).shuffle(games)
        assert choose(games) == "g1"
    assert choose([]) is None


def test_spectators_lift_a_game_but_not_for_ever() -> None:
    crowd = candidate("crowd", 1500, watchers=10_000)
    assert choose([crowd, candidate("near", 1690)]) == "crowd"
    assert choose([crowd, candidate("far", 1710)]) == "far"
    assert score(candidate("x", 1500, 3)) == 1515


def test_of_equal_games_the_older_one() -> None:
    games = [candidate("b", at="2"), candidate("c", at="1"), candidate("a", at="1")]
    assert choose(games) == "a"


def test_the_strength_is_the_mean_of_people_who_play_by_the_clock() -> None:
    two = begin("duo", BLITZ).started
    assert strength_of(two) == 1500
    ratings = ["1601?", "1800", "1500", "1300"]
    four = begin("classic", BLITZ).started
    seats = [replace(seat, rating=rating) for seat, rating in zip(four.seats, ratings, strict=True)]
    assert strength_of(replace(four, seats=seats)) == 1550
    assert strength_of(begin("duo", DAYS).started) is None
    assert strength_of(begin("duo", NO_CLOCK).started) is None
    assert strength_of(begin_alone("duo", BLITZ).started) is None, "one person on one device"
    assert strength_of(begin_alone("duo", BLITZ, cpus=[1]).started) is None, "nor against a CPU"

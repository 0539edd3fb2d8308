"""What the benchmark of the rules says about its figures is right."""

import gc
import time
from collections import Counter
from collections.abc import Callable
from random import Random

import pytest

from benchmarks.lib.positions import play_out, samples
from benchmarks.lib.rounds import cost_us, exponent, rate, ratio, spread
from games.territory.rules import VARIANTS, Position, parse_move


@pytest.fixture
def takes(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], int]:
    """Work that takes so many seconds of CPU time by a clock of its own, and does two things."""
    spent = [0.0]
    monkeypatch.setattr(time, "process_time", lambda: spent[0])

    def work(seconds: float) -> int:
        spent[0] += seconds
        return 2

    return work


def test_a_cost_is_the_mean_over_the_calls(takes: Callable[[float], int]) -> None:
    assert cost_us(takes, [0.001, 0.002]) == pytest.approx(1_500)
    assert gc.isenabled()


def test_a_rate_counts_what_was_done_in_a_second(takes: Callable[[float], int]) -> None:
    assert rate(takes, [0.004, 0.006]) == pytest.approx(400)


def test_the_spread_is_that_of_the_rounds() -> None:
    assert spread([3.0, 1.0, 2.04]) == "2.0 (1.0–3.0)"
    assert spread([30_000.0], 0) == "30,000 (30,000–30,000)"


def test_a_ratio_is_taken_round_by_round() -> None:
    assert ratio([300, 100], [100, 200]) == "**1.75×** (median of 2 rounds, 0.50–3.00)"


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
def test_the_exponent_of_a_power_is_that_power(power: float) -> None:
    assert exponent((size, 3 * size**power) for size in (10, 20, 50)) == pytest.approx(power)


def test_samples_are_the_same_for_the_same_seed_and_spread_over_the_games() -> None:
    duo = VARIANTS["duo"]
    once = samples(duo, games=4, count=60, seed=1)
    assert once == samples(duo, games=4, count=60, seed=1)
    assert once != samples(duo, games=4, count=60, seed=2)
    assert len(once) == 60
    assert min(Counter(sample.phase for sample in once).values()) > 10
    for sample in once:
        assert sample.choices == len(sample.position.legal())
        assert sample.move == parse_move(sample.text, duo)
        sample.position.check(sample.move)


def test_a_game_is_played_out() -> None:
    chance, position = Random(5), Position.start(VARIANTS["junior"])
    plies = play_out(position.variant, Random(5))
    played = 0
    while not position.is_over:
        mask = chance.choice(position.legal().masks())
        position = position.play(next(m for m in position.legal() if m.mask == mask))
        played += 1
    assert plies == played > 20

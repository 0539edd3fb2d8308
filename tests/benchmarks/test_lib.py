"""The measuring itself: quantiles, frames, profiles and the ratio line say what they should."""

import math

from benchmarks.lib import hotspots, report
from benchmarks.lib.load import Window, quantile_of
from benchmarks.lib.recorded import duo_games, endless_moves
from benchmarks.lib.websocket import frame


def window(*, moves: int, seconds: float = 2.0) -> Window:
    return Window(
        seconds=seconds,
        moves=moves,
        finished=0,
        latencies=[0.001, 0.002, 0.003, 0.004],
        lags=[],
        cpu_us={"web": 90.0, "postgres": 10.0},
        generator_share=0.5,
        stalled=0,
        failures=0,
        first_failure="",
    )


def test_a_quantile_is_a_measured_value_that_so_many_do_not_exceed() -> None:
    values = [float(n) for n in range(1, 101)]
    assert quantile_of(values, 0.5) == 50
    assert quantile_of(values, 0.99) == 99
    assert quantile_of(values, 1.0) == 100
    assert quantile_of([7.0], 0.001) == 7
    assert math.isnan(quantile_of([], 0.5))


def test_a_window_counts_rate_and_cost() -> None:
    measured = window(moves=1000)
    assert measured.rate == 500
    assert measured.server_us == 100
    assert measured.generator_us == 1000  # half a core for two seconds, a thousand moves
    assert measured.latency_ms(0.5) == 2.0


def test_a_client_frame_is_masked_with_zeros() -> None:
    assert frame(b"hi") == b"\x81\x82\0\0\0\0hi"
    assert frame(b"x" * 126)[:4] == b"\x81\xfe\x00\x7e"


def test_a_ratio_is_taken_round_by_round() -> None:
    line = report.ratio_line(
        "a / b",
        [window(moves=300), window(moves=100)],
        [window(moves=100), window(moves=200)],
        "bar",
    )
    assert "**1.75×** (median of 2 rounds, 0.50–3.00); bar" in line
    assert "not measured" in report.ratio_line("a / b", [], [], "bar")


def test_samples_are_grouped_by_the_layer_of_their_leaf() -> None:
    profile = hotspots.read(
        [
            "main (manage.py:3);decide (games/territory/state.py:160);check (games/territory/rules/position.py:140) 6",
            "main (manage.py:3);send (uvicorn/protocols/websockets/websockets_sansio_impl.py:9) 2",
            "",
        ]
    )
    assert profile.samples == 8
    assert profile.groups == [("rules", 0.75), ("uvicorn, websockets", 0.25)]
    assert ("main (manage.py)", 1.0) in profile.total
    assert ("decide (games/territory/state.py)", 0.75) in profile.total


def test_recorded_games_are_whole_and_without_passes() -> None:
    games = duo_games()
    assert len(games) >= 10
    assert all("pass" not in game and len(game) > 10 for game in games)
    assert len(endless_moves()) == sum(map(len, games))

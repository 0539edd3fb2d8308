"""The measuring of spectators: ratios are taken round by round against a game without any."""

from pathlib import Path

import pytest

from benchmarks.lib.load import Window
from benchmarks.spectators import PLIES, Plan, Result, Run


def result(ms: float, web_us: float) -> Result:
    """A window in which a move took so long, and the web processes so many microseconds."""
    moves = Window(
        seconds=10.0,
        moves=1000,
        finished=0,
        latencies=[ms / 1e3] * 10,
        lags=[],
        cpu_us={"web": web_us, "valkey": 50.0},
        generator_share=0.0,
        stalled=0,
        failures=0,
        first_failure="",
    )
    return Result(moves, published=1.0, processes=2)


def test_the_report_has_the_ratio_of_each_round() -> None:
    run = Run(Plan(rounds=2, seconds=10.0), Path())
    run.results = {
        0: [result(1.0, 1000.0), result(2.0, 1000.0)],
        100: [result(2.0, 3000.0), result(3.0, 5000.0)],
    }
    lines = "\n".join(run.lines())
    assert "| 100 | 2.50 (2.00–3.00) |" in lines
    assert "p50 **1.75×** (median of 2 rounds, 1.50–2.00)" in lines
    assert "messages through Redis **1.00×**" in lines
    assert "30.0 µs of CPU for each spectator and move" in lines
    assert "- 0 spectators" not in lines


@pytest.mark.parametrize("seconds", [4.0, 15.0])
def test_the_games_do_not_run_out_nor_exceed_what_a_socket_follows(seconds: float) -> None:
    plan = Plan(rounds=1, seconds=seconds)
    assert seconds / plan.pace / PLIES < plan.games < 60

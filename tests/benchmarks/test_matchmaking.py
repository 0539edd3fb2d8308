"""The matchmaking benchmark: what a match took, and that nobody who was never told goes unnoticed."""

import asyncio

import pytest

from benchmarks.lib import meeting
from benchmarks.lib.meeting import Meter, Wisher
from benchmarks.matchmaking import Plan, Results, lines_of


class Fake(Wisher):
    """Meets the one who wished before, at once."""

    waiting: "list[Fake]" = []

    def __init__(self, meter: Meter, deaf: bool = False) -> None:
        self.meter = meter
        self.deaf = deaf

    def wish(self) -> None:
        self.meter.wishes(self)
        if Fake.waiting:
            other, match = Fake.waiting.pop(), f"m{id(self)}"
            if not self.deaf:
                self.meter.told(other, match)
                self.meter.told(self, match)
        else:
            Fake.waiting.append(self)


def test_a_match_takes_from_the_second_wish_to_the_later_news() -> None:
    meter = Meter()
    meter.wishes("first")
    meter._wished["first"] -= 100.0  # waited for somebody to come
    meter.wishes("second")
    meter.told("second", "match")
    assert (len(meter.latencies), meter.waiting) == (0, 2)
    meter.told("first", "match")
    assert meter.latencies[0] < 50.0
    assert meter.waiting == 0


@pytest.mark.parametrize("pace", [None, 0.0001])
def test_everybody_gets_a_match(pace: float | None) -> None:
    meter = Meter()
    wishers = [Fake(meter) for _ in range(50)]
    if pace is None:
        asyncio.run(meeting.closed_loop(wishers, meter, at_once=6))
    else:
        asyncio.run(meeting.paced(wishers, meter, pace=pace))
    assert len(meter.latencies) == 25
    assert not meter.failures


def test_who_was_never_told_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meeting, "PATIENCE_SECONDS", 0.05)
    meter = Meter()
    asyncio.run(meeting.closed_loop([Fake(meter), Fake(meter, deaf=True)], meter, at_once=2))
    assert meter.failures == ["2 players were never told"]


def test_the_words_are_what_was_measured() -> None:
    plan = Plan(1, 4, 2, 4, 0.02)
    results = Results()
    for rows, took in ((results.closed, 0.002), (results.paced, 0.001)):
        for name, times in (("Kado, 2 web processes", 1), ("Colyseus 0.18, joinOrCreate", 4)):
            meter = Meter(began=10.0, ended=10.0 + took * times)
            meter.latencies.extend([took * times] * 2)
            rows[name] = [meter]
    text = "\n".join(lines_of(plan, results))
    assert "matches/s: **4.00×**" in text
    assert "p50 at a pace: **0.25×**" in text

"""Estimates of waits: rightly counted censoring, the past of a ticket, and arrivals where nothing else is known."""

from math import log
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchmaking.estimates import (
    ARRIVALS_OVER,
    FEWEST,
    FORGOTTEN,
    KEPT,
    NEAREST,
    Ended,
    Estimate,
    estimate,
    usual_wait,
)
from matchmaking.pools import Pools

NOW = 10_000_000


def told(
    ended: list[Ended], waited: int = 0, waiting: list[tuple[float, int]] | None = None, **rest: int
) -> Estimate:
    options = {"mu": 1500.0, "needed": 1, "span": 100.0} | rest
    return estimate(waited=waited, now=NOW, ended=ended, waiting=waiting or [], **options)  # type: ignore[arg-type]


def matched(*waits: int, mu: float = 1500.0, at: int = NOW - 1_000) -> list[Ended]:
    return [Ended(mu, wait, True, at) for wait in waits]


def gave_up(*waits: int) -> list[Ended]:
    return [Ended(1500.0, wait, False, NOW - 1_000) for wait in waits]


TEN = list(range(1_000, 11_000, 1_000))


def test_without_anybody_who_gave_up_it_is_the_plain_quantile() -> None:
    assert told(matched(*TEN)) == Estimate("waits", 10, 5_000, 9_000)
    assert usual_wait(matched(*TEN)) == Estimate("waits", 10, 5_000, 9_000)


def test_kaplan_and_meier_by_hand() -> None:
    """Of 10, two gave up at 2,500: then eight are at risk of ten, and each match counts for more."""
    ended = matched(1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000) + gave_up(2_500, 2_500)
    # 0.9, 0.8, then of six: 0.8 * 5/6, 4/6, 3/6 = 0.4
    assert told(ended).likely == 5_000
    assert told(ended).late == 8_000
    assert told(matched(*TEN[:8])).likely == 4_000, "who gave up would have waited longer"


def test_those_who_still_wait_count() -> None:
    waiting = [(1500.0, 60_000)] * 10
    assert told(matched(*TEN), waiting=waiting).late is None
    assert told(matched(*TEN), waiting=[(3_000.0, 60_000)] * 10).late == 9_000, "far away"


def test_it_is_for_those_who_have_waited_as_long() -> None:
    assert told(matched(*TEN), waited=6_000) == Estimate("waits", 10, 8_000, 10_000)


def test_the_nearest_in_rating_count() -> None:
    near, far = matched(*[1_000] * NEAREST), matched(*[90_000] * NEAREST, mu=1900.0)
    assert told(far + near).late == 1_000
    assert told(far + near, mu=1900).likely == 90_000


def test_what_is_long_ago_says_nothing() -> None:
    assert told(matched(*TEN, at=NOW - FORGOTTEN)) == Estimate("nothing", 0)


def test_arrivals_where_few_were_matched() -> None:
    six = [Ended(1500.0, 5_000, n < FEWEST - 3, NOW - 60_000 * n) for n in range(6)]
    rate = 6 / ARRIVALS_OVER
    said = told(six, waited=7_000)
    assert (said.basis, said.tickets) == ("arrivals", 6)
    assert said.likely == 7_000 + round(log(2) / rate)
    assert said.late == 7_000 + round(log(10) / rate)
    three = told(six, needed=3)
    # the quantiles of the gamma distribution of shape 3, from tables: 2.674 and 5.322
    assert three.likely == pytest.approx(2.674 / rate, rel=0.01)
    assert three.late == pytest.approx(5.322 / rate, rel=0.01)
    assert told([Ended(1900.0, 0, False, NOW - 1_000)]).basis == "nothing", "out of reach"


def test_a_full_memory_counts_arrivals_since_it_begins() -> None:
    ended = [Ended(1500.0, 0, False, NOW - 100 * n) for n in range(KEPT)]
    said = told(ended)
    assert said.basis == "arrivals"
    assert said.likely == pytest.approx(100 * log(2), rel=0.02)


@given(
    st.lists(st.tuples(st.integers(0, 90_000), st.booleans()), max_size=60),
    st.integers(0, 60_000),
)
def test_it_is_never_in_the_past_and_late_never_before_likely(
    ends: list[tuple[int, bool]], waited: int
) -> None:
    said = told([Ended(1500.0, wait, is_matched, NOW - 5) for wait, is_matched in ends], waited)
    if said.likely is not None:
        assert said.likely >= waited
        assert said.late is None or said.late >= said.likely


def test_impatience_does_not_bend_it() -> None:
    """Waits are exponential; half of the people lose patience. The median of the matched alone would be far off."""
    dice = Random(1)
    ends = [
        (dice.expovariate(1 / 30_000), dice.expovariate(1 / 30_000)) for _ in range(NEAREST * 20)
    ]
    ended = [
        Ended(1500.0, round(min(wait, patience)), wait <= patience, NOW - 1)
        for wait, patience in ends
    ]
    said = usual_wait(ended)
    assert said.likely == pytest.approx(30_000 * log(2), rel=0.1)
    plain = sorted(each.wait for each in ended if each.matched)
    assert plain[len(plain) // 2] < 0.6 * 30_000 * log(2)


def test_the_scripts_keep_as_many_ends(store: Pools) -> None:
    assert f"0, {KEPT - 1})" in str(store._scripts["leave"].script)

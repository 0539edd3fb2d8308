"""Spans of seasons, to the millisecond of UTC; and titles."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.season_rules import InvalidTitlesError, Title, span_at, titles_of, usual_titles
from common.clock import from_datetime


def _at(*moment: int, zone: Any = UTC) -> int:
    return from_datetime(datetime(*moment, tzinfo=zone))  # type: ignore[arg-type, misc]


@pytest.mark.parametrize(
    ("period", "at", "name", "begin", "end"),
    [
        ("month", (2028, 2, 29, 23, 59, 59), "2028-02", (2028, 2, 1), (2028, 3, 1)),
        ("month", (2027, 2, 28), "2027-02", (2027, 2, 1), (2027, 3, 1)),
        ("month", (2026, 12, 31), "2026-12", (2026, 12, 1), (2027, 1, 1)),
        ("quarter", (2028, 2, 29), "2028 Q1", (2028, 1, 1), (2028, 4, 1)),
        ("quarter", (2026, 11, 30), "2026 Q4", (2026, 10, 1), (2027, 1, 1)),
        ("year", (2028, 2, 29), "2028", (2028, 1, 1), (2029, 1, 1)),
    ],
)
def test_the_span_of_an_instant(period: str, at: Any, name: str, begin: Any, end: Any) -> None:
    span = span_at(period, _at(*at))
    assert (span.name, span.starts_at, span.ends_at) == (name, _at(*begin), _at(*end))


def test_a_leap_month_has_29_days() -> None:
    day = timedelta(days=1) // timedelta(milliseconds=1)
    lengths = {year: span_at("month", _at(year, 2, 10)) for year in (2027, 2028)}
    assert [(each.ends_at - each.starts_at) / day for each in lengths.values()] == [28, 29]


@pytest.mark.parametrize("hours", [14, -12])
def test_what_the_clock_on_the_wall_says_does_not_matter(hours: int) -> None:
    """It is the new year in Kiritimati, and still the old one; and the other way on Baker Island."""
    wall = timezone(timedelta(hours=hours))
    assert span_at("year", _at(2027, 1, 1, 0, 0, zone=timezone(timedelta(hours=14)))).name == "2026"
    assert span_at("year", _at(2026, 12, 31, 12, 0, zone=timezone(timedelta(hours=-12)))).name == (
        "2027"
    )
    edge = _at(2027, 1, 1)
    there = datetime.fromtimestamp(edge / 1000, wall)
    assert from_datetime(there) == edge
    assert span_at("month", from_datetime(there)).starts_at == edge
    assert span_at("month", from_datetime(there) - 1).ends_at == edge


@given(st.sampled_from(["month", "quarter", "year"]), st.integers(0, 4_000_000_000_000))
def test_spans_join_without_gap_or_overlap(period: str, at: int) -> None:
    span, later = span_at(period, at), span_at(period, at, ahead=1)
    assert span.starts_at <= at < span.ends_at == later.starts_at
    assert span_at(period, span.ends_at) == later
    assert span_at(period, span.starts_at) == span_at(period, span.ends_at - 1) == span
    assert span.name != later.name


def test_the_usual_titles_are_titles() -> None:
    assert titles_of(usual_titles()) == [
        Title("Champion", rank=1),
        Title("Top 10", rank=10),
        Title("Top 1 %", percent=1),
    ]


@pytest.mark.parametrize(
    "kept",
    [
        {},
        [1],
        [{"title": "x"}],
        [{"title": "", "rank": 1}],
        [{"title": "x" * 31, "rank": 1}],
        [{"title": 5, "rank": 1}],
        [{"title": "x", "rank": 0}],
        [{"title": "x", "rank": True}],
        [{"title": "x", "rank": 1.5}],
        [{"title": "x", "percent": 0}],
        [{"title": "x", "percent": 101}],
        [{"title": "x", "percent": "1"}],
        [{"title": "x", "rank": 1, "percent": 1}],
        [{"title": "x", "rank": 1}] * 11,
    ],
)
def test_what_is_no_list_of_titles(kept: Any) -> None:
    with pytest.raises(InvalidTitlesError):
        titles_of(kept)

"""The days of the daily puzzle are those of UTC, wherever somebody plays."""

import hashlib
import hmac
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.puzzle.rules import (
    DAILY,
    DateError,
    closes_at,
    daily_seed,
    date_at,
    opens_at,
    parse_date,
    start,
)

LEAP_DAY = date(2028, 2, 29)


def instant(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def test_a_day_lasts_from_midnight_to_midnight_of_utc() -> None:
    assert opens_at(LEAP_DAY) == instant(datetime(2028, 2, 29, tzinfo=UTC))
    assert closes_at(LEAP_DAY) == instant(datetime(2028, 3, 1, tzinfo=UTC))
    assert date_at(opens_at(LEAP_DAY) - 1) == date(2028, 2, 28)
    assert date_at(opens_at(LEAP_DAY)) == date_at(closes_at(LEAP_DAY) - 1) == LEAP_DAY
    assert date_at(closes_at(LEAP_DAY)) == date(2028, 3, 1)
    assert closes_at(date(2027, 2, 28)) == opens_at(date(2027, 3, 1))


@pytest.mark.parametrize(
    ("hours", "local", "day"),
    [
        (
            14,
            "2029-01-01T13:59:59.999",
            "2028-12-31",
        ),  # Kiritimati, where it is the next year already
        (14, "2029-01-01T14:00:00.000", "2029-01-01"),
        (-12, "2028-12-31T11:59:59.999", "2028-12-31"),  # Baker Island, which comes last
        (-12, "2028-12-31T12:00:00.000", "2029-01-01"),
    ],
)
def test_the_same_day_everywhere(hours: int, local: str, day: str) -> None:
    moment = datetime.fromisoformat(local).replace(tzinfo=timezone(timedelta(hours=hours)))
    assert date_at(instant(moment)) == parse_date(day)


@given(st.integers(instant(datetime(1, 1, 1, tzinfo=UTC)), 253_402_300_799_999))
def test_every_instant_is_in_its_day_and_in_no_other(at: int) -> None:
    day = date_at(at)
    assert opens_at(day) <= at < closes_at(day)
    assert day == (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)).date()


@given(st.dates(), st.dates(), st.binary(min_size=1, max_size=40))
def test_a_seed_is_of_one_day_and_one_secret(one: date, other: date, secret: bytes) -> None:
    assert (daily_seed(secret, one) == daily_seed(secret, other)) == (one == other)
    assert daily_seed(secret, one) != daily_seed(secret + b"x", one)
    assert len(daily_seed(secret, one)) == 32


def test_the_seed_as_it_is_written_down() -> None:
    """By the definition of HMAC in RFC 2104, with its padding by hand."""
    secret, message = b"a server's secret", b"kado-daily-1:2028-02-29"
    padded = secret.ljust(64, b"\0")
    inner = hashlib.sha256(bytes(each ^ 0x36 for each in padded) + message).digest()
    outer = hashlib.sha256(bytes(each ^ 0x5C for each in padded) + inner).digest()
    assert hmac.compare_digest(daily_seed(secret, LEAP_DAY), outer)


def test_everyone_gets_the_same_blocks() -> None:
    seed = daily_seed(b"secret", LEAP_DAY)
    assert start(DAILY, seed) == start(DAILY, seed)
    assert start(DAILY, seed).hand != start(DAILY, daily_seed(b"secret", date(2028, 3, 1))).hand


@pytest.mark.parametrize(
    "text",
    [
        "2027-02-29",
        "2026-13-01",
        "20261130",
        "2026-W48-1",
        "2026-11-30T00:00",
        "",
        "30.11.2026",
        "٢٠٢٦-١١-٣٠",
    ],
)
def test_what_is_no_day(text: str) -> None:
    with pytest.raises(DateError) as caught:
        parse_date(text)
    assert caught.value.code == "bad-date"


@given(st.dates())
def test_a_day_reads_as_it_is_written(day: date) -> None:
    assert parse_date(day.isoformat()) == day

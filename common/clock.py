"""Time is an integer: milliseconds since the Unix epoch. Pure code is given it; the edges ask `now_ms`."""

import time
from datetime import UTC, datetime, timedelta
from functools import lru_cache

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def now_ms() -> int:
    """The current time in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def to_datetime(ms: int) -> datetime:
    """`ms` since the epoch as an aware UTC datetime, exact to the millisecond."""
    return EPOCH + timedelta(milliseconds=ms)


def from_datetime(moment: datetime) -> int:
    """The milliseconds since the epoch of an aware datetime, rounded down."""
    return (moment - EPOCH) // timedelta(milliseconds=1)


def rfc3339(ms: int) -> str:
    """`ms` as the wire writes instants: `2026-11-30T06:43:39.123Z`."""
    seconds, rest = divmod(ms, 1000)
    return f"{_second(seconds)}.{rest:03d}Z"


@lru_cache(maxsize=1024)  # instants come in clusters: now, and the deadlines of games just begun
def _second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))

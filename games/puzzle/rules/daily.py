"""The daily puzzle: one for each calendar date of UTC, with a seed that only a secret can tell beforehand.

An instant is in whole milliseconds since the epoch.

>>> day = parse_date("2028-02-29")
>>> daily_seed(b"a server's secret", day).hex()[:16]
'b8da3148107f2f60'
>>> date_at(opens_at(day)) == day == date_at(closes_at(day) - 1)
True
>>> date_at(closes_at(day)).isoformat()
'2028-03-01'
"""

import hashlib
import hmac
from datetime import date
from typing import Final

from .errors import DateError

DAY_MS: Final = 24 * 60 * 60 * 1000
_EPOCH: Final = date(1970, 1, 1).toordinal()


def daily_seed(secret: bytes, day: date) -> bytes:
    """The seed of a day: HMAC-SHA256 under the secret, of ``kado-daily-1:`` and the date."""
    return hmac.digest(secret, f"kado-daily-1:{day.isoformat()}".encode(), hashlib.sha256)


def opens_at(day: date) -> int:
    """The first instant of the day: 00:00:00 UTC."""
    return (day.toordinal() - _EPOCH) * DAY_MS


def closes_at(day: date) -> int:
    """The first instant after the day, at which nothing of it is accepted any more."""
    return opens_at(day) + DAY_MS


def date_at(instant: int) -> date:
    """The date of UTC at an instant."""
    return date.fromordinal(instant // DAY_MS + _EPOCH)


def parse_date(text: str) -> date:
    """The day that a text such as ``2026-11-30`` names; raises ``DateError``."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or day.isoformat() != text:  # a date can be written in other ways too
        raise DateError(f"{text!r:.40} is no day of the calendar, written like 2026-11-30.")
    return day

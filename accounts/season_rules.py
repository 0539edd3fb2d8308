"""The rules of seasons: which span of UTC one is, what it is called, and who gets a title. PURE: no Django."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from common.clock import from_datetime, to_datetime

MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}
"""How many months each period has. All begin with the first millisecond of a month of UTC."""

GRACE_MS: Final = 60_000
"""A season is closed this long after its end: by then commands that were decided before it are committed."""

TITLE_LENGTH: Final = 30
MOST_TITLES: Final = 10
MOST_KEYS: Final = 50


@dataclass(frozen=True, slots=True)
class Span:
    """[starts_at, ends_at), in milliseconds since the epoch, and its name."""

    name: str
    starts_at: int
    ends_at: int


@dataclass(frozen=True, slots=True)
class Title:
    """For everybody up to a `rank`, or in the best `percent` of the table: exactly one of them is given.

    Of several titles a player gets the first that fits. A percent is rounded down: 1 % of 99 lines is nobody.
    """

    title: str
    rank: int | None = None
    percent: float | None = None


class InvalidTitlesError(ValueError):
    """A list of titles that means nothing; the text says why."""


def usual_titles() -> list[dict[str, Any]]:
    """The titles that a season has unless somebody says otherwise."""
    return [
        {"title": "Champion", "rank": 1},
        {"title": "Top 10", "rank": 10},
        {"title": "Top 1 %", "percent": 1},
    ]


def titles_of(kept: Any) -> list[Title]:
    """The titles as they are kept, in JSON; raises `InvalidTitlesError`."""
    if not isinstance(kept, list) or len(kept) > MOST_TITLES:
        raise InvalidTitlesError(f"Titles are a list of {MOST_TITLES} at most.")
    return [_title(each) for each in kept]


def _title(kept: Any) -> Title:
    if not isinstance(kept, dict) or kept.keys() not in ({"title", "rank"}, {"title", "percent"}):
        raise InvalidTitlesError('A title is {"title", "rank"} or {"title", "percent"}.')
    title = kept["title"]
    if not isinstance(title, str) or not 0 < len(title.strip()) <= TITLE_LENGTH:
        raise InvalidTitlesError(f"A title is a text of {TITLE_LENGTH} characters at most.")
    rank, percent = kept.get("rank", 1), kept.get("percent", 1)
    if type(rank) is not int or not 1 <= rank <= 1_000_000:
        raise InvalidTitlesError("A title's rank is a whole number from 1.")
    if type(percent) not in (int, float) or not 0 < percent <= 100:
        raise InvalidTitlesError("A title's percent is above 0, and 100 at most.")
    return Title(**kept)


def span_at(period: str, at: int, *, ahead: int = 0) -> Span:
    """The period that the instant `at` (milliseconds) lies in, or the one that comes `ahead` periods later."""
    months, then = MONTHS[period], to_datetime(at)
    first = (then.year * 12 + then.month - 1) // months * months + ahead * months
    return Span(_name(period, first), _begin(first), _begin(first + months))


def _begin(month: int) -> int:
    return from_datetime(datetime(month // 12, month % 12 + 1, 1, tzinfo=UTC))


def _name(period: str, month: int) -> str:
    year, number = divmod(month, 12)
    return {
        "month": f"{year}-{number + 1:02d}",
        "quarter": f"{year} Q{number // 3 + 1}",
        "year": str(year),
    }[period]

"""docs/people.md: its figures are the code's."""

import pytest

from accounts.presence import GRACE_MS, LEASE_MS
from accounts.services import friends, inbox
from config.attendance import REPEAT_SECONDS
from tests.docs.pages import page

PAGE = page("docs/people.md")
DAY_MS = 24 * 3_600_000
HOURS = friends.NOTES.interval_ms // 3_600_000


@pytest.mark.parametrize(
    "sentence",
    [
        f"may have {friends.MOST_FRIENDS} friends, {friends.MOST_SENT} sent",
        f"and {friends.MOST_RECEIVED:,} received requests",
        f"block {friends.MOST_BLOCKS:,} players",
        f"and for {GRACE_MS // 1_000} seconds after the last one is gone",
        f"for up to {(LEASE_MS + GRACE_MS) // 1_000 + REPEAT_SECONDS:.0f} seconds more",
        f"deleted after {inbox.READ_KEPT_MS // DAY_MS} days, others after {inbox.KEPT_MS // DAY_MS} days",
        f"only every { ({6: 'six'}[HOURS]) } hours",
    ],
)
def test_the_figures(sentence: str) -> None:
    assert sentence in PAGE.prose


def test_requests_are_told_so_often() -> None:
    assert friends.NOTES.burst == 3
    assert "after three they are told" in PAGE.prose

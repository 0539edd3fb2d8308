"""The admin's view of people and standing. What services keep consistent (ratings, inbox, ledger) is read only."""

from accounts.admin import (
    cards,
    decisions,
    friends,
    jobs,
    people,
    ratings,
    reports,
    sanctions,
    scores,
    seasons,
)

__all__ = [
    "cards",
    "decisions",
    "friends",
    "jobs",
    "people",
    "ratings",
    "reports",
    "sanctions",
    "scores",
    "seasons",
]

"""The admin's view of people and standing. What services keep consistent (ratings, inbox, ledger) is read only."""

from accounts.admin import cards, people, ratings, reports, sanctions, scores

__all__ = ["cards", "people", "ratings", "reports", "sanctions", "scores"]

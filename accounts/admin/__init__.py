"""The admin's view of people and standing. What services keep consistent (ratings, inbox, ledger) is read only."""

from accounts.admin import cards, friends, people, ratings, reports, sanctions, scores

__all__ = ["cards", "friends", "people", "ratings", "reports", "sanctions", "scores"]

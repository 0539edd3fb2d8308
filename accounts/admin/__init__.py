"""The admin's view of people and standing. What services keep consistent (ratings, inbox, ledger) is read only."""

from accounts.admin import people, ratings, scores

__all__ = ["people", "ratings", "scores"]

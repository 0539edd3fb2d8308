"""The admin's view of people and standing. What services keep consistent (ratings, inbox, ledger) is read only."""

from accounts.admin import decisions, people, ratings, scores

__all__ = ["decisions", "people", "ratings", "scores"]

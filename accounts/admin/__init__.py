"""The admin's view of people and standing. What services keep consistent (ratings, inbox, ledger) is read only."""

from accounts.admin import friends, people, ratings, scores

__all__ = ["friends", "people", "ratings", "scores"]

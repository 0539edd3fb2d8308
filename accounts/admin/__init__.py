"""The admin's view of people and standing. What services keep consistent (ratings, inbox, ledger) is read only."""

from accounts.admin import decisions, jobs, people, ratings, scores, seasons

__all__ = ["decisions", "jobs", "people", "ratings", "scores", "seasons"]

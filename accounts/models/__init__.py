"""The tables of people and standing. Constraints here are the promises; services only word the refusals."""

from accounts.models.credentials import AccessToken, IdempotencyRecord
from accounts.models.friends import Block, Friendship
from accounts.models.inbox import InboxHead, InboxItem
from accounts.models.moderation import Report, Sanction
from accounts.models.people import NameChange, Player, PlayerManager, VerifiedEmail
from accounts.models.places import Place
from accounts.models.ratings import LedgerRow, RatingRow
from accounts.models.scores import LeaderboardBucket, ScoreBoard, ScoreDecision, ScoreEntry

__all__ = [
    "AccessToken",
    "Block",
    "Friendship",
    "IdempotencyRecord",
    "InboxHead",
    "InboxItem",
    "LeaderboardBucket",
    "LedgerRow",
    "NameChange",
    "Place",
    "Player",
    "PlayerManager",
    "RatingRow",
    "Report",
    "Sanction",
    "ScoreBoard",
    "ScoreDecision",
    "ScoreEntry",
    "VerifiedEmail",
]

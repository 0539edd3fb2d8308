"""The tables of people and standing. Constraints here are the promises; services only word the refusals."""

from accounts.models.credentials import AccessToken, IdempotencyRecord
from accounts.models.friends import Block, Friendship
from accounts.models.housekeeping import Erasure, JobRun, ReservedName
from accounts.models.inbox import InboxHead, InboxItem
from accounts.models.moderation import Report, Sanction
from accounts.models.people import NameChange, Player, PlayerManager, VerifiedEmail
from accounts.models.places import Place
from accounts.models.ratings import LedgerRow, RatingRow
from accounts.models.scores import LeaderboardBucket, ScoreBoard, ScoreEntry
from accounts.models.seasons import Season, SeasonLine, SeasonPlan, SeasonTable
from accounts.models.standing import Exclusion, StandingDecision, StandingJob

__all__ = [
    "AccessToken",
    "Block",
    "Erasure",
    "Exclusion",
    "Friendship",
    "IdempotencyRecord",
    "InboxHead",
    "InboxItem",
    "JobRun",
    "LeaderboardBucket",
    "LedgerRow",
    "NameChange",
    "Place",
    "Player",
    "PlayerManager",
    "RatingRow",
    "Report",
    "ReservedName",
    "Sanction",
    "ScoreBoard",
    "ScoreEntry",
    "Season",
    "SeasonLine",
    "SeasonPlan",
    "SeasonTable",
    "StandingDecision",
    "StandingJob",
    "VerifiedEmail",
]

"""What is known about people and standing. Other apps read accounts through this package only."""

from accounts.rules import Rating, RatingChange, Scope
from accounts.selectors.callers import (
    Caller,
    authenticate,
    caller_of_session,
    live_credentials,
    live_token_ids,
    tokens_of,
)
from accounts.selectors.inbox import (
    InboxMarks,
    InboxSource,
    inbox_after,
    inbox_before,
    inbox_marks,
    inbox_stream,
    inbox_version,
)
from accounts.selectors.leaderboards import (
    LeaderboardEntry,
    LeaderboardPage,
    Score,
    leaderboard_around,
    leaderboard_page,
    leaderboard_rank,
)
from accounts.selectors.people import (
    PlayerCard,
    latest_erasure,
    name_history,
    player_named,
    players_by_id,
)
from accounts.selectors.standing import (
    calibrated_ratings,
    offer_calibrated,
    profile_ratings,
    rating_history,
    ratings_of,
)

__all__ = [
    "Caller",
    "InboxMarks",
    "InboxSource",
    "LeaderboardEntry",
    "LeaderboardPage",
    "PlayerCard",
    "Rating",
    "RatingChange",
    "Scope",
    "Score",
    "authenticate",
    "calibrated_ratings",
    "caller_of_session",
    "inbox_after",
    "inbox_before",
    "inbox_marks",
    "inbox_stream",
    "inbox_version",
    "latest_erasure",
    "leaderboard_around",
    "leaderboard_page",
    "leaderboard_rank",
    "live_credentials",
    "live_token_ids",
    "name_history",
    "offer_calibrated",
    "player_named",
    "players_by_id",
    "profile_ratings",
    "rating_history",
    "ratings_of",
    "tokens_of",
]

"""Bodies: ratings and leaderboards."""

from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field
from rest_framework import serializers

from accounts.models import LedgerRow
from accounts.plot import LOOKS
from accounts.rules import Rating
from accounts.selectors import LeaderboardEntry, LeaderboardPage, Score
from accounts.selectors.friends_board import CirclePage
from accounts.serializers.people import PlayerSerializer, player_body
from common.clock import rfc3339
from common.rest import Body, WholeNumber


class HistoryQuery(Body):
    before = WholeNumber(min_value=1, max_value=2**31 - 1, default=None, allow_null=True)
    limit = WholeNumber(min_value=1, max_value=100, default=50)


class PictureQuery(Body):
    theme = serializers.ChoiceField(list(LOOKS), default="light", help_text="As of `board.svg`.")
    limit = WholeNumber(
        min_value=1, max_value=1_000, default=200, help_text="So many of the latest changes."
    )


class RatingChangeSerializer(serializers.Serializer[Any]):
    """One game's effect; `sequence` counts the player's rated games under this key from 1.

    `low` and `high` are where the rating lies after it with 95 % confidence: mu less, and plus, 1.96 sigma. `annulled`:
    the game does not count any more, and the rating stayed as it was.
    """

    sequence = serializers.IntegerField()
    game = serializers.CharField()
    at = serializers.DateTimeField()
    rank = serializers.IntegerField()
    before = serializers.CharField()
    after = serializers.CharField()
    mu_before = serializers.FloatField()
    sigma_before = serializers.FloatField()
    mu_after = serializers.FloatField()
    sigma_after = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()
    annulled = serializers.BooleanField()


class HistorySerializer(serializers.Serializer[Any]):
    """The newest changes first; `next` is the address of the older ones, or null."""

    key = serializers.CharField()
    changes = RatingChangeSerializer(many=True)
    next = serializers.CharField(allow_null=True)


class LeaderboardQuery(Body):
    cursor = serializers.CharField(required=False, default=None, max_length=400)
    limit = WholeNumber(min_value=1, max_value=100, default=50)
    players = serializers.ChoiceField(["people", "bots"], default="people")


class FriendsBoardQuery(Body):
    cursor = serializers.CharField(required=False, default=None, max_length=400)
    limit = WholeNumber(min_value=1, max_value=100, default=50)


class AroundQuery(Body):
    limit = WholeNumber(min_value=1, max_value=100, default=9)


class RatingEntrySerializer(serializers.Serializer[Any]):
    """Order: mu down, sigma up, older account first. Equal shown ratings share the `rank`: 1, 2, 2, 4."""

    rank = serializers.IntegerField()
    player = PlayerSerializer()
    rating = serializers.CharField()
    mu = serializers.FloatField()
    sigma = serializers.FloatField()
    games = serializers.IntegerField()


class ScoreEntrySerializer(serializers.Serializer[Any]):
    """Order: the score down, then fewer `placements`, then the earlier finish. Equal in all three share the `rank`."""

    rank = serializers.IntegerField()
    player = PlayerSerializer()
    score = serializers.IntegerField()
    placements = serializers.IntegerField()
    finished_at = serializers.DateTimeField()


@extend_schema_field(
    PolymorphicProxySerializer(
        "LeaderboardEntry",
        [RatingEntrySerializer, ScoreEntrySerializer],
        resource_type_field_name=None,
        many=True,
    )
)
class EntriesField(serializers.ListField):
    """Of ratings or of scores, as the key says."""


class LeaderboardSerializer(serializers.Serializer[Any]):
    """`total` lines are on the board; `next` is the address of the page after this one, or null.

    `frozen_at` is when the board became final, or null.
    """

    key = serializers.CharField()
    total = serializers.IntegerField()
    frozen_at = serializers.DateTimeField(allow_null=True)
    entries = EntriesField()
    next = serializers.CharField(allow_null=True)


class CircleRatingSerializer(RatingEntrySerializer):
    """`rank` is that among friends, `board_rank` that on the whole board."""

    board_rank = serializers.IntegerField()


class CircleScoreSerializer(ScoreEntrySerializer):
    """The same of scores."""

    board_rank = serializers.IntegerField()


@extend_schema_field(
    PolymorphicProxySerializer(
        "FriendsLeaderboardEntry",
        [CircleRatingSerializer, CircleScoreSerializer],
        resource_type_field_name=None,
        many=True,
    )
)
class CircleEntriesField(serializers.ListField):
    """Of ratings or of scores, as the key says."""


class FriendsLeaderboardSerializer(serializers.Serializer[Any]):
    """`total` lines are those of you and your friends, `board_total` those of the whole board."""

    key = serializers.CharField()
    total = serializers.IntegerField()
    board_total = serializers.IntegerField()
    frozen_at = serializers.DateTimeField(allow_null=True)
    entries = CircleEntriesField()
    next = serializers.CharField(allow_null=True)


def change_body(row: LedgerRow) -> dict[str, Any]:
    change = row.change
    return {
        "sequence": row.sequence,
        "game": row.game_id,
        "at": rfc3339(row.at),
        "rank": change.rank,
        "before": change.before,
        "after": change.after,
        "mu_before": change.mu_before,
        "sigma_before": change.sigma_before,
        "mu_after": change.mu_after,
        "sigma_after": change.sigma_after,
        "low": change.low,
        "high": change.high,
        "annulled": row.annulled,
    }


def _standing_body(standing: Rating | Score) -> dict[str, Any]:
    if isinstance(standing, Score):
        return {
            "score": standing.score,
            "placements": standing.placements,
            "finished_at": rfc3339(standing.finished_at),
        }
    return {
        "rating": str(standing),
        "mu": standing.mu,
        "sigma": standing.sigma,
        "games": standing.games,
    }


def _entry_body(entry: LeaderboardEntry) -> dict[str, Any]:
    head = {"rank": entry.rank, "player": player_body(entry.player)}
    return {**head, **_standing_body(entry.standing)}


def leaderboard_body(page: LeaderboardPage, next_address: str | None) -> dict[str, Any]:
    return {
        "key": page.key,
        "total": page.total,
        "frozen_at": None if page.frozen_at is None else rfc3339(page.frozen_at),
        "entries": [_entry_body(entry) for entry in page.entries],
        "next": next_address,
    }


def friends_board_body(page: CirclePage, next_address: str | None) -> dict[str, Any]:
    return {
        "key": page.key,
        "total": page.total,
        "board_total": page.board_total,
        "frozen_at": None if page.frozen_at is None else rfc3339(page.frozen_at),
        "entries": [
            {**_entry_body(line.entry), "board_rank": line.board_rank} for line in page.entries
        ],
        "next": next_address,
    }

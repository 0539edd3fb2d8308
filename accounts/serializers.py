"""The bodies of the REST API about people and standing."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field
from rest_framework import serializers

from accounts.models import AccessToken, LedgerRow, Player
from accounts.rules import Rating, Scope
from accounts.selectors import LeaderboardPage, PlayerCard, Score, profile_ratings
from accounts.selectors.apps import AppGrant
from common.clock import from_datetime, rfc3339
from common.rest import Body, WholeNumber

MAX_BIGINT = 2**63 - 1


class InstantField(serializers.DateTimeField):
    """RFC 3339 in UTC with milliseconds."""

    def to_representation(self, value: datetime) -> str:
        return rfc3339(from_datetime(value))


class PlayerSerializer(serializers.Serializer[Any]):
    """A player as shown wherever one appears. `level` is there for the built-in CPU players only."""

    name = serializers.CharField()
    kind = serializers.ChoiceField(Player.Kind.choices)
    level = serializers.CharField(required=False)


class RatingSerializer(serializers.Serializer[Any]):
    """`rating` is as shown (`1534?` while provisional), `mu` and `sigma` exact; `key` is variant:speed.

    `calibrated`: a CPU level's rating, measured by matches between levels; `sigma` is then its standard error.
    """

    key = serializers.CharField()
    rating = serializers.CharField()
    provisional = serializers.BooleanField()
    mu = serializers.FloatField()
    sigma = serializers.FloatField()
    games = serializers.IntegerField()
    calibrated = serializers.BooleanField()


class ProfileSerializer(PlayerSerializer):
    created_at = InstantField()
    ratings = RatingSerializer(many=True)


class MeSerializer(ProfileSerializer):
    """`scopes` and `expires_at` are those of the token in use, `inbox_version` the number of the latest inbox item."""

    scopes = serializers.ListField(child=serializers.ChoiceField(list(Scope)))
    expires_at = InstantField(allow_null=True)
    inbox_version = serializers.IntegerField()


class GuestSerializer(serializers.Serializer[Any]):
    """`token` is shown here only: it is all the guest has."""

    player = PlayerSerializer()
    token = serializers.CharField()


class NameBody(Body):
    name = serializers.CharField(max_length=64)


class BotBody(Body):
    """`for_ever` must be true: it says that the caller knows."""

    for_ever = serializers.BooleanField()

    def validate_for_ever(self, value: bool) -> bool:
        if not value:
            raise serializers.ValidationError("There is no way back, so this must be true.")
        return value


class TokenSerializer(serializers.Serializer[Any]):
    """A token without its secret; `hint` is the secret's end, `last_used_at` is exact to the hour."""

    id = serializers.CharField()
    # DRF keeps declared fields away from the attribute `label` of serializers.
    label = serializers.CharField(allow_blank=True)  # type: ignore[assignment]
    hint = serializers.CharField()
    scopes = serializers.ListField(child=serializers.ChoiceField(list(Scope)))
    created_at = InstantField()
    expires_at = InstantField(allow_null=True)
    last_used_at = InstantField(allow_null=True)


class TokenListSerializer(serializers.Serializer[Any]):
    tokens = TokenSerializer(many=True)


class IssuedTokenSerializer(TokenSerializer):
    """A new token; `secret` is shown this once."""

    secret = serializers.CharField()


class NewTokenBody(Body):
    label = serializers.CharField(  # type: ignore[assignment]
        max_length=60, required=False, default="", allow_blank=True
    )
    scopes = serializers.ListField(
        child=serializers.ChoiceField(list(Scope)), min_length=1, max_length=len(Scope)
    )
    expires_at = InstantField(required=False, allow_null=True, default=None)

    def validate_expires_at(self, value: datetime | None) -> datetime | None:
        if value is not None and value <= timezone.now():
            raise serializers.ValidationError("This is in the past.")
        return value


class GrantSerializer(serializers.Serializer[Any]):
    """What an app may do for the player; `app` is its client id, `owner` the player who registered it."""

    app = serializers.CharField()
    name = serializers.CharField()
    owner = serializers.CharField(allow_blank=True)
    scopes = serializers.ListField(child=serializers.ChoiceField(list(Scope)))
    since = InstantField()


class GrantListSerializer(serializers.Serializer[Any]):
    grants = GrantSerializer(many=True)


class InboxQuery(Body):
    after = WholeNumber(min_value=0, max_value=MAX_BIGINT, default=0)
    limit = WholeNumber(min_value=1, max_value=100, default=50)


class InboxItemSerializer(serializers.Serializer[Any]):
    """One event; the socket sends the same bytes."""

    version = serializers.IntegerField()
    at = serializers.DateTimeField()
    event = serializers.DictField()


class InboxSerializer(serializers.Serializer[Any]):
    """`version` is the number of the latest item: there is more while the last event's is lower."""

    version = serializers.IntegerField()
    events = InboxItemSerializer(many=True)


class HistoryQuery(Body):
    before = WholeNumber(min_value=1, max_value=2**31 - 1, default=None, allow_null=True)
    limit = WholeNumber(min_value=1, max_value=100, default=50)


class RatingChangeSerializer(serializers.Serializer[Any]):
    """One game's effect; `sequence` counts the player's rated games under this key from 1."""

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


class HistorySerializer(serializers.Serializer[Any]):
    """The newest changes first; `next` is the address of the older ones, or null."""

    key = serializers.CharField()
    changes = RatingChangeSerializer(many=True)
    next = serializers.CharField(allow_null=True)


class LeaderboardQuery(Body):
    cursor = serializers.CharField(required=False, default=None, max_length=400)
    limit = WholeNumber(min_value=1, max_value=100, default=50)
    players = serializers.ChoiceField(["people", "bots"], default="people")


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


# From what the selectors give to what the serializers above describe


def player_body(player: Player | PlayerCard) -> dict[str, Any]:
    """A player as shown on the wire; never the internal id."""
    body = {"name": player.name, "kind": str(player.kind)}
    return {**body, "level": player.level} if player.level else body


def rating_body(key: str, rating: Rating) -> dict[str, Any]:
    return {
        "key": key,
        "rating": str(rating),
        "provisional": rating.provisional,
        "mu": rating.mu,
        "sigma": rating.sigma,
        "games": rating.games,
        "calibrated": rating.calibrated,
    }


def profile_body(player: Player) -> dict[str, Any]:
    ratings = profile_ratings(player.pk, player.level)
    return {
        **player_body(player),
        "created_at": player.created_at,
        "ratings": [rating_body(key, rating) for key, rating in ratings.items()],
    }


def token_body(token: AccessToken) -> dict[str, Any]:
    return {
        "id": str(token.pk),
        "label": token.label,
        "hint": token.hint,
        "scopes": token.scopes,
        "created_at": token.created_at,
        "expires_at": token.expires_at,
        "last_used_at": token.last_used_at,
    }


def grant_body(grant: AppGrant) -> dict[str, Any]:
    return {
        "app": grant.client_id,
        "name": grant.name,
        "owner": grant.owner,
        "scopes": list(grant.scopes),
        "since": grant.since,
    }


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


def leaderboard_body(page: LeaderboardPage, next_address: str | None) -> dict[str, Any]:
    return {
        "key": page.key,
        "total": page.total,
        "frozen_at": None if page.frozen_at is None else rfc3339(page.frozen_at),
        "entries": [
            {
                "rank": entry.rank,
                "player": player_body(entry.player),
                **_standing_body(entry.standing),
            }
            for entry in page.entries
        ],
        "next": next_address,
    }

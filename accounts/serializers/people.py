"""Bodies: players and their profiles."""

from datetime import datetime
from typing import Any

from rest_framework import serializers

from accounts.models import Player, SeasonLine
from accounts.rules import Rating, Scope
from accounts.selectors import PlayerCard, profile_ratings
from accounts.selectors.seasons import season_titles
from common.clock import from_datetime, rfc3339
from common.rest import Body

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


class EarnedTitleSerializer(serializers.Serializer[Any]):
    """A title that a player has from a season; `season` is its id."""

    title = serializers.CharField()
    season = serializers.CharField()
    season_name = serializers.CharField()
    key = serializers.CharField()
    rank = serializers.IntegerField()


class ProfileSerializer(PlayerSerializer):
    """`titles` of seasons: the newest twenty."""

    created_at = InstantField()
    ratings = RatingSerializer(many=True)
    titles = EarnedTitleSerializer(many=True)


class MeSerializer(ProfileSerializer):
    """`scopes` and `expires_at` are those of the token in use, `inbox_version` the number of the latest inbox item.

    `inbox_read` is the number up to which all have been read.
    """

    scopes = serializers.ListField(child=serializers.ChoiceField(list(Scope)))
    expires_at = InstantField(allow_null=True)
    inbox_version = serializers.IntegerField()
    inbox_read = serializers.IntegerField()
    inbox_unread = serializers.IntegerField()
    requests_from = serializers.ChoiceField(Player.RequestsFrom.choices)


class GuestSerializer(serializers.Serializer[Any]):
    """`token` is shown here only: it is all the guest has."""

    player = PlayerSerializer()
    token = serializers.CharField()


class NameBody(Body):
    name = serializers.CharField(max_length=64)


class ErasureBody(Body):
    """`name` must be your own: it says that you know what you do, and as whom."""

    name = serializers.CharField(max_length=64)


class BotBody(Body):
    """`for_ever` must be true: it says that the caller knows."""

    for_ever = serializers.BooleanField()

    def validate_for_ever(self, value: bool) -> bool:
        if not value:
            raise serializers.ValidationError("There is no way back, so this must be true.")
        return value


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


def earned_title_body(line: SeasonLine) -> dict[str, Any]:
    table = line.table
    return {
        "title": line.title,
        "season": table.season.pk,
        "season_name": table.season.name,
        "key": table.key,
        "rank": line.rank,
    }


def profile_body(player: Player) -> dict[str, Any]:
    ratings = profile_ratings(player.pk, player.level)
    return {
        **player_body(player),
        "created_at": player.created_at,
        "ratings": [rating_body(key, rating) for key, rating in ratings.items()],
        "titles": [earned_title_body(line) for line in season_titles(player.pk)],
    }

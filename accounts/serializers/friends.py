"""Bodies: friends, requests and blocks."""

from collections.abc import Collection
from typing import Any

from rest_framework import serializers

from accounts.models import Player
from accounts.selectors.friends import Listed
from accounts.serializers.people import PlayerSerializer, player_body
from common.clock import rfc3339
from common.rest import Body, WholeNumber


class NamesQuery(Body):
    """A list in the order of names goes on after a name."""

    cursor = serializers.CharField(default="", max_length=64, help_text="From `next`.")
    limit = WholeNumber(min_value=1, max_value=100, default=50)


class RequestsQuery(NamesQuery):
    direction = serializers.ChoiceField(["received", "sent"], default="received")


class RequestsFromSerializer(Body):
    """Whose friend requests one takes."""

    requests_from = serializers.ChoiceField(Player.RequestsFrom.choices)


class FriendSerializer(serializers.Serializer[Any]):
    """`online`: connected now, or a moment ago; null while the server does not know."""

    player = PlayerSerializer()
    since = serializers.DateTimeField()
    online = serializers.BooleanField(allow_null=True)


class FriendListSerializer(serializers.Serializer[Any]):
    friends = FriendSerializer(many=True)
    next = serializers.CharField(allow_null=True)


class FriendRequestSerializer(serializers.Serializer[Any]):
    player = PlayerSerializer()
    asked_at = serializers.DateTimeField()


class FriendRequestListSerializer(serializers.Serializer[Any]):
    requests = FriendRequestSerializer(many=True)
    next = serializers.CharField(allow_null=True)


class AskedSerializer(serializers.Serializer[Any]):
    """`state` is `friends` if the other one had asked, or accepted meanwhile; `at` is since when it is so."""

    player = PlayerSerializer()
    state = serializers.ChoiceField(["pending", "friends"])
    at = serializers.DateTimeField()


class BlockSerializer(serializers.Serializer[Any]):
    player = PlayerSerializer()
    at = serializers.DateTimeField()


class BlockListSerializer(serializers.Serializer[Any]):
    blocks = BlockSerializer(many=True)
    next = serializers.CharField(allow_null=True)


def friend_body(line: Listed, online: Collection[int] | None) -> dict[str, Any]:
    return {
        "player": player_body(line.player),
        "since": rfc3339(line.at),
        "online": None if online is None else line.player.id in online,
    }


def request_body(line: Listed) -> dict[str, Any]:
    return {"player": player_body(line.player), "asked_at": rfc3339(line.at)}


def block_body(line: Listed) -> dict[str, Any]:
    return {"player": player_body(line.player), "at": rfc3339(line.at)}

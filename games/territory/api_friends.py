"""REST: the live games of friends."""

from typing import Any
from urllib.parse import urlencode

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import caller_of
from accounts.permissions import HasScope
from accounts.serializers import InstantField, PlayerSerializer, player_body
from common import rest
from common.rest import Body, WholeNumber
from games.territory.friends import LiveGame, friends_games


class LiveGamesQuery(Body):
    cursor = serializers.CharField(default="", max_length=64, help_text="From `next`.")
    limit = WholeNumber(min_value=1, max_value=100, default=50)


class LiveTimeControlSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    initial_ms = serializers.IntegerField()
    increment_ms = serializers.IntegerField()


class LiveGameSerializer(serializers.Serializer[Any]):
    """A game that is being played; `players` by seat."""

    game = serializers.CharField()
    variant = serializers.CharField()
    rated = serializers.BooleanField()
    pool = serializers.CharField(allow_null=True)
    time_control = LiveTimeControlSerializer()
    started_at = InstantField()
    players = PlayerSerializer(many=True)


class LiveGamesSerializer(serializers.Serializer[Any]):
    games = LiveGameSerializer(many=True)
    next = serializers.CharField(allow_null=True)


class FriendsGames(APIView):
    """What the caller's friends play."""

    permission_classes = [HasScope("friends")]

    @extend_schema(parameters=[LiveGamesQuery], responses=LiveGamesSerializer)
    def get(self, request: Request) -> Response:
        """The live games of your friends, the newest first. Follow one as `game:<id>`."""
        query = rest.query(LiveGamesQuery, request)
        games, cursor = friends_games(caller_of(request).player_id, **query)
        again = {"cursor": cursor, "limit": query["limit"]}
        address = f"{request.path}?{urlencode(again)}" if cursor else None
        body = {"games": [_body(live) for live in games], "next": address}
        return Response(LiveGamesSerializer(body).data)


def _body(live: LiveGame) -> dict[str, Any]:
    game = live.game
    return {
        "game": game.pk,
        "variant": game.variant,
        "rated": game.rated,
        "pool": game.pool or None,
        "time_control": {
            "kind": game.clock_kind,
            "initial_ms": game.initial_ms,
            "increment_ms": game.increment_ms,
        },
        "started_at": game.created_at,
        "players": [player_body(card) for card in live.players],
    }

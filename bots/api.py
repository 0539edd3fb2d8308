"""Hints by REST."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import caller_of
from accounts.permissions import HasScope
from bots import selectors
from bots.services.hints import ask_hint
from common import rest
from common.clock import now_ms
from common.rest import Body


class HintWish(Body):
    """Nothing, or the ply for which the hint is meant."""

    ply = serializers.IntegerField(min_value=0, max_value=10_000, default=None, allow_null=True)


class HintSerializer(serializers.Serializer[Any]):
    """One hint; `piece` and `move` are null until it is given."""

    ply = serializers.IntegerField()
    colour = serializers.CharField()
    piece = serializers.CharField(allow_null=True)
    move = serializers.CharField(allow_null=True)


class AskedHintSerializer(HintSerializer):
    """A hint that was asked for, and how many are left."""

    hints_left = serializers.IntegerField()


class HintListSerializer(serializers.Serializer[Any]):
    """The hints that you have had in this game, and how many are left."""

    hints = HintSerializer(many=True)
    hints_left = serializers.IntegerField()


class Hints(APIView):
    permission_classes = [HasScope("play")]

    @extend_schema(responses=HintListSerializer, operation_id="list_hints")
    def get(self, request: Request, game_id: str) -> Response:
        """The hints that you have had in this game, and how many are left."""
        player_id = caller_of(request).player_id
        return Response(selectors.hints_of(game_id=game_id, player_id=player_id).wire())

    @extend_schema(
        request=HintWish,
        responses={200: AskedHintSerializer, 202: AskedHintSerializer},
        operation_id="ask_hint",
    )
    def post(self, request: Request, game_id: str) -> Response:
        """Ask for the strongest CPU's move. 202: it comes as `hint_given` in your inbox; 200: it is there already.

        Asked again in the same position, the answer is the same and costs nothing.
        """
        asked = ask_hint(
            game_id=game_id,
            player_id=caller_of(request).player_id,
            ply=rest.body(HintWish, request)["ply"],
            now=now_ms(),
        )
        return Response(asked.wire(), status=200 if asked.hint.move else 202)

"""Leaving a game by REST: claims against who went away, the way back from a CPU, aborting (docs/leaving.md)."""

import msgspec
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import caller_of
from accounts.permissions import HasScope
from common import database, rest
from common.rest import Body, json_bytes
from games.territory import present
from games.territory.api import GameView, Receipt
from games.territory.leaving import RESULTS
from games.territory.services import leave


class ClaimWish(Body):
    """What is claimed: of two seats a win or a draw, of more that a CPU takes the seat of who went away."""

    result = serializers.ChoiceField(choices=RESULTS)
    seat = serializers.IntegerField(
        min_value=0,
        max_value=63,
        default=None,
        allow_null=True,
        help_text="Whose player went away; without it, the one who has been away for longest.",
    )


class Nothing(Body):
    """No fields."""


class Presence(GameView):
    @extend_schema(responses=OpenApiTypes.OBJECT, operation_id="get_presence")
    def get(self, request: Request, game_id: str) -> HttpResponse:
        """Who of a game's players is connected, since when others are away, and when they can be claimed from."""
        return json_bytes(msgspec.json.encode(present.presence_of(game_id)))


class Claim(APIView):
    permission_classes = [HasScope("play")]

    @extend_schema(request=ClaimWish, responses=Receipt, operation_id="claim")
    def post(self, request: Request, game_id: str) -> Response:
        """Claim because another player went away and has not come back for long enough."""
        wish = rest.body(ClaimWish, request)
        receipt = database.wait(
            leave.claim(game_id=game_id, player_id=caller_of(request).player_id, **wish)
        )
        return Response({"version": receipt.version})


class Return(APIView):
    permission_classes = [HasScope("play")]

    @extend_schema(request=Nothing, responses=Receipt, operation_id="return_to_game")
    def post(self, request: Request, game_id: str) -> Response:
        """Take your seat back from the CPU that has played for you. A move of yours does the same."""
        rest.body(Nothing, request)
        receipt = database.wait(
            leave.take_back(game_id=game_id, player_id=caller_of(request).player_id)
        )
        return Response({"version": receipt.version})


class Abort(APIView):
    permission_classes = [HasScope("play")]

    @extend_schema(request=Nothing, responses=Receipt, operation_id="abort_game")
    def post(self, request: Request, game_id: str) -> Response:
        """End a game of two before your own first move: nobody is rated, and it counts against you."""
        rest.body(Nothing, request)
        receipt = database.wait(
            leave.abort(game_id=game_id, player_id=caller_of(request).player_id)
        )
        return Response({"version": receipt.version})

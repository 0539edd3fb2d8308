"""The caller's own live games, and vacation from those by correspondence, by REST."""

from urllib.parse import urlencode

import msgspec
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import caller_of
from accounts.errors import InvalidCursorError
from accounts.permissions import HasScope
from common import rest
from common.clock import now_ms, rfc3339
from common.rest import Body, WholeNumber, json_bytes
from games.territory.errors import UnknownGameError
from games.territory.own_games import live_games_of
from games.territory.services import vacations


class OwnGamesQuery(Body):
    cursor = serializers.CharField(max_length=64, default=None, help_text="From `next`.")
    limit = WholeNumber(min_value=1, max_value=100, default=50)
    turn = serializers.ChoiceField(
        choices=["mine"], default=None, help_text="Only games that wait for you."
    )


class OwnGames(APIView):
    permission_classes = [HasScope("play")]

    @extend_schema(
        parameters=[OwnGamesQuery], responses=OpenApiTypes.OBJECT, operation_id="list_my_games"
    )
    def get(self, request: Request) -> HttpResponse:
        """Your games that are being played, the newest first: `{"games": […], "next": address or null}`."""
        query = rest.query(OwnGamesQuery, request)
        limit = query["limit"]
        try:
            found = live_games_of(
                caller_of(request).player_id,
                my_turn=query["turn"] == "mine",
                after=query["cursor"],
                limit=limit + 1,
            )
        except UnknownGameError:
            raise InvalidCursorError("Start again at the first page.") from None
        address = None
        if len(found) > limit:
            again = {name: value for name, value in query.items() if value is not None}
            address = f"{request.path}?{urlencode(again | {'cursor': found[limit - 1].game})}"
        return json_bytes(msgspec.json.encode({"games": found[:limit], "next": address}))


class Nothing(Body):
    """No fields."""


class OwnVacation(APIView):
    permission_classes = [HasScope("play")]

    @extend_schema(responses=OpenApiTypes.OBJECT, operation_id="get_vacation")
    def get(self, request: Request) -> Response:
        """Whether you are on vacation, until when at the latest, and how much is left this year."""
        return _shown(vacations.vacation_of(player_id=caller_of(request).player_id, now=now_ms()))

    @extend_schema(request=Nothing, responses=OpenApiTypes.OBJECT, operation_id="begin_vacation")
    def put(self, request: Request) -> Response:
        """Go on vacation: your time stands in the correspondence games that you are in."""
        rest.body(Nothing, request)
        return _shown(vacations.begin(player_id=caller_of(request).player_id, now=now_ms()))

    @extend_schema(responses=OpenApiTypes.OBJECT, operation_id="end_vacation")
    def delete(self, request: Request) -> Response:
        """Come back before the end."""
        return _shown(vacations.end(player_id=caller_of(request).player_id, now=now_ms()))


def _shown(view: vacations.VacationView) -> Response:
    until = None if view.until is None else rfc3339(view.until)
    return Response({"on": view.on, "until": until, "left_ms": view.left_ms})

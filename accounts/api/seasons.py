"""REST: seasons and their final tables. Unchanged answers are not sent twice (`If-None-Match`)."""

from urllib.parse import urlencode

from django.utils.decorators import method_decorator
from django.views.decorators.http import conditional_page
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import rules, selectors
from accounts import serializers as bodies
from accounts.api.base import address_with
from accounts.api.standing import AROUND, KEY
from accounts.authentication import caller_of
from accounts.selectors import seasons
from common import rest
from common.clock import now_ms

SEASON = OpenApiParameter("season_id", str, OpenApiParameter.PATH)
FRESH = {"Cache-Control": "no-cache"}


@method_decorator(conditional_page, name="dispatch")
class SeasonsView(APIView):
    """The seasons that there were, are and will be."""

    permission_classes = [AllowAny]

    @extend_schema(
        responses=bodies.SeasonListSerializer,
        parameters=[bodies.SeasonsQuery],
        operation_id="list_seasons",
    )
    def get(self, request: Request) -> Response:
        """Seasons, those that begin last first."""
        query = rest.query(bodies.SeasonsQuery, request)
        found, cursor = seasons.seasons_page(**query)
        now = now_ms()
        body = {
            "seasons": [bodies.season_body(season, now) for season in found],
            "next": address_with(request, cursor=cursor, limit=query["limit"]) if cursor else None,
        }
        return Response(body, headers=FRESH)


@method_decorator(conditional_page, name="dispatch")
class SeasonView(APIView):
    """One season."""

    permission_classes = [AllowAny]

    @extend_schema(responses=bodies.SeasonSerializer, parameters=[SEASON])
    def get(self, request: Request, season_id: str) -> Response:
        """When it is, who counts, which titles it gives, and its final tables."""
        body = bodies.season_body(seasons.season_of(season_id), now_ms())
        return Response(body, headers=FRESH)


class _Table(APIView):
    permission_classes = [AllowAny]

    def answer(self, page: seasons.TablePage, limit: int) -> Response:
        address = None
        if page.next:
            path = f"/api/v1/seasons/{page.season.pk}/tables/{page.table.key}"
            address = f"{path}?{urlencode({'cursor': page.next, 'limit': limit})}"
        return Response(bodies.table_body(page, address), headers=FRESH)


@method_decorator(conditional_page, name="dispatch")
class SeasonTableView(_Table):
    """Who was best in a season."""

    @extend_schema(
        responses=bodies.FinalTableSerializer, parameters=[SEASON, KEY, bodies.TableQuery]
    )
    def get(self, request: Request, season_id: str, key: str) -> Response:
        """A page of a final table."""
        query = rest.query(bodies.TableQuery, request)
        return self.answer(seasons.table_page(season_id, key, **query), query["limit"])


@method_decorator(conditional_page, name="dispatch")
class SeasonAroundView(_Table):
    """Where somebody stood in a season."""

    @extend_schema(
        responses=bodies.FinalTableSerializer, parameters=[SEASON, KEY, AROUND, bodies.AroundQuery]
    )
    def get(self, request: Request, season_id: str, key: str, name: str) -> Response:
        """The lines around a player, who is found by today's name. With `limit=1` it is the player's own line."""
        limit = rest.query(bodies.AroundQuery, request)["limit"]
        if name == rules.ME:
            player_id = caller_of(request).player_id
        else:
            player_id = selectors.player_named(name).pk
        return self.answer(seasons.table_around(season_id, key, player_id, limit=limit), limit)

"""REST: ratings and leaderboards."""

from urllib.parse import urlencode

from django.http import HttpResponse
from django.utils.decorators import method_decorator
from django.views.decorators.http import conditional_page
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import rules, selectors
from accounts import serializers as bodies
from accounts.api.base import NAME, address_with
from accounts.authentication import caller_of
from accounts.errors import UnknownLeaderboardError
from accounts.permissions import HasScope
from accounts.plot import Point, history_svg
from accounts.selectors.friends import friend_ids
from accounts.selectors.friends_board import friends_board
from common import rest

KEY = OpenApiParameter(
    "key", str, OpenApiParameter.PATH, description="variant:speed, as `duo:blitz`"
)

BOARD = OpenApiParameter(
    "key",
    str,
    OpenApiParameter.PATH,
    description="variant:speed (`duo:blitz`), `puzzle:` and the rules (`puzzle:easy:10x10:once`), or `daily:2026-11-30`",
)
AROUND = OpenApiParameter(
    "name", str, OpenApiParameter.PATH, description="In any case; `me` is whoever sent the token."
)


class RatingHistoryView(APIView):
    """How a rating came about."""

    permission_classes = [AllowAny]

    @extend_schema(responses=bodies.HistorySerializer, parameters=[NAME, KEY, bodies.HistoryQuery])
    def get(self, request: Request, name: str, key: str) -> Response:
        """The changes of the player's rating, the newest first."""
        player, query = selectors.player_named(name), rest.query(bodies.HistoryQuery, request)
        _check(key)
        limit = query["limit"]
        rows = selectors.rating_history(player.pk, key, before=query["before"], limit=limit)
        more = len(rows) == limit and rows[-1].sequence > 1
        body = {
            "key": key,
            "changes": [bodies.change_body(row) for row in rows],
            "next": address_with(request, before=rows[-1].sequence, limit=limit) if more else None,
        }
        return Response(body)


def _check(key: str) -> None:
    if not rules.is_rating_key(key):
        raise UnknownLeaderboardError(f"{key!r} is not of the form variant:speed.")


@method_decorator(conditional_page, name="dispatch")
class RatingPictureView(APIView):
    """How a rating came about, as a picture."""

    permission_classes = [AllowAny]
    renderer_classes = [JSONRenderer, rest.PictureRenderer]

    @extend_schema(
        parameters=[NAME, KEY, bodies.PictureQuery, OpenApiParameter("format", exclude=True)],
        responses={(200, "image/svg+xml"): OpenApiTypes.STR},
        operation_id="draw_rating_history",
    )
    def get(self, request: Request, name: str, key: str) -> HttpResponse:
        """The player's rating as a line, and around it where it lies with 95 % confidence."""
        player, query = selectors.player_named(name), rest.query(bodies.PictureQuery, request)
        _check(key)
        rows = selectors.rating_history(player.pk, key, limit=query["limit"])
        points = [
            Point(row.at, row.mu_after, row.sigma_after, row.annulled) for row in reversed(rows)
        ]
        return HttpResponse(
            history_svg(player.name, key, points, theme=query["theme"]),
            content_type="image/svg+xml",
            headers={"Cache-Control": "no-cache"},
        )


class _Leaderboard(APIView):
    permission_classes = [AllowAny]

    def answer(
        self, page: selectors.LeaderboardPage, limit: int, players: str = "people"
    ) -> Response:
        """May be kept, if it is asked for again with `If-None-Match`: an unchanged one is not sent twice."""
        address = None
        if page.next:
            path = f"/api/v1/leaderboards/{page.key}"
            which = {"players": players} if players != "people" else {}
            address = f"{path}?{urlencode({'cursor': page.next, 'limit': limit, **which})}"
        headers = {"Cache-Control": "no-cache"}
        return Response(bodies.leaderboard_body(page, address), headers=headers)


@method_decorator(conditional_page, name="dispatch")
class LeaderboardView(_Leaderboard):
    """Who is best: at a variant and speed, at a block puzzle, on a day."""

    @extend_schema(
        responses=bodies.LeaderboardSerializer, parameters=[BOARD, bodies.LeaderboardQuery]
    )
    def get(self, request: Request, key: str) -> Response:
        """A page of the leaderboard. Provisional ratings (`1534?`), guests and banned players are not on it.

        Bots have leaderboards of ratings of their own, `players=bots`.
        """
        query = rest.query(bodies.LeaderboardQuery, request)
        players = query.pop("players")
        page = selectors.leaderboard_page(key, **query, bots=players == "bots")
        return self.answer(page, query["limit"], players)


@method_decorator(conditional_page, name="dispatch")
class AroundView(_Leaderboard):
    """Where somebody stands."""

    @extend_schema(
        responses=bodies.LeaderboardSerializer, parameters=[BOARD, AROUND, bodies.AroundQuery]
    )
    def get(self, request: Request, key: str, name: str) -> Response:
        """The lines around a player, who is in the middle as far as the ends of the board allow.

        With `limit=1` it is the player's own line, with the rank. `next` goes on downwards, as in a page.
        """
        limit = rest.query(bodies.AroundQuery, request)["limit"]
        if name == rules.ME:
            player_id = caller_of(request).player_id
        else:
            player_id = selectors.player_named(name).pk
        return self.answer(selectors.leaderboard_around(key, player_id, limit=limit), limit)


@method_decorator(conditional_page, name="dispatch")
class FriendsBoardView(APIView):
    """Where you and your friends stand."""

    permission_classes = [HasScope(rules.Scope.FRIENDS)]

    @extend_schema(
        responses=bodies.FriendsLeaderboardSerializer,
        parameters=[BOARD, bodies.FriendsBoardQuery],
    )
    def get(self, request: Request, key: str) -> Response:
        """The lines of you and your friends, with the rank among them and the `board_rank` on the whole board."""
        query, me = rest.query(bodies.FriendsBoardQuery, request), caller_of(request).player_id
        page = friends_board(key, friend_ids(me) | {me}, **query)
        again = {"cursor": page.next, "limit": query["limit"]}
        address = address_with(request, **again) if page.next else None
        headers = {"Cache-Control": "private, no-cache"}
        return Response(bodies.friends_board_body(page, address), headers=headers)

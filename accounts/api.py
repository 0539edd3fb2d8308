"""REST: guests, the caller's own things, players and leaderboards."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.utils.decorators import method_decorator
from django.views.decorators.http import conditional_page
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import rules, selectors
from accounts import serializers as bodies
from accounts.authentication import caller_of
from accounts.errors import UnknownAppError, UnknownLeaderboardError, UnknownTokenError
from accounts.idempotency import IDEMPOTENCY_KEY, idempotent
from accounts.models import Player
from accounts.permissions import HasScope
from accounts.rules import Scope
from accounts.selectors.apps import grants_of
from accounts.services.apps import revoke_app
from accounts.services.people import become_bot, change_name, create_guest
from accounts.services.tokens import issue_token, revoke_token
from common import rest
from common.clock import from_datetime, to_datetime

NAME = OpenApiParameter("name", str, OpenApiParameter.PATH, description="In any case.")
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


def _address(request: Request, **query: Any) -> str:
    return f"{request.path}?{urlencode(query)}"


def _player(request: Request) -> Player:
    caller_of(request)
    if not isinstance(request.user, Player):
        raise TypeError("TokenAuthentication sets a player")
    return request.user


class GuestsView(APIView):
    """Start without signing in."""

    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(
        request=None, responses={201: bodies.GuestSerializer}, parameters=[IDEMPOTENCY_KEY]
    )
    @idempotent(private_field="token")
    def post(self, request: Request, *, secret: str | None = None) -> Response:
        """Create a guest. The token may play CPU games and puzzles; keep it, it is shown only here."""
        player, token = create_guest(secret=secret)
        body = {"player": bodies.player_body(player), "token": token}
        return Response(bodies.GuestSerializer(body).data, 201)


class MeView(APIView):
    """The caller."""

    @extend_schema(responses=bodies.MeSerializer)
    def get(self, request: Request) -> Response:
        """Who the token belongs to, and what it allows."""
        caller, player = caller_of(request), _player(request)
        body = {
            **bodies.profile_body(player),
            "scopes": sorted(caller.scopes),
            "expires_at": None if caller.expires_at is None else to_datetime(caller.expires_at),
            "inbox_version": selectors.inbox_version(player.pk),
        }
        return Response(bodies.MeSerializer(body).data)


class NameView(APIView):
    """The caller's name."""

    permission_classes = [HasScope(Scope.PROFILE)]

    @extend_schema(request=bodies.NameBody, responses=bodies.PlayerSerializer)
    def put(self, request: Request) -> Response:
        """Take another name. One may be chosen every 30 days; the old ones stay reserved for the player."""
        wanted = rest.body(bodies.NameBody, request)
        player = change_name(player_id=caller_of(request).player_id, name=wanted["name"])
        return Response(bodies.PlayerSerializer(bodies.player_body(player)).data)


class BotView(APIView):
    """The caller as a bot."""

    permission_classes = [HasScope(Scope.PROFILE)]

    @extend_schema(request=bodies.BotBody, responses=bodies.PlayerSerializer)
    def put(self, request: Request) -> Response:
        """Make the account a bot's, for ever. It must have no rated games. Bots have leaderboards of their own."""
        caller = caller_of(request)
        caller.require_no_app()
        rest.body(bodies.BotBody, request)
        player = become_bot(player_id=caller.player_id)
        return Response(bodies.PlayerSerializer(bodies.player_body(player)).data)


class TokensView(APIView):
    """The caller's personal access tokens."""

    permission_classes = [HasScope(Scope.PROFILE)]

    @extend_schema(responses=bodies.TokenListSerializer)
    def get(self, request: Request) -> Response:
        """All tokens that have not been revoked or expired, the oldest first; never their secrets."""
        tokens = selectors.tokens_of(caller_of(request).player_id)
        body = {"tokens": [bodies.token_body(token) for token in tokens]}
        return Response(bodies.TokenListSerializer(body).data)

    @extend_schema(
        request=bodies.NewTokenBody,
        responses={201: bodies.IssuedTokenSerializer},
        parameters=[IDEMPOTENCY_KEY],
    )
    @idempotent(private_field="secret")
    def post(self, request: Request, *, secret: str | None = None) -> Response:
        """Issue a token with some of the scopes that the one in use has. The secret is shown this once."""
        caller = caller_of(request)
        caller.require_no_app()
        wanted = rest.body(bodies.NewTokenBody, request)
        for scope in wanted["scopes"]:
            caller.require(scope)
        expires_at = wanted["expires_at"] and from_datetime(wanted["expires_at"])
        if caller.expires_at is not None:  # no token outlives the one that issued it
            expires_at = min(expires_at or caller.expires_at, caller.expires_at)
        token, shown = issue_token(
            player_id=caller.player_id,
            scopes=wanted["scopes"],
            label=wanted["label"],
            expires_at=expires_at,
            secret=secret,
        )
        body = {**bodies.token_body(token), "secret": shown}
        return Response(bodies.IssuedTokenSerializer(body).data, 201)


class TokenView(APIView):
    """One of the caller's tokens."""

    permission_classes = [HasScope(Scope.PROFILE)]

    @extend_schema(
        responses={204: None}, parameters=[OpenApiParameter("token_id", str, OpenApiParameter.PATH)]
    )
    def delete(self, request: Request, token_id: str) -> Response:
        """Revoke a token, the one in use too; its open sockets are closed within seconds."""
        caller = caller_of(request)
        caller.require_no_app()
        if not (token_id.isascii() and token_id.isdecimal() and len(token_id) < 19):
            raise UnknownTokenError
        revoke_token(player_id=caller.player_id, token_id=int(token_id))
        return Response(status=204)


class GrantsView(APIView):
    """The apps that may do something for the caller."""

    permission_classes = [HasScope(Scope.PROFILE)]

    @extend_schema(responses=bodies.GrantListSerializer)
    def get(self, request: Request) -> Response:
        """All apps that have access now, by name."""
        grants = grants_of(caller_of(request).player_id)
        body = {"grants": [bodies.grant_body(grant) for grant in grants]}
        return Response(bodies.GrantListSerializer(body).data)


class GrantView(APIView):
    """One of those apps."""

    permission_classes = [HasScope(Scope.PROFILE)]

    @extend_schema(
        responses={204: None}, parameters=[OpenApiParameter("app", str, OpenApiParameter.PATH)]
    )
    def delete(self, request: Request, app: str) -> Response:
        """Take the app's access back; its tokens stop at once, and its open sockets are closed."""
        caller = caller_of(request)
        caller.require_no_app()
        if "\0" in app:
            raise UnknownAppError
        revoke_app(player_id=caller.player_id, client_id=app)
        return Response(status=204)


class InboxView(APIView):
    """The caller's notifications."""

    @extend_schema(parameters=[bodies.InboxQuery], responses=bodies.InboxSerializer)
    def get(self, request: Request) -> HttpResponse:
        """The items after version `after` in order; poll with the last version seen, or follow the socket."""
        query, player_id = rest.query(bodies.InboxQuery, request), caller_of(request).player_id
        notes = selectors.inbox_after(player_id, query["after"], query["limit"])
        version = selectors.inbox_version(player_id)
        events = ",".join("{" + note.body() for note in notes)
        # Put together as text: an event's bytes are the same here and on the socket.
        body = f'{{"version":{version},"events":[{events}]}}'
        return HttpResponse(body, content_type="application/json")


class PlayerView(APIView):
    """A player's profile, for everybody."""

    permission_classes = [AllowAny]

    @extend_schema(responses=bodies.ProfileSerializer, parameters=[NAME])
    def get(self, request: Request, name: str) -> Response:
        """The player of this name, with all ratings."""
        player = selectors.player_named(name)
        return Response(bodies.ProfileSerializer(bodies.profile_body(player)).data)


class RatingHistoryView(APIView):
    """How a rating came about."""

    permission_classes = [AllowAny]

    @extend_schema(responses=bodies.HistorySerializer, parameters=[NAME, KEY, bodies.HistoryQuery])
    def get(self, request: Request, name: str, key: str) -> Response:
        """The changes of the player's rating, the newest first."""
        player, query = selectors.player_named(name), rest.query(bodies.HistoryQuery, request)
        if not rules.is_rating_key(key):
            raise UnknownLeaderboardError(f"{key!r} is not of the form variant:speed.")
        limit = query["limit"]
        rows = selectors.rating_history(player.pk, key, before=query["before"], limit=limit)
        more = len(rows) == limit and rows[-1].sequence > 1
        body = {
            "key": key,
            "changes": [bodies.change_body(row) for row in rows],
            "next": _address(request, before=rows[-1].sequence, limit=limit) if more else None,
        }
        return Response(body)


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

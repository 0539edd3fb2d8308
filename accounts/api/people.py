"""REST: guests, the caller's own account, and players."""

from contextlib import suppress

from drf_spectacular.utils import extend_schema
from kombu.exceptions import OperationalError
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ValidationError
from rest_framework.views import APIView

from accounts import selectors, tasks
from accounts import serializers as bodies
from accounts.api.base import NAME, caller_player
from accounts.authentication import caller_of
from accounts.idempotency import IDEMPOTENCY_KEY, idempotent
from accounts.permissions import HasScope
from accounts.rules import Scope
from accounts.services.erasure import begin_erasure
from accounts.services.people import become_bot, change_name, create_guest
from common import rest
from common.clock import to_datetime


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

    delete_body = bodies.ErasureBody

    @extend_schema(responses=bodies.MeSerializer)
    def get(self, request: Request) -> Response:
        """Who the token belongs to, and what it allows."""
        caller, player = caller_of(request), caller_player(request)
        marks = selectors.inbox_marks(player.pk)
        body = {
            **bodies.profile_body(player),
            "scopes": sorted(caller.scopes),
            "expires_at": None if caller.expires_at is None else to_datetime(caller.expires_at),
            "inbox_version": marks.version,
            "inbox_read": marks.read,
            "inbox_unread": marks.unread,
            "requests_from": player.requests_from,
        }
        return Response(bodies.MeSerializer(body).data)

    @extend_schema(responses={202: bodies.PlayerSerializer})
    def delete(self, request: Request) -> Response:
        """Erase yourself, for ever. The body names you: `{"name": "Ada"}`.

        The account is closed at once: tokens and sign-ins stop, sockets are closed, and the answer says what your games
        are shown under from now on. Within minutes games that go on are given up, and everything else is gone.
        """
        caller = caller_of(request)
        caller.require_no_app()
        caller.require(Scope.PROFILE)
        if rest.body(bodies.ErasureBody, request)["name"] != caller_player(request).name:
            raise ValidationError({"name": "This is not your name."})
        name = begin_erasure(player_id=caller.player_id)
        with suppress(OperationalError):  # the scheduler asks for it soon
            tasks.finish_erasures_begun.delay()
        return Response({"name": name, "kind": caller.kind}, 202)


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


class PlayerView(APIView):
    """A player's profile, for everybody."""

    permission_classes = [AllowAny]

    @extend_schema(responses=bodies.ProfileSerializer, parameters=[NAME])
    def get(self, request: Request, name: str) -> Response:
        """The player of this name, with all ratings."""
        player = selectors.player_named(name)
        return Response(bodies.ProfileSerializer(bodies.profile_body(player)).data)

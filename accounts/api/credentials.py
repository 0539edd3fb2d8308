"""REST: the caller's tokens and the apps that have any."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import selectors
from accounts import serializers as bodies
from accounts.authentication import caller_of
from accounts.errors import UnknownAppError, UnknownTokenError
from accounts.idempotency import IDEMPOTENCY_KEY, idempotent
from accounts.permissions import HasScope
from accounts.rules import Scope
from accounts.selectors.apps import grants_of
from accounts.services.apps import revoke_app
from accounts.services.tokens import issue_token, revoke_token
from common import rest
from common.clock import from_datetime


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

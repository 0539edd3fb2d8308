"""Bearer tokens for the REST API: `request.user` is the `Player`, `request.auth` the `Caller`."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.errors import InvalidTokenError
from accounts.models import Player
from accounts.selectors.callers import Caller, live_token
from accounts.services.tokens import note_use
from common.errors import NotAuthenticatedError


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer kado_…`. Without the header nobody is calling; a token that is not valid is refused."""

    def authenticate(self, request: Request) -> tuple[Player, Caller] | None:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if not scheme:
            return None
        if scheme.lower() != "bearer":
            raise InvalidTokenError("Send a token: `Authorization: Bearer …`.")
        token = live_token(secret.strip())
        caller = Caller.of(token)
        note_use(caller)
        return token.player, caller

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="kado"'


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # drf-spectacular registers by subclassing
    """How the OpenAPI schema describes bearer tokens."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A personal access token, or a guest's from `POST /api/v1/guests`.",
        }


def caller_of(request: Request) -> Caller:
    """Who is calling; raises `NotAuthenticatedError` for nobody."""
    if not isinstance(request.auth, Caller):
        raise NotAuthenticatedError("Send a token: `Authorization: Bearer …`.")
    return request.auth

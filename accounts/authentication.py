"""Tokens and sessions for the REST API: `request.user` is the `Player`, `request.auth` the `Caller`."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, CSRFCheck
from rest_framework.request import Request

from accounts.errors import CsrfError, InvalidTokenError
from accounts.models import Player
from accounts.selectors.callers import Caller, player_and_caller
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
        player, caller = player_and_caller(secret.strip())
        note_use(caller)
        return player, caller

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="kado"'


def _nothing(request: HttpRequest) -> HttpResponse:
    """The view that Django's check of CSRF wants to be given, and does not call."""
    return HttpResponse()


class SessionAuthentication(BaseAuthentication):
    """The cookie of a browser that is signed in. What changes something needs the header `X-CSRFToken` as well.

    The header's value is in the cookie `csrftoken`, which pages of other sites cannot read.
    """

    def authenticate(self, request: Request) -> tuple[Player, Caller] | None:
        if settings.SESSION_COOKIE_NAME not in request.COOKIES:
            return None
        django_request = request._request
        player, key = django_request.user, django_request.session.session_key
        if not isinstance(player, Player) or key is None:
            return None
        check = CSRFCheck(_nothing)
        check.process_request(django_request)
        if check.process_view(django_request, _nothing, (), {}) is not None:
            raise CsrfError("Send the value of the cookie `csrftoken` in the header `X-CSRFToken`.")
        get_token(django_request)  # so that a client that has no such cookie yet gets one
        return player, Caller.of_session(player, key)


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # it registers by subclassing
    """How the OpenAPI schema describes the cookie."""

    target_class = SessionAuthentication
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": settings.SESSION_COOKIE_NAME,
            "description": "A browser that is signed in; with the header `X-CSRFToken` for what changes something.",
        }


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

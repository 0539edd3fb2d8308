"""Third-party apps: what django-oauth-toolkit does here in our way (docs/adr/0019-third-party-apps.md)."""

import secrets
from collections.abc import Collection
from typing import Any
from urllib.parse import urlsplit

from oauth2_provider.models import get_grant_model, get_refresh_token_model
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauthlib.oauth2.rfc6749.errors import InvalidGrantError

from accounts.rules import LOOPBACK
from accounts.selectors.callers import APP_PREFIX
from accounts.services.apps import announce_app_tokens

REFRESH_PREFIX = "kadort_"


def access_token(request: Any) -> str:
    """A new access token: 240 random bits behind a prefix that scanners for leaked secrets can know."""
    return APP_PREFIX + secrets.token_urlsafe(30)


def refresh_token(request: Any) -> str:
    return REFRESH_PREFIX + secrets.token_urlsafe(30)


def is_safe_address(address: str, *, schemes: Collection[str] = ("https",)) -> bool:
    """Whether what is sent there stays secret on the way: HTTPS, or the person's own machine."""
    parts = urlsplit(address)
    return parts.scheme in schemes or (parts.scheme == "http" and parts.hostname in LOOPBACK)


class Validator(OAuth2Validator):
    """A code and a refresh token are good once, also when they come several times at once."""

    def validate_redirect_uri(
        self, client_id: str, redirect_uri: str, request: Any, *args: Any, **kwargs: Any
    ) -> bool:
        registered = super().validate_redirect_uri(client_id, redirect_uri, request)
        return bool(registered) and is_safe_address(redirect_uri)

    def _save_bearer_token(self, token: Any, request: Any, *args: Any, **kwargs: Any) -> None:
        """Issue the tokens and use up what they are issued for, in the caller's one transaction.

        The toolkit checks first and writes later. Whoever revokes the app in between, or comes second, is seen only by
        the lock here.
        """
        if request.grant_type == "refresh_token":
            held = get_refresh_token_model().objects.select_for_update()
            if not held.filter(pk=request.refresh_token_instance.pk, revoked=None).exists():
                raise InvalidGrantError(request=request)
            super()._save_bearer_token(token, request, *args, **kwargs)
            return
        codes = get_grant_model().objects.filter(code=request.code, application=request.client)
        if codes.select_for_update().first() is None:
            raise InvalidGrantError(request=request)
        super()._save_bearer_token(token, request, *args, **kwargs)
        codes.delete()

    def invalidate_authorization_code(self, *args: Any, **kwargs: Any) -> None:
        """The code went with the token that it was good for."""

    def revoke_token(
        self, token: str, token_type_hint: str, request: Any, *args: Any, **kwargs: Any
    ) -> None:
        """As the toolkit does; and the sockets that were opened with it hear of it."""
        with announce_app_tokens(secret=token):
            super().revoke_token(token, token_type_hint, request, *args, **kwargs)

"""Third-party apps: registered by players, let in and sent away by players."""

import secrets
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from oauth2_provider.models import AccessToken, Application, Grant, RefreshToken

from accounts.errors import NotForGuestsError, TooManyAppsError, UnknownAppError
from accounts.models import Player
from accounts.selectors.callers import checksum_of, credential_of_app_token
from accounts.services.tokens import announce_end

MAX_APPS = 10
"""Apps that one player may have registered."""


def register_app(
    *,
    player_id: int,
    name: str,
    redirect_uris: Collection[str],
    origins: Collection[str] = (),
    keeps_secret: bool = False,
) -> tuple[Application, str]:
    """A new app of the player's, and its secret, shown this once; empty for one that cannot keep a secret.

    The addresses must have been checked. Raises `NotForGuestsError` and `TooManyAppsError`.
    """
    with transaction.atomic():
        owner = Player.objects.select_for_update().get(pk=player_id)
        if owner.kind == Player.Kind.GUEST:
            raise NotForGuestsError("Sign in, then register your app.")
        if Application.objects.filter(user=owner).count() >= MAX_APPS:
            raise TooManyAppsError(f"You have {MAX_APPS} apps: delete one first.")
        secret = secrets.token_urlsafe(36) if keeps_secret else ""
        app = Application.objects.create(
            user=owner,
            name=name,
            redirect_uris=" ".join(redirect_uris),
            allowed_origins=" ".join(origins),
            client_type="confidential" if keeps_secret else "public",
            authorization_grant_type="authorization-code",
            client_secret=secret,
        )
    return app, secret


def change_app(
    *,
    player_id: int,
    client_id: str,
    name: str,
    redirect_uris: Collection[str],
    origins: Collection[str],
) -> None:
    """Other words or addresses for the player's own app. Raises `UnknownAppError`."""
    changed = Application.objects.filter(user_id=player_id, client_id=client_id).update(
        name=name,
        redirect_uris=" ".join(redirect_uris),
        allowed_origins=" ".join(origins),
        updated=timezone.now(),
    )
    if not changed:
        raise UnknownAppError


def delete_app(*, player_id: int, client_id: str) -> None:
    """The player's own app is gone, and with it every access that people gave it. Raises `UnknownAppError`."""
    with transaction.atomic():
        own = Application.objects.select_for_update().filter(user_id=player_id, client_id=client_id)
        app = own.first()
        if app is None:
            raise UnknownAppError
        with announce_app_tokens(application=app):
            app.delete()


def revoke_app(*, player_id: int, client_id: str) -> None:
    """The app may do nothing for the player any more, at once. Raises `UnknownAppError` if it may not now.

    Refreshing locks the row of its token, so it comes before this and its new tokens are seen here, or after and it
    is refused (accounts/oauth.py).
    """
    mine = {"user_id": player_id, "application__client_id": client_id}
    with transaction.atomic():
        codes, _ = Grant.objects.filter(**mine).delete()
        refreshed = RefreshToken.objects.filter(**mine, revoked=None).update(revoked=timezone.now())
        # A second look: who was refreshing meanwhile has put in new ones before giving way.
        RefreshToken.objects.filter(**mine, revoked=None).update(revoked=timezone.now())
        with announce_app_tokens(user_id=player_id, application__client_id=client_id):
            accesses, _ = AccessToken.objects.filter(**mine).delete()
        if not (codes or refreshed or accesses):
            raise UnknownAppError


@contextmanager
def announce_app_tokens(*, secret: str | None = None, **which: object) -> Iterator[None]:
    """Say of those access tokens that the block ends, that they are over.

    `secret` is of an access token or of a refresh token, whose access token is meant then.
    """
    tokens = AccessToken.objects.filter(**which)
    if secret is not None:
        checksum = checksum_of(secret)
        own, paired = Q(token_checksum=checksum), Q(refresh_token__token_checksum=checksum)
        tokens = tokens.filter(own | paired)
    with transaction.atomic():
        before = dict(tokens.values_list("pk", "user_id"))
        yield
        left = AccessToken.objects.filter(pk__in=before).values_list("pk", flat=True)
        for token_id in before.keys() - set(left):
            announce_end(credential_of_app_token(token_id), before[token_id])

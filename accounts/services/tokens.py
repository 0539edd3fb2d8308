"""Personal access tokens: issued, used, revoked."""

import secrets
from collections.abc import Collection

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.errors import UnknownTokenError
from accounts.models import AccessToken
from accounts.rules import Scope
from accounts.selectors.callers import PREFIX, Caller, credential_of_token, digest_of
from accounts.signals import credential_ended
from common.clock import now_ms, to_datetime

USE_GRANULARITY_MS = 3_600_000
"""A token's last use is written at most this often: reading must not cost a write."""


def issue_token(
    *,
    player_id: int,
    scopes: Collection[str],
    label: str = "",
    expires_at: int | None = None,
    secret: str | None = None,
) -> tuple[AccessToken, str]:
    """A new token and its secret, which nobody can be shown again. `expires_at` is in milliseconds.

    Raises ValueError for an unknown scope. `secret` is for callers that must be able to repeat their answer.
    """
    secret = secret or PREFIX + secrets.token_urlsafe(30)
    token = AccessToken.objects.create(
        player_id=player_id,
        label=label,
        digest=digest_of(secret),
        hint=secret[-4:],
        scopes=sorted(Scope(scope).value for scope in set(scopes)),
        expires_at=None if expires_at is None else to_datetime(expires_at),
    )
    return token, secret


def revoke_token(*, player_id: int, token_id: int) -> None:
    """The player's token stops working; `credential_ended` is sent after the commit. Revoking twice is no error.

    Raises `UnknownTokenError` for what is not the player's token.
    """
    with transaction.atomic():
        owned = AccessToken.objects.filter(pk=token_id, player_id=player_id)
        if owned.filter(revoked_at=None).update(revoked_at=timezone.now()):
            announce_end(credential_of_token(token_id), player_id)
        elif not owned.exists():
            raise UnknownTokenError


def revoke_all_tokens(*, player_id: int) -> None:
    """All personal tokens of the player stop working."""
    live = AccessToken.objects.filter(player_id=player_id, revoked_at=None)
    for token_id in list(live.select_for_update().values_list("pk", flat=True)):
        announce_end(credential_of_token(token_id), player_id)
    live.update(revoked_at=timezone.now())


def announce_end(credential: str, player_id: int) -> None:
    """Send `credential_ended` when the transaction commits."""
    transaction.on_commit(
        lambda: credential_ended.send(None, credential=credential, player_id=player_id), robust=True
    )


def note_use(caller: Caller, *, now: int | None = None) -> None:
    """Remember that the caller's token is in use, to the hour; most calls write nothing."""
    now = now_ms() if now is None else now
    due = now - USE_GRANULARITY_MS
    if caller.token_id is None or (caller.last_used_at is not None and caller.last_used_at > due):
        return
    not_since = Q(last_used_at=None) | Q(last_used_at__lte=to_datetime(due))
    AccessToken.objects.filter(not_since, pk=caller.token_id).update(last_used_at=to_datetime(now))

"""Who is calling: from a token's secret to a player and what the token allows."""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.errors import InvalidTokenError, MissingScopeError
from accounts.models import AccessToken
from common.clock import from_datetime

PREFIX = "kado_"
SECRET_LENGTH = len(PREFIX) + 40


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever sent a request or opened a socket. Times are milliseconds; `token_id` is None without a token."""

    player_id: int
    name: str
    kind: str
    scopes: frozenset[str]
    token_id: int | None = None
    expires_at: int | None = None
    last_used_at: int | None = None

    @classmethod
    def of(cls, token: AccessToken) -> "Caller":
        """The caller that a live token stands for; `token.player` should be loaded."""
        return cls(
            player_id=token.player_id,
            name=token.player.name,
            kind=token.player.kind,
            scopes=frozenset(token.scopes),
            token_id=token.pk,
            expires_at=from_datetime(token.expires_at) if token.expires_at else None,
            last_used_at=from_datetime(token.last_used_at) if token.last_used_at else None,
        )

    def require(self, scope: str) -> None:
        """Raise `MissingScopeError` unless the token has the scope."""
        if scope not in self.scopes:
            raise MissingScopeError(f"This needs a token with the scope `{scope}`.", scope=scope)


def digest_of(secret: str) -> bytes:
    """What is kept of a secret. It has 240 random bits, so one fast hash is enough."""
    return hashlib.sha256(secret.encode()).digest()


def _live() -> QuerySet[AccessToken]:
    return AccessToken.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=timezone.now()),
        revoked_at=None,
        player__is_active=True,
    )


def live_token(secret: str) -> AccessToken:
    """The token of this secret with its player, in one query.

    Raises `InvalidTokenError`, the same for malformed, unknown, expired and revoked, and for a banned player.
    """
    if len(secret) == SECRET_LENGTH and secret.startswith(PREFIX):
        token = _live().select_related("player").filter(digest=digest_of(secret)).first()
        if token is not None:
            return token
    raise InvalidTokenError("Send a token that is neither expired nor revoked.")


def authenticate(secret: str) -> Caller:
    """Who the secret belongs to; raises `InvalidTokenError`."""
    return Caller.of(live_token(secret))


def live_token_ids(ids: Collection[int]) -> set[int]:
    """Those of the tokens that are still good for anything, in one query."""
    return set(_live().filter(pk__in=ids).values_list("pk", flat=True))


def tokens_of(player_id: int) -> list[AccessToken]:
    """The player's tokens that are good for something, the oldest first."""
    return list(_live().filter(player_id=player_id))

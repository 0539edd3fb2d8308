"""Who is calling: from a token's secret, or a session, to a player and what they may do."""

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.models import Session
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from oauth2_provider.models import AccessToken as AppToken

from accounts.errors import (
    InvalidTokenError,
    MissingScopeError,
    NotForAppsError,
    NotForGuestsError,
)
from accounts.models import AccessToken, Player
from accounts.rules import GUEST_SCOPES, PERSON_SCOPES, scopes_of
from common.clock import from_datetime

PREFIX = "kado_"
SECRET_LENGTH = len(PREFIX) + 40
APP_PREFIX = "kadoat_"
"""Access tokens of third-party apps begin so; django-oauth-toolkit issues and keeps them."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever sent a request or opened a socket. Times are milliseconds.

    Of `token_id` (a personal token), `app_token_id` (an app's) and `session_key` one is set.
    """

    player_id: int
    name: str
    kind: str
    scopes: frozenset[str]
    token_id: int | None = None
    expires_at: int | None = None
    last_used_at: int | None = None
    session_key: str | None = None
    app_token_id: int | None = None

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

    @classmethod
    def of_app(cls, token: AppToken) -> "Caller":
        """The caller that an app's live access token stands for; `token.user` should be loaded."""
        return cls(
            player_id=token.user_id,
            name=token.user.name,
            kind=token.user.kind,
            scopes=frozenset(token.scope.split()) & PERSON_SCOPES,
            expires_at=from_datetime(token.expires),
            app_token_id=token.pk,
        )

    @classmethod
    def of_session(cls, player: Player, session_key: str) -> "Caller":
        """Somebody signed in with a browser: everything that the player may do."""
        scopes = frozenset(scopes_of(player.kind))
        return cls(player.pk, player.name, player.kind, scopes, session_key=session_key)

    @property
    def credential(self) -> str:
        """What the caller came in with, by a name that tells nothing: it travels in control messages."""
        if self.session_key is not None:
            return credential_of_session(self.session_key)
        if self.app_token_id is not None:
            return credential_of_app_token(self.app_token_id)
        return credential_of_token(self.token_id or 0)

    def require(self, scope: str) -> None:
        """Raise `MissingScopeError` unless the token has the scope; `NotForGuestsError` where no guest's could."""
        if scope not in self.scopes:
            if self.kind == Player.Kind.GUEST and scope not in GUEST_SCOPES:
                raise NotForGuestsError
            raise MissingScopeError(f"This needs a token with the scope `{scope}`.", scope=scope)

    def require_no_app(self) -> None:
        """Raise `NotForAppsError` for an app: it must not give itself what its user could not take back."""
        if self.app_token_id is not None:
            raise NotForAppsError


def credential_of_token(token_id: int) -> str:
    return f"token:{token_id}"


def credential_of_app_token(token_id: int) -> str:
    return f"app:{token_id}"


def credential_of_session(key: str) -> str:
    """A session's key opens the account, so it is told by its digest."""
    return f"session:{hashlib.sha256(key.encode()).hexdigest()}"


def digest_of(secret: str) -> bytes:
    """What is kept of a secret. It has 240 random bits, so one fast hash is enough."""
    return hashlib.sha256(secret.encode()).digest()


def checksum_of(secret: str) -> str:
    """The same, as django-oauth-toolkit keeps it."""
    return hashlib.sha256(secret.encode()).hexdigest()


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


def player_and_caller(secret: str) -> tuple[Player, Caller]:
    """Who the secret of a token belongs to, and what it allows; raises `InvalidTokenError`."""
    if not secret.startswith(APP_PREFIX):
        token = live_token(secret)
        return token.player, Caller.of(token)
    known = _live_app_tokens().select_related("user").filter(token_checksum=checksum_of(secret))
    app_token = known.first()
    if app_token is None:
        raise InvalidTokenError("Refresh the token, or ask the player again.")
    return app_token.user, Caller.of_app(app_token)


def _live_app_tokens() -> QuerySet[Any]:
    now = timezone.now()
    living: QuerySet[Any] = AppToken.objects.filter(
        expires__gt=now, application__isnull=False, user__is_active=True
    )
    return living


def authenticate(secret: str) -> Caller:
    """Who the secret belongs to; raises `InvalidTokenError`."""
    return player_and_caller(secret)[1]


def caller_of_session(key: str) -> Caller:
    """Who is signed in by this session; raises `InvalidTokenError` for one that is over, or is nobody's."""
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    player = get_user(
        request
    )  # checks the backend, the digest of the password, and that nobody has banned the player
    if not isinstance(player, Player):
        raise InvalidTokenError("Sign in again.")
    return Caller.of_session(player, key)


def live_token_ids(ids: Collection[int]) -> set[int]:
    """Those of the tokens that are still good for anything, in one query."""
    return set(_live().filter(pk__in=ids).values_list("pk", flat=True))


def live_credentials(callers: Iterable[Caller]) -> set[str]:
    """The credentials of those callers that may still go on; at most one query for each kind of credential."""
    callers = list(callers)
    alive: set[str] = set()
    if tokens := {caller.token_id for caller in callers if caller.token_id is not None}:
        alive.update(map(credential_of_token, live_token_ids(tokens)))
    if app_tokens := {c.app_token_id for c in callers if c.app_token_id is not None}:
        living = _live_app_tokens().filter(pk__in=app_tokens).values_list("pk", flat=True)
        alive.update(map(credential_of_app_token, living))
    if sessions := {c.session_key: c.player_id for c in callers if c.session_key is not None}:
        alive.update(map(credential_of_session, _live_sessions(sessions)))
    return alive


def _live_sessions(players: dict[str, int]) -> set[str]:
    """The keys of sessions that have not ended, of players who are not banned."""
    keys = Session.objects.filter(pk__in=players, expire_date__gt=timezone.now())
    active = Player.objects.filter(pk__in=set(players.values()), is_active=True)
    ids: set[Any] = set(active.values_list("pk", flat=True))
    return {key for key in keys.values_list("pk", flat=True) if players[key] in ids}


def tokens_of(player_id: int) -> list[AccessToken]:
    """The player's tokens that are good for something, the oldest first."""
    return list(_live().filter(player_id=player_id))

"""Third-party apps, as their owners and their users see them."""

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from oauth2_provider.models import AccessToken, Application, RefreshToken

from accounts.errors import UnknownAppError


@dataclass(frozen=True, slots=True)
class AppGrant:
    """An app that may do something for a player: who registered it, what it may do, and since when."""

    client_id: str
    name: str
    owner: str
    scopes: tuple[str, ...]
    since: datetime


def grants_of(player_id: int) -> list[AppGrant]:
    """The apps that have access for the player, by name; the widest scopes that any of their tokens has."""
    access = AccessToken.objects.filter(user_id=player_id, application__isnull=False)
    living = access.filter(expires__gt=timezone.now()) | access.filter(
        pk__in=RefreshToken.objects.filter(user_id=player_id, revoked=None).values("access_token")
    )
    found: dict[str, AppGrant] = {}
    for token in living.select_related("application__user").order_by(
        "application__name", "created"
    ):
        app = token.application
        before = found.get(app.client_id)
        scopes = {*token.scope.split(), *(before.scopes if before else ())}
        found[app.client_id] = AppGrant(
            client_id=app.client_id,
            name=app.name,
            owner=app.user.name if app.user else "",
            scopes=tuple(sorted(scopes)),
            since=before.since if before else token.created,
        )
    return list(found.values())


def apps_of(player_id: int) -> list[Application]:
    """The apps that the player has registered, the oldest first."""
    return list(Application.objects.filter(user_id=player_id).order_by("pk"))


def app_of(player_id: int, client_id: str) -> Application:
    """An app that the player has registered; raises `UnknownAppError`."""
    app = Application.objects.filter(user_id=player_id, client_id=client_id).first()
    if app is None:
        raise UnknownAppError
    return app


def is_app_origin(origin: str) -> bool:
    """Whether some app has registered pages of this origin, which may then call the API."""
    listed = Application.objects.filter(allowed_origins__contains=origin)
    return any(origin in app.allowed_origins.split() for app in listed)

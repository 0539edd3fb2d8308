"""The last step of social-auth's pipeline: who the person is here. The steps before it are social-auth's own."""

from typing import Any

from social_django.strategy import DjangoStrategy

from accounts.models import Player
from accounts.services.sign_in import Identity, sign_in

GUEST = "guest-signing-in"
"""The session's key for the id of the guest who has begun to sign in."""


def enter(
    *,
    strategy: DjangoStrategy,
    backend: Any,
    uid: str,
    response: dict[str, Any],
    details: dict[str, Any],
    user: Player | None = None,
    id_key: str = "",
    **_: Any,
) -> dict[str, Any]:
    """Find or make the player. `user` is a registered player who is signed in and adds an identity.

    The view gets the `SignedIn` as `player.social_user`.
    """
    # Only the claim itself counts: a provider that does not say so has verified nothing.
    verified = response.get("email_verified") is True
    # Not social-auth's `username`: for some providers it is a part of the e-mail address.
    names = (response.get("preferred_username"), details.get("first_name"), details.get("fullname"))
    identity = Identity(
        provider=backend.name,
        uid=uid,
        id_key=id_key,
        email=str(details.get("email") or "") if verified else None,
        names=tuple(name for name in names if isinstance(name, str) and name),
    )
    entered = sign_in(
        identity=identity,
        guest_id=strategy.session_get(GUEST),
        player_id=user.pk if user else None,
    )
    return {"user": entered.player, "social": entered, "is_new": entered.new}

"""How Django signs people in: by a provider, or, staff only, by a password."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.http import HttpRequest

from accounts.models import Player

PATH = "accounts.backends.PlayerBackend"


class PlayerBackend(ModelBackend):
    """The one backend of all sessions, whichever way somebody came in: it is asked anew at every request.

    A banned player's sessions end by it, as theirs are the accounts that may not authenticate.
    """

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> Player | None:
        """The member of staff of this name and password. Nobody else has a password that is worth guessing at."""
        player = super().authenticate(request, username, password, **kwargs)
        return player if player is not None and player.is_staff else None

"""How often a player and an app may call. What is left of it goes into the answer by config/guard.py."""

from typing import Any, Final

from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from accounts.selectors import Caller
from common.errors import RateLimitedError
from common.limits import Limit, take_all, wait_of

PLAYER: Final = Limit("player", burst=600, interval_ms=20)
"""For whom a token or session stands, by whatever device."""
APP: Final = Limit("app", burst=6_000, interval_ms=2)
"""For an app, all its users together."""


class CallerThrottle(BaseThrottle):
    """The limits of whoever calls, once that is known. The middleware writes into the answer what is left of them."""

    def allow_request(self, request: Request, view: Any) -> bool:
        """Raises `RateLimitedError`, so that the refusal is like the others."""
        caller = request.auth
        if not isinstance(caller, Caller):
            return True
        wanted = [(PLAYER, str(caller.player_id))]
        if caller.app_id is not None:
            wanted.append((APP, str(caller.app_id)))
        taken = take_all(wanted)
        request._request.taken = taken  # type: ignore[attr-defined]  # the middleware looks for it
        if wait := wait_of(taken):
            raise RateLimitedError(f"Come back in {-(-wait // 1000)} s.", retry_after_ms=wait)
        return True

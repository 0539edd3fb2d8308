"""In and out: by a provider, or as a guest."""

import logging
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import REDIRECT_FIELD_NAME, login, logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST
from social_core.actions import do_auth
from social_core.backends.utils import load_backends
from social_core.exceptions import (
    AuthCanceled,
    AuthCredentialError,
    AuthInputError,
    AuthSessionError,
    SocialAuthBaseException,
)
from social_core.utils import setting_name
from social_django.utils import load_strategy, psa

from accounts import backends
from accounts.errors import InvalidTokenError
from accounts.models import Player
from accounts.pipeline import GUEST
from accounts.selectors.callers import credential_of_session, live_token
from accounts.services.people import new_guest
from accounts.services.sign_in import How, SignedIn
from accounts.services.tokens import announce_end
from common.errors import KadoError
from common.headers import LEADING_AWAY

logger = logging.getLogger(__name__)

WORDS = {
    How.RETURNED: "Welcome back, {name}.",
    How.JOINED: "Welcome back, {name}. This sign-in was added, because its e-mail address is yours.",
    How.LINKED: "You can sign in by this too from now on.",
    How.UPGRADED: "You have an account now. Everything that you played as a guest is yours. "
    "You are called {name}; choose another name if you like.",
    How.CREATED: "You have an account now. You are called {name}; choose another name if you like.",
}
LEFT = "{guest} was a guest of its own: what it played stays with it, because you had an account already."


@never_cache
@require_GET
def sign_in_page(request: HttpRequest) -> HttpResponse:
    """The ways in."""
    return _page(request)


def _page(request: HttpRequest, refusal: str = "", status: int = 200) -> HttpResponse:
    providers = []
    strategy = load_strategy(request)
    for name, backend in load_backends(settings.AUTHENTICATION_BACKENDS).items():
        title = getattr(settings, setting_name(name, "TITLE"), "") or backend.get_title(strategy)
        providers.append({"name": name, "title": title})
    answer = render(
        request,
        "accounts/sign_in.html",
        {
            "providers": providers,
            "next": _next(request, request.GET.get(REDIRECT_FIELD_NAME, "")),
            "refusal": refusal,
        },
        status=status,
    )
    answer.headers["Content-Security-Policy"] = LEADING_AWAY
    return answer


@never_cache
@require_POST
@sensitive_post_parameters("token")
@psa("sign-in-complete")
def begin(request: HttpRequest, backend: str) -> HttpResponse:
    """Off to the provider. The guest who is signed in here, or whose token the form has, is remembered meanwhile."""
    request.session.pop(REDIRECT_FIELD_NAME, None)
    request.session.pop(GUEST, None)
    guest: Any = request.user
    if token := request.POST.get("token", "").strip():
        try:
            guest = live_token(token).player
        except InvalidTokenError as error:
            return _page(request, f"The guest's token is not valid. {error.detail}", 400)
    if isinstance(guest, Player) and guest.kind == Player.Kind.GUEST:
        request.session[GUEST] = guest.pk
    try:
        started: HttpResponse = do_auth(request.backend, redirect_name=REDIRECT_FIELD_NAME)  # type: ignore[attr-defined]  # `psa` sets it
    except SocialAuthBaseException as error:
        return _refused(request, error)
    return started


@never_cache
@csrf_exempt  # providers come here; what they bring must fit the `state` in the session
@psa("sign-in-complete")
def complete(request: HttpRequest, backend: str) -> HttpResponse:
    """Back from the provider."""
    here = request.user
    registered = here if isinstance(here, Player) and here.kind != Player.Kind.GUEST else None
    try:
        player = request.backend.complete(user=registered, redirect_name=REDIRECT_FIELD_NAME)  # type: ignore[attr-defined]  # as above
    except SocialAuthBaseException as error:
        return _refused(request, error)
    except KadoError as error:
        return _page(request, error.detail, error.status)
    entered: SignedIn = player.social_user
    target = _next(request, request.session.pop(REDIRECT_FIELD_NAME, "")) or "account"
    request.session.pop(GUEST, None)
    _let_in(request, player)
    messages.success(request, WORDS[entered.how].format(name=player.name))
    if entered.guest_left:
        messages.info(request, LEFT.format(guest=entered.guest_left))
    return redirect(target)


def _refused(request: HttpRequest, error: SocialAuthBaseException) -> HttpResponse:
    """The sign-in page, with what went wrong in our words: a provider's may hold anything."""
    if isinstance(error, AuthCanceled):
        return _page(request, "You did not allow it, so nothing was changed.", HTTPStatus.FORBIDDEN)
    if isinstance(error, AuthSessionError | AuthInputError | AuthCredentialError):
        text = "This sign-in was used already, is too old, or was begun in another browser. Start again."
        return _page(request, text, HTTPStatus.BAD_REQUEST)
    logger.warning("sign-in failed: %s at %s", error.code, error.stage)
    return _page(request, f"The provider's answer is no use: {error.code}.", HTTPStatus.BAD_GATEWAY)


@never_cache
@require_POST
def as_guest(request: HttpRequest) -> HttpResponse:
    """Start without an account: the session is all that a guest has here."""
    if not isinstance(request.user, Player):
        _let_in(request, new_guest())
        messages.info(
            request, "You play as a guest. Sign in whenever you like, and keep everything."
        )
    return redirect(_next(request, request.POST.get(REDIRECT_FIELD_NAME, "")) or "account")


@never_cache
@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session, and with it the sockets that were opened by it."""
    player, key = request.user, request.session.session_key
    logout(request)
    if isinstance(player, Player) and key is not None:
        announce_end(credential_of_session(key), player.pk)
    return redirect("home")


def _let_in(request: HttpRequest, player: Player) -> None:
    """A new session for the player; sockets of the one before end with it."""
    key, before = request.session.session_key, request.user
    login(request, player, backend=backends.PATH)
    if isinstance(before, Player) and key is not None:
        announce_end(credential_of_session(key), before.pk)


def _next(request: HttpRequest, address: str) -> str:
    """The address to go to afterwards, if it is one of ours."""
    here = url_has_allowed_host_and_scheme(
        address, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return address if here else ""

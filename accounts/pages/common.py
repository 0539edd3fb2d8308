"""What the pages share."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts.models import Player
from common.errors import KadoError

P = ParamSpec("P")
Page = Callable[Concatenate[HttpRequest, P], HttpResponse]


def player_of(request: HttpRequest) -> Player:
    """Who is signed in; for pages that ask for it."""
    if not isinstance(request.user, Player):
        raise TypeError("the page does not ask who is calling")
    return request.user


def for_players(page: Page[P]) -> Page[P]:
    """A page for whoever is signed in, guests too; others are led to the sign-in page."""
    return login_required(page)


def action(page: Page[P]) -> Page[P]:
    """A form's target: a refusal is told on the account page, which is where all forms stand."""

    @wraps(page)
    def wrapper(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            return page(request, *args, **kwargs)
        except KadoError as error:
            messages.error(request, error.detail)
            return redirect("account")

    return wrapper

"""A player's account: name, sign-ins, tokens."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from accounts import selectors
from accounts.models import Player
from accounts.pages.common import action, for_players, player_of
from accounts.rules import scopes_of
from accounts.selectors.sign_ins import sign_ins_of
from accounts.services.people import become_bot, change_name
from accounts.services.tokens import issue_token, revoke_token


class TokenForm(forms.Form):
    """A new personal token."""

    label = forms.CharField(max_length=60, required=False)
    scopes = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple)

    def __init__(self, *args: Any, allowed: Iterable[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["scopes"]
        assert isinstance(field, forms.MultipleChoiceField)
        field.choices = [(str(scope), str(scope)) for scope in sorted(allowed)]


@never_cache
@require_GET
@for_players
def account(request: HttpRequest) -> HttpResponse:
    """Everything about the account on one page."""
    return _page(request)


def _page(request: HttpRequest, **more: Any) -> HttpResponse:
    player = player_of(request)
    return render(
        request,
        "accounts/account.html",
        {
            "player": player,
            "guest": player.kind == Player.Kind.GUEST,
            "names": selectors.name_history(player.pk),
            "sign_ins": sign_ins_of(player.pk),
            "tokens": selectors.tokens_of(player.pk),
            "token_form": TokenForm(allowed=scopes_of(player.kind)),
            **more,
        },
    )


@require_POST
@for_players
@action
def choose_name(request: HttpRequest) -> HttpResponse:
    """Change the name."""
    player = change_name(player_id=player_of(request).pk, name=request.POST.get("name", "").strip())
    messages.success(request, f"You are called {player.name}.")
    return redirect("account")


@require_POST
@for_players
@action
def make_bot(request: HttpRequest) -> HttpResponse:
    """The account is a bot's from now on."""
    if request.POST.get("for_ever") != "on":
        messages.error(request, "Say that you know: there is no way back.")
        return redirect("account")
    player = become_bot(player_id=player_of(request).pk)
    messages.success(request, f"{player.name} is a bot.")
    return redirect("account")


@never_cache
@require_POST
@for_players
def new_token(request: HttpRequest) -> HttpResponse:
    """Issue a token; its secret stands on the page that answers, and nowhere else."""
    player = player_of(request)
    form = TokenForm(request.POST, allowed=scopes_of(player.kind))
    if not form.is_valid():
        return _page(request, token_form=form)
    _, secret = issue_token(player_id=player.pk, **form.cleaned_data)
    return _page(request, secret=secret)


@require_POST
@for_players
@action
def end_token(request: HttpRequest, token_id: int) -> HttpResponse:
    """Revoke a token."""
    revoke_token(player_id=player_of(request).pk, token_id=token_id)
    messages.success(request, "The token is revoked.")
    return redirect("account")

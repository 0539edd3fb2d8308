"""Third-party apps: let in and sent away, registered and changed; and the toolkit's endpoints, a little stricter."""

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from oauth2_provider.models import Grant
from oauth2_provider.views import AuthorizationView, RevokeTokenView, TokenView

from accounts.models import Player
from accounts.oauth import is_safe_address
from accounts.pages.common import action, for_players, player_of
from accounts.selectors.apps import app_of, apps_of, grants_of
from accounts.services.apps import change_app, delete_app, register_app, revoke_app
from common.errors import KadoError
from common.headers import LEADING_AWAY


class AddressesField(forms.CharField):
    """Addresses, one a line; `origins` are those without a path."""

    def __init__(self, *, origins: bool = False, **options: Any) -> None:
        self.origins = origins
        super().__init__(widget=forms.Textarea(attrs={"rows": 3}), max_length=2_000, **options)

    def to_python(self, value: Any) -> Any:
        return (super().to_python(value) or "").split()

    def prepare_value(self, value: Any) -> Any:
        return value if isinstance(value, str) else "\n".join(value or [])

    def validate(self, value: Any) -> None:
        super().validate(value)
        for address in value:
            parts = _parts(address)
            if (
                not is_safe_address(address)
                or not parts.hostname
                or "@" in parts.netloc
                or "#" in address
            ):
                raise ValidationError(
                    f"{address}: it must begin with https://, or with http:// on the person’s own machine "
                    "(127.0.0.1, localhost), and have no # and no @."
                )
            if self.origins and address != f"{parts.scheme}://{parts.netloc}":
                raise ValidationError(
                    f"{address}: an origin has no path, such as https://app.example."
                )

    def run_validators(self, value: Any) -> None:
        super().run_validators("\n".join(value))


def _parts(address: str) -> Any:
    try:
        return urlsplit(address)
    except ValueError:
        raise ValidationError(f"{address} is no address.") from None


class AppForm(forms.Form):
    """An app as its owner describes it."""

    name = forms.CharField(max_length=60, help_text="What people are asked to allow.")
    redirect_uris = AddressesField(
        label="Redirect addresses", help_text="Where people come back to, one a line, exactly."
    )
    origins = AddressesField(
        origins=True,
        required=False,
        label="Origins",
        help_text="Of pages that call the API from a browser, one a line.",
    )


class NewAppForm(AppForm):
    keeps_secret = forms.BooleanField(
        required=False,
        label="It runs on a server and can keep a secret",
        help_text="Not for apps in a browser or on a person’s machine.",
    )


@never_cache
@for_players
def apps(request: HttpRequest) -> HttpResponse:
    """The apps that have access, and the player's own ones; a form for a new one."""
    form = NewAppForm(request.POST or None)
    more: dict[str, Any] = {}
    if request.method == "POST" and form.is_valid():
        try:
            app, secret = register_app(player_id=player_of(request).pk, **form.cleaned_data)
        except KadoError as error:
            form.add_error(None, error.detail)
        else:
            form, more = NewAppForm(), {"new": app, "secret": secret}
    player = player_of(request)
    context = {
        "grants": grants_of(player.pk),
        "apps": apps_of(player.pk),
        "form": form,
        "guest": player.kind == Player.Kind.GUEST,
        **more,
    }
    return render(request, "accounts/apps.html", context)


@never_cache
@for_players
@action
def app(request: HttpRequest, client_id: str) -> HttpResponse:
    """One of the player's own apps, to be changed."""
    player = player_of(request)
    own = app_of(player.pk, client_id)
    before = {
        "name": own.name,
        "redirect_uris": own.redirect_uris.split(),
        "origins": own.allowed_origins.split(),
    }
    form = AppForm(request.POST or None, initial=before)
    if request.method == "POST" and form.is_valid():
        change_app(player_id=player.pk, client_id=client_id, **form.cleaned_data)
        messages.success(request, f"{form.cleaned_data['name']} is changed.")
        return redirect("apps")
    return render(request, "accounts/app.html", {"app": own, "form": form})


@require_POST
@for_players
@action
def remove(request: HttpRequest, client_id: str) -> HttpResponse:
    """Delete one of the player's own apps."""
    delete_app(player_id=player_of(request).pk, client_id=client_id)
    messages.success(request, "The app is deleted, and all its access has ended.")
    return redirect("apps")


@require_POST
@for_players
@action
def revoke(request: HttpRequest, client_id: str) -> HttpResponse:
    """Take an app's access back."""
    revoke_app(player_id=player_of(request).pk, client_id=client_id)
    messages.success(request, "The app has no access any more.")
    return redirect("apps")


# The endpoints of OAuth


def _has_null(request: HttpRequest) -> bool:
    """PostgreSQL has no text with NUL in it, and the toolkit asks it without looking."""
    sent = [*request.GET.values(), *request.POST.values(), request.headers.get("Authorization", "")]
    return any("\0" in str(value) for value in sent)


class Strict:
    """Answers as RFC 6749 wants it, instead of failing at the database."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if _has_null(request):
            return JsonResponse({"error": "invalid_request"}, status=400)
        answer: HttpResponseBase = super().dispatch(request, *args, **kwargs)  # type: ignore[misc]  # a mixin
        return answer


class Authorize(Strict, AuthorizationView):
    """The consent page: for players; a guest is led to sign in first, and keeps everything."""

    template_name = "accounts/authorize.html"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if isinstance(request.user, Player) and request.user.kind == Player.Kind.GUEST:
            return redirect_to_login(request.get_full_path())
        answer = super().dispatch(request, *args, **kwargs)
        answer.headers["Content-Security-Policy"] = LEADING_AWAY
        return answer

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Always ask: an app without a secret could be anybody who uses its name."""
        asked = request.GET.copy()
        asked.pop("approval_prompt", None)
        request.GET = asked  # type: ignore[assignment]  # it is as good, and thrown away with the request
        answer: HttpResponseBase = super().get(request, *args, **kwargs)
        return answer


@method_decorator(csrf_exempt, name="dispatch")  # apps have no cookie
class Token(Strict, TokenView):
    """A code or a refresh token for tokens."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return super().dispatch(request, *args, **kwargs)
        except (
            Grant.DoesNotExist
        ):  # used by somebody else while the toolkit was checking it, step by step
            return JsonResponse({"error": "invalid_grant"}, status=400)


@method_decorator(csrf_exempt, name="dispatch")
class Revoke(Strict, RevokeTokenView):
    """An app gives a token back."""

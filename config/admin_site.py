"""The admin site with a second factor: who has one must show it, and who has none is led to set one up first."""

from typing import Any

from django.conf import settings
from django.contrib.admin import AdminSite
from django.contrib.admin.forms import AdminAuthenticationForm
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern, URLResolver, path
from django_otp import user_has_device
from django_otp.admin import OTPAdminAuthenticationForm, OTPAdminSite
from django_otp.models import Device
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from common.cards import dashboard
from common.clock import now_ms


class LoginForm(OTPAdminAuthenticationForm):
    """Asks for the code of whoever has a device."""

    def clean(self) -> dict[str, Any]:
        self.cleaned_data: dict[str, Any] = AdminAuthenticationForm.clean(self)
        person = self.get_user()
        if person is not None and user_has_device(person):
            self.clean_otp(person)
        return self.cleaned_data

    def _chosen_device(self, user: Any) -> Device | None:
        """Nobody has to choose: the code tells by its form which device it is of."""
        code = "".join(self.cleaned_data.get("otp_token", "").split()).lower()
        self.cleaned_data["otp_token"] = code
        return super()._chosen_device(user) or device_for(user, code)


def device_for(user: Any, code: str) -> Device | None:
    """Whose code this can be: six digits are an app's, anything else is a backup code. Locked, in a transaction.

    Trying all of somebody's devices would count a failure of the others, which then make them wait.
    """
    kind = TOTPDevice if code.isdigit() else StaticDevice
    mine = kind.objects.devices_for_user(user, confirmed=True).order_by("-pk")
    return mine.select_for_update().first()


class Site(OTPAdminSite):
    """Whoever has a device must show its code, whichever way they signed in.

    Whoever has none sees the page that sets one up, and nothing else; where the second factor is optional
    (`KADO_STAFF_SECOND_FACTOR`), they are let in.
    """

    login_form = LoginForm
    index_template = "kado/index.html"

    def __init__(self, name: str = "admin") -> None:
        super().__init__(name)

    def has_permission(self, request: HttpRequest) -> bool:
        if not AdminSite.has_permission(self, request):
            return False
        shown: bool = request.user.is_verified()  # type: ignore[union-attr]  # django-otp's middleware adds it
        return shown or not (settings.STAFF_SECOND_FACTOR or has_device(request))

    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """The page to sign in; staff who are signed in, by a provider perhaps, are led on to the second factor."""
        if AdminSite.has_permission(self, request) and not self.has_permission(request):
            return redirect(f"{self.name}:second-factor")
        return super().login(request, extra_context)  # type: ignore[no-any-return]

    def index(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The dashboard, as far as the viewer may see it, and below it the list of everything."""
        cards = dashboard.show(request.user, now_ms())
        return super().index(request, {**(extra_context or {}), "cards": cards})  # type: ignore[no-any-return]

    def get_urls(self) -> list[URLPattern | URLResolver]:
        from config import devices

        own: list[URLPattern | URLResolver] = [
            path("second-factor/", devices.second_factor, name="second-factor")
        ]
        return own + list(super().get_urls())


def has_device(request: HttpRequest) -> bool:
    """Whether the signed-in person has a second factor; a page asks several times."""
    if "kado.has_device" not in request.META:
        request.META["kado.has_device"] = user_has_device(request.user)
    return bool(request.META["kado.has_device"])

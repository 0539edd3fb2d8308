"""The admin site with a second factor, for those of the staff who have set one up."""

from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.admin.forms import AdminAuthenticationForm
from django.http import HttpRequest
from django_otp import user_has_device
from django_otp.admin import OTPAdminAuthenticationForm, OTPAdminSite


class LoginForm(OTPAdminAuthenticationForm):
    """Asks for the code of whoever has a device."""

    def clean(self) -> dict[str, Any]:
        self.cleaned_data: dict[str, Any] = AdminAuthenticationForm.clean(self)
        person = self.get_user()
        if person is not None and user_has_device(person):
            self.clean_otp(person)
        return self.cleaned_data


class Site(OTPAdminSite):
    """Whoever has a device must show its code, whichever way they signed in; the others are let in without.

    The first of the staff has to come in somehow to set one up, so it cannot be asked of everybody.
    """

    login_form = LoginForm

    def __init__(self, name: str = "admin") -> None:
        super().__init__(name)

    def has_permission(self, request: HttpRequest) -> bool:
        if not AdminSite.has_permission(self, request):
            return False
        shown: bool = request.user.is_verified()  # type: ignore[union-attr]  # django-otp's middleware adds it
        if "kado.has_device" not in request.META:  # a page asks several times
            request.META["kado.has_device"] = user_has_device(request.user)
        return shown or not request.META["kado.has_device"]

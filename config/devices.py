"""The page of the admin site on which staff set up their second factor, show it, and get codes for a lost phone.

The secret lies in an unconfirmed device until the first right code: nobody is locked out by a page that was closed.
"""

from typing import Final

import django_otp
import segno
from django import forms
from django.contrib import admin, messages
from django.contrib.admin import AdminSite
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.debug import sensitive_post_parameters
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from config.admin_site import device_for, has_device

BACKUP_CODES: Final = 10
BACKUP = "backup codes"


class CodeForm(forms.Form):
    """A code of six digits, or a backup code."""

    code = forms.CharField(
        max_length=16,
        widget=forms.TextInput({"autocomplete": "one-time-code", "autofocus": True, "size": 12}),
    )

    def clean_code(self) -> str:
        return "".join(str(self.cleaned_data["code"]).split()).lower()


@never_cache
@csrf_protect
@sensitive_post_parameters()
def second_factor(request: HttpRequest) -> HttpResponseBase:
    """Set a device up, show its code, or see what there is and get new backup codes."""
    if not AdminSite.has_permission(admin.site, request):
        return redirect("admin:login")
    if not has_device(request):
        return _set_up(request)
    if not request.user.is_verified():  # type: ignore[union-attr]  # django-otp's middleware adds it
        return _ask(request)
    return _show(request)


def _ask(request: HttpRequest) -> HttpResponseBase:
    """For somebody who has signed in without a code: by a provider, or before they had a device."""
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            device = device_for(request.user, form.cleaned_data["code"])
            fits = device is not None and device.verify_token(form.cleaned_data["code"])
        if fits:
            django_otp.login(request, device)
            return redirect("admin:index")
        form.add_error("code", "This code does not fit, or was used before.")
    return _page(request, form=form)


def _show(request: HttpRequest) -> HttpResponse:
    """The devices of somebody who has shown one; POST makes new backup codes."""
    fresh = _new_codes(request) if request.method == "POST" else []
    left = StaticToken.objects.filter(device__user=request.user).count()
    return _page(request, devices=_confirmed(request), left=left, fresh=fresh)


def _set_up(request: HttpRequest) -> HttpResponseBase:
    device = _pending(request)
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        if _accept(request, device, form.cleaned_data["code"]):
            messages.success(request, "The second factor is set up.")
            fresh = _new_codes(request)
            return _page(request, devices=[device], left=len(fresh), fresh=fresh)
        form.add_error("code", "This code does not fit. Is the clock of your device right?")
    return _page(request, form=form, qr=_qr(device.config_url), secret=_readable(device))


def _pending(request: HttpRequest) -> TOTPDevice:
    """The device whose secret the page shows, the same one until it is confirmed."""
    mine = TOTPDevice.objects.filter(user=request.user, confirmed=False).order_by("pk")
    return mine.first() or TOTPDevice.objects.create(user=request.user, name="app", confirmed=False)


@transaction.atomic
def _accept(request: HttpRequest, device: TOTPDevice, token: str) -> bool:
    """Confirm the device by its first code, which counts as shown. Wrong codes make the device wait, ever longer."""
    device = TOTPDevice.objects.select_for_update().get(pk=device.pk)
    if not device.verify_is_allowed()[0] or not device.verify_token(token):
        return False
    device.confirmed = True
    device.save()
    django_otp.login(request, device)
    request.META.pop("kado.has_device", None)
    return True


@transaction.atomic
def _new_codes(request: HttpRequest) -> list[str]:
    """Codes that are good once each; those from before are good no more."""
    device, _ = StaticDevice.objects.get_or_create(user=request.user, name=BACKUP)
    device.token_set.all().delete()
    codes = [StaticToken.random_token() for _ in range(BACKUP_CODES)]
    StaticToken.objects.bulk_create(StaticToken(device=device, token=code) for code in codes)
    return codes


def _confirmed(request: HttpRequest) -> list[TOTPDevice]:
    return list(TOTPDevice.objects.filter(user=request.user, confirmed=True).order_by("pk"))


def _qr(address: str) -> SafeString:
    picture = segno.make(address, error="m").svg_inline(scale=5, dark="#000", light="#fff")
    return mark_safe(picture)  # noqa: S308  # squares that segno draws; no text of anybody's is in it


def _readable(device: TOTPDevice) -> str:
    """The secret for typing in, as apps ask for it: base 32 in groups of four."""
    secret = next(
        part.partition("=")[2]
        for part in device.config_url.partition("?")[2].split("&")
        if part.startswith("secret=")
    )
    return " ".join(secret[start : start + 4] for start in range(0, len(secret), 4))


def _page(request: HttpRequest, **context: object) -> HttpResponse:
    site = admin.site
    # Nothing else of the admin: no list of what there is.
    bare: dict[str, object] = {} if site.has_permission(request) else {"available_apps": []}
    return render(
        request,
        "kado/second_factor.html",
        {
            **site.each_context(request),
            "title": "Second factor",
            "is_nav_sidebar_enabled": False,
            **bare,
            **context,
        },
    )

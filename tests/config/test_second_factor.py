"""The admin site is closed to staff without a second factor, and leads them to set one up."""

import html
import re
import time
from urllib.parse import parse_qs, urlparse

import pytest
from django.test import Client
from django_otp.oath import TOTP
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice
from pytest_django import Settings

from accounts.models import Player
from accounts.services.people import create_player
from config.env import ConfigurationError, Environment

pytestmark = pytest.mark.django_db

PAGE = "/admin/second-factor/"


@pytest.fixture(autouse=True)
def _required(settings: Settings) -> None:
    settings.STAFF_SECOND_FACTOR = True


@pytest.fixture
def root() -> Player:
    return create_player(name="Root", staff=True, password="correct horse")


def _sign_in(**fields: str) -> Client:
    client = Client()
    client.post("/admin/login/", {"username": "Root", "password": "correct horse", **fields})
    return client


def _code(device: TOTPDevice, ahead: int = 0) -> str:
    clock = TOTP(device.bin_key, device.step, device.t0, device.digits)
    clock.time = time.time() + ahead * device.step
    return f"{clock.token():06}"


def _set_up(client: Client) -> tuple[TOTPDevice, list[str]]:
    """As a person does it: the device knows the secret of the page, and the page tells the backup codes."""
    client.get(PAGE)
    device = TOTPDevice.objects.get(user__name="Root")
    page = client.post(PAGE, {"code": _code(device)}).content.decode()
    return device, re.findall(r"<li><code>(\w+)</code>", page)


def test_staff_without_a_device_see_the_page_that_sets_one_up_and_nothing_else(
    root: Player,
) -> None:
    client = _sign_in()
    answer = client.get("/admin/", follow=True)
    assert answer.redirect_chain[-1] == (PAGE, 302)
    page = answer.content.decode()
    assert "kado-qr" in page
    assert "/admin/accounts" not in page
    for closed in ("/admin/accounts/player/", "/admin/otp_totp/totpdevice/", "/admin/jsi18n/"):
        assert client.get(closed).status_code == 302
    (device,) = TOTPDevice.objects.all()
    assert not device.confirmed
    shown = re.search(r"type the secret in: <code>([A-Z2-7 ]+)</code>", page)
    assert shown is not None
    address = parse_qs(urlparse(device.config_url).query)
    assert shown[1].replace(" ", "") == address["secret"][0]
    assert client.get(PAGE).content.decode().count(html.escape(shown[1])) == 1, "the same secret"


def test_the_first_right_code_opens_the_site_and_gives_backup_codes(root: Player) -> None:
    client = _sign_in()
    client.get(PAGE)
    assert "does not fit" in client.post(PAGE, {"code": "000000"}).content.decode()
    assert client.get("/admin/").status_code == 302
    TOTPDevice.objects.get().throttle_reset()
    device, codes = _set_up(client)
    device.refresh_from_db()
    assert device.confirmed
    assert len(codes) == len(set(codes)) == 10
    assert client.get("/admin/").status_code == 200
    # From another browser the code is asked for.
    assert _sign_in().get("/admin/").status_code == 302
    other = _sign_in(otp_token=_code(device, ahead=1))
    assert other.get("/admin/").status_code == 200


def test_a_backup_code_lets_in_once_and_new_ones_replace_the_old(root: Player) -> None:
    first = _sign_in()
    _, codes = _set_up(first)
    assert _sign_in(otp_token=codes[0]).get("/admin/").status_code == 200
    assert _sign_in(otp_token=codes[0]).get("/admin/").status_code == 302
    assert "left: <strong>9</strong>" in first.get(PAGE).content.decode()
    page = first.post(PAGE).content.decode()
    fresh = re.findall(r"<li><code>(\w+)</code>", page)
    assert set(StaticToken.objects.values_list("token", flat=True)) == set(fresh)
    assert not set(fresh) & set(codes)


def test_whoever_comes_by_a_provider_is_asked_for_the_code_alone(root: Player) -> None:
    _, codes = _set_up(_sign_in())
    client = Client()
    client.force_login(root)
    answer = client.get("/admin/", follow=True)
    assert answer.redirect_chain[-1] == (PAGE, 302)
    assert "kado-qr" not in answer.content.decode(), "the device there is cannot be replaced"
    assert client.post(PAGE, {"code": "nonsense"}).status_code == 200
    assert client.get("/admin/").status_code == 302
    StaticDevice.objects.get().throttle_reset()
    code = codes[0].upper()
    assert client.post(PAGE, {"code": f"{code[:4]} {code[4:]}"}).status_code == 302
    assert client.get("/admin/").status_code == 200


def test_players_have_no_page(root: Player) -> None:
    client = Client()
    client.force_login(create_player(name="Ada"))
    for address in (PAGE, "/admin/"):
        assert client.get(address).status_code == 302
    assert Client().get(PAGE).status_code == 302
    assert not TOTPDevice.objects.exists()


def test_where_it_is_optional_staff_are_let_in(root: Player, settings: Settings) -> None:
    settings.STAFF_SECOND_FACTOR = False
    client = _sign_in()
    assert client.get("/admin/").status_code == 200
    _set_up(client)
    assert _sign_in().get("/admin/").status_code == 302, "who has one must show it all the same"


def test_it_is_required_unless_the_environment_says_otherwise() -> None:
    environ = {
        "DATABASE_URL": "postgresql://localhost/kado",
        "REDIS_URL": "redis://localhost",
        "KADO_SECRET_KEY": "x",
    }
    name = "KADO_STAFF_SECOND_FACTOR"
    assert Environment.read(environ).staff_second_factor
    assert Environment.read({**environ, name: "required"}).staff_second_factor
    assert not Environment.read({**environ, name: "optional"}).staff_second_factor
    with pytest.raises(ConfigurationError):
        Environment.read({**environ, name: "no"})

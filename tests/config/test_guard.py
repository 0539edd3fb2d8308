"""What is limited holds over several processes, and every page says what it may load."""

import os
import re
import subprocess
import sys
import time

import pytest
import requests
from django.test import Client
from django_otp.oath import TOTP
from django_otp.plugins.otp_totp.models import TOTPDevice

from accounts.services.people import create_player
from config.env import PROJECT
from config.guard import LIMITS
from config.sign_in import GOOGLE
from tests.support.cluster import Cluster
from tests.support.provider import SECONDS
from tests.support.services import running
from tests.support.town import Person, Town

BURST = {limit.name: limit.burst for _, _, limit in LIMITS}


def post(url: str, address: str = "198.51.100.1", **form: str) -> requests.Response:
    headers = {"X-Forwarded-For": address}
    return requests.post(url, data=form, headers=headers, timeout=SECONDS, allow_redirects=False)


@pytest.mark.slow
def test_guessing_a_password_is_limited_over_all_processes(cluster: Cluster) -> None:
    urls = [f"{cluster.web().url}/admin/login/" for _ in range(2)]
    began, tries = time.monotonic(), 0
    while (answer := post(urls[tries % 2], username="root", password="x")).status_code != 429:
        assert answer.status_code == 403, "no CSRF token, so this is what a try gets"
        tries += 1
        assert tries < 100
    earned = (time.monotonic() - began) / 6
    assert BURST["password"] <= tries <= BURST["password"] + earned + 1
    assert answer.headers["Content-Type"].startswith("text/html")
    assert post(urls[0], "198.51.100.2").status_code == 403, "somebody else is not held up"
    assert requests.get(urls[0], headers={"X-Forwarded-For": "198.51.100.1"}, timeout=SECONDS).ok
    # The other process says the same, and what it says is true.
    waiting = post(urls[(tries + 1) % 2])
    assert waiting.status_code == 429
    time.sleep(int(waiting.headers["Retry-After"]))
    assert post(urls[0]).status_code == 403


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "name"),
    [("/oauth/token", "oauth"), ("/oauth/revoke", "oauth"), ("/api/v1/guests", "guest")],
)
def test_endpoints_that_give_tokens_are_limited(cluster: Cluster, path: str, name: str) -> None:
    url = cluster.web().url + path
    key = f"kado:limit:{name}:203.0.113.9"
    with cluster.redis() as redis:
        clock = redis.time()
        far = clock[0] * 1000 + 3_600_000  # an hour's worth has been taken
        redis.set(key, far, px=3_600_000)
    answer = post(url, "203.0.113.9", grant_type="refresh_token")
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (429, "too-fast")
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert int(answer.headers["Retry-After"]) == -(-problem["retry_after_ms"] // 1000) > 3000
    assert post(url, "203.0.113.10").status_code != 429


@pytest.mark.slow
def test_callers_are_limited_whatever_address_and_process_and_told_what_is_left(
    cluster: Cluster,
) -> None:
    town = Town(cluster, cluster.web())
    ada, ben = town.guest(), town.guest()
    other = cluster.web()
    (number,) = cluster.query("SELECT id FROM accounts_player WHERE name = %s", ada.name)[0]

    def me(url: str, person: Person, address: str) -> requests.Response:
        headers = {"Authorization": f"Bearer {person.token}", "X-Forwarded-For": address}
        return requests.get(f"{url}/api/v1/me", headers=headers, timeout=SECONDS)

    answer = me(town.web.url, ada, "203.0.113.1")
    assert answer.headers["RateLimit-Policy"] == '"address";q=3000;w=6, "player";q=600;w=12'
    assert re.fullmatch(r'"address";r=2999;t=1, "player";r=5\d\d;t=1', answer.headers["RateLimit"])
    with cluster.redis() as redis:
        seconds, _ = redis.time()
        redis.set(f"kado:limit:player:{number}", (seconds + 12 + 2) * 1000, px=60_000)
    wait = 0
    for url, address in ((town.web.url, "203.0.113.2"), (other.url, "203.0.113.3")):
        refused = me(url, ada, address)
        assert (refused.status_code, refused.json()["code"]) == (429, "too-fast")
        assert '"player";r=0;t=1' in refused.headers["RateLimit"]
        wait = int(refused.headers["Retry-After"])
        assert 1 <= wait <= 4
        assert me(url, ben, address).status_code == 200
    time.sleep(wait)
    assert me(town.web.url, ada, "203.0.113.4").status_code == 200


@pytest.mark.django_db
def test_an_ordinary_number_of_tries_is_let_through() -> None:
    """With what an admin sees for a wrong password."""
    client = Client()
    for _ in range(BURST["password"]):
        answer = client.post("/admin/login/", {"username": "root", "password": "x"})
        assert answer.status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/sign-in", "/docs/errors", "/admin/login/", "/api/v1/docs"])
def test_every_page_says_what_it_may_load(path: str) -> None:
    policy = Client().get(path).headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert ("form-action 'self'" in policy) == (path != "/sign-in")


def test_answers_of_the_api_have_no_policy() -> None:
    assert "Content-Security-Policy" not in Client().get("/api/v1/schema").headers


# The second factor


def _code(device: TOTPDevice) -> str:
    clock = TOTP(device.bin_key, device.step, device.t0, device.digits)
    clock.time = time.time()
    return f"{clock.token():06}"


def _enter(**fields: str) -> Client:
    client = Client()
    client.post("/admin/login/", {"username": "Root", "password": "correct horse", **fields})
    return client


@pytest.mark.django_db
def test_who_has_a_second_factor_must_show_it() -> None:
    root = create_player(name="Root", staff=True, password="correct horse")
    assert _enter().get("/admin/").status_code == 200, "nobody is asked for what they have not"
    device = TOTPDevice.objects.create(user=root, name="phone", confirmed=True)
    chosen = {"otp_device": device.persistent_id}
    assert _enter().get("/admin/").status_code == 302
    assert _enter(**chosen, otp_token="000000").get("/admin/").status_code == 302
    device.throttle_reset()
    used = _code(device)
    assert _enter(**chosen, otp_token=used).get("/admin/").status_code == 200
    assert _enter(**chosen, otp_token=used).get("/admin/").status_code == 302, "a code is good once"
    by_provider = Client()
    by_provider.force_login(root)
    assert by_provider.get("/admin/").status_code == 302
    assert by_provider.get("/account").status_code == 200
    page = _enter().get("/admin/login/").content.decode()
    assert "otp_token" in page


# Distributed


def deployed(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    environ = dict(os.environ) | running().addresses()
    environ |= {"KADO_HTTPS": "1", "KADO_SECRET_KEY": "0123456789-abcdefghijklmnopqrstuvwxyz-" * 2}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=PROJECT, env=environ | more, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_the_check_for_deployment_has_nothing_to_say() -> None:
    google = {"KADO_GOOGLE_CLIENT_ID": "x", "KADO_GOOGLE_CLIENT_SECRET": "x"}
    done = deployed("check", "--deploy", "--fail-level", "DEBUG", **google)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no issues" in done.stdout + done.stderr
    insecure = deployed("check", "--deploy", "--fail-level", "WARNING", KADO_HTTPS="0")
    assert insecure.returncode == 1, "the check would have found something"
    assert GOOGLE in deployed(
        "shell", "-c", "from django.conf import settings; print(settings.AUTHENTICATION_BACKENDS)", **google
    ).stdout  # fmt: skip


@pytest.mark.slow
def test_cookies_go_by_https_only_and_http_is_led_there(cluster: Cluster) -> None:
    cluster.environ["KADO_HTTPS"] = "1"
    web = cluster.web()
    plain = requests.get(f"{web.url}/sign-in", timeout=SECONDS, allow_redirects=False)
    assert plain.status_code == 301
    assert plain.headers["Location"] == f"https://127.0.0.1:{web.port}/sign-in"
    by_proxy = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "198.51.100.3"}
    page = requests.get(f"{web.url}/sign-in", headers=by_proxy, timeout=SECONDS)
    assert page.status_code == 200
    assert page.headers["Strict-Transport-Security"] == f"max-age={365 * 24 * 3600}"
    cookies = page.raw.headers.getlist("Set-Cookie")
    assert cookies
    assert all("Secure" in cookie for cookie in cookies)
    assert requests.get(f"{web.url}/healthz", timeout=SECONDS).text == "ok\n"

"""Nothing that is private is in a log: neither what opens an account, nor who somebody is, nor where from."""

import contextlib
import json
import logging
import socket
from typing import Any

import pytest
import requests
from websockets.exceptions import ConnectionClosed, InvalidStatus

from config.logs import hide_private
from tests.support.app import App
from tests.support.provider import SECONDS, Browser, Provider
from tests.support.town import Socket, Town

CLIENT = "203.0.113.77"
CLIENT_6 = "2001:db8:77::1"


def test_texts_of_errors_lose_tokens_and_addresses() -> None:
    entry: dict[str, Any] = {
        "event": "duplicate key: (address)=(ada.l+x@mail.example.org)",
        "exception": f"token kado_{'a' * 40} and kadoat_{'b' * 30}, at /docs/errors#kado",
        "level": "error",
        "count": 3,
    }
    assert hide_private(logging.getLogger(), "error", entry) == {
        "event": "duplicate key: (address)=([address])",
        "exception": "token [token] and [token], at /docs/errors#kado",
        "level": "error",
        "count": 3,
    }


@pytest.mark.slow
def test_no_log_of_any_process_has_anything_private(town: Town, provider: Provider) -> None:
    cluster = town.cluster
    waiting = [
        *(cluster.worker("default", wait=False), cluster.wave(wait=False)),
        *(cluster.sweeper(wait=False), cluster.scheduler(wait=False)),
    ]
    private = {
        *("provider-secret", CLIENT, CLIENT_6, cluster.environ["KADO_SECRET_KEY"]),
        *_sign_in(town, provider),
        *_tokens(town),
    }
    _errors(town, min(secret for secret in private if secret.startswith("kado_")))
    for process in waiting:
        process.wait_until_ready()
        process.stop()

    logs = {process.name: process.log() for process in cluster.processes}
    assert all(logs[process.name] for process in waiting[:1]), "the worker says that it is ready"
    for secret in private:
        assert len(secret) > 6, secret
        for name, log in logs.items():
            assert secret not in log, f"{name} has {secret}"


def _sign_in(town: Town, provider: Provider) -> set[str]:
    """Somebody signs in, fails to, lets an app in, and opens a socket; what of it is private."""
    browser = Browser(town, provider)
    browser.requests.headers["X-Forwarded-For"] = CLIENT
    subject = provider.person(
        name="Grace Logless", email="grace.logless@mail.example.org", email_verified=True
    )
    callback = provider.consent(browser.begin(), subject)
    browser.get(callback, allow_redirects=True)
    replayed = browser.get(callback, allow_redirects=True)
    refused = browser.get(provider.refuse(browser.begin()), allow_redirects=True)
    assert replayed.status_code != 500 != refused.status_code
    app = App.registered(browser, keeps_secret="on")
    code = app.code(browser)
    tokens = app.exchange(code).json()
    again = app.refresh(tokens["refresh_token"]).json()
    app.exchange(code)
    app.refresh("nonsense-of-a-token")
    app.revoke(again["refresh_token"])
    browser.socket().close()
    with (
        contextlib.suppress(ConnectionClosed, InvalidStatus),
        Socket(town, tokens["access_token"]) as late,
    ):
        late.close_code(5)
    secrets = {cookie.value or "" for cookie in browser.requests.cookies}
    secrets |= {tokens["access_token"], tokens["refresh_token"], again["access_token"]}
    secrets |= {again["refresh_token"], code, app.secret, app.verifier}
    return secrets | {"grace.logless@mail.example.org", "nonsense-of-a-token"}


def _tokens(town: Town) -> set[str]:
    """A guest, and a password that is wrong."""
    at: dict[str, Any] = {"X_Forwarded_For": CLIENT_6}
    guest = town.guest()
    _, secret = guest.other_token("play")
    with Socket(town) as first:
        first.say(json.dumps({"type": "auth", "id": "1", "token": secret}))
        first.hear()
    with Socket(town) as wrong:
        wrong.say(json.dumps({"type": "auth", "id": "1", "token": "kado_" + "z" * 40}))
        assert wrong.close_code() == 4401
    assert (
        town.http("GET", "/api/v1/me", Authorization=f"Bearer {'kado_' + 'y' * 40}", **at).status
        == 401
    )
    login = requests.Session()
    login.headers["X-Forwarded-For"] = CLIENT
    address = f"{town.web.url}/admin/login/"
    login.get(address, timeout=SECONDS)
    form = {
        "username": "root",
        "password": "hunter-two-hunter",
        "csrfmiddlewaretoken": login.cookies["csrftoken"],
    }
    assert login.post(address, data=form, timeout=SECONDS).status_code == 200
    return {guest.token, secret, "kado_" + "z" * 40, "kado_" + "y" * 40, "hunter-two-hunter"}


def _errors(town: Town, token: str) -> None:
    """Requests that are no good, with things in them that are private."""
    at: dict[str, Any] = {"X_Forwarded_For": CLIENT, "Authorization": f"Bearer {token}"}
    town.http("POST", "/api/v1/games", raw=token.encode(), **at)
    town.http("GET", f"/api/v1/nowhere?token={token}", **at)
    town.http("GET", "/api/v1/me", Host="elsewhere.example", **at)
    with socket.create_connection(("127.0.0.1", town.web.port)) as connection:
        connection.sendall(f"NONSENSE {token}\r\n\r\n".encode())
        connection.recv(1000)

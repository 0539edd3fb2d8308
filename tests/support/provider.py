"""A real OpenID Connect provider in a process of its own, and a browser that signs in by it."""

import itertools
import json
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from html import unescape
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, urljoin, urlsplit

import requests

from config.processes import dies_with_parent, free_port
from tests.support.process import READY_SECONDS
from tests.support.town import Socket, Town

SECONDS = 40.0
_people = itertools.count(1)


class Provider:
    """oidc-provider-mock: it knows whoever it is told of, and asks for a consent that may be refused."""

    def __init__(self, log: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = log

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "oidc_provider_mock", "--port", str(self.port)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=dies_with_parent(),
            )  # fmt: skip
        deadline = time.monotonic() + READY_SECONDS
        while True:
            try:
                with urllib.request.urlopen(f"{self.url}/jwks", timeout=5):
                    return self
            except (urllib.error.URLError, OSError):
                assert self._process.poll() is None, self._log.read_text()
                assert time.monotonic() < deadline, self._log.read_text()
                time.sleep(0.05)

    def __exit__(self, *details: object) -> None:
        self._process.kill()
        self._process.wait()

    @property
    def environ(self) -> dict[str, str]:
        """What makes a web process use this provider."""
        return {
            "KADO_OIDC_ENDPOINT": self.url,
            "KADO_OIDC_CLIENT_ID": "kado",
            "KADO_OIDC_CLIENT_SECRET": "provider-secret",
            "KADO_OIDC_TITLE": "Test provider",
        }

    def person(self, **claims: Any) -> str:
        """Somebody new with these claims; who they are to the provider."""
        subject = f"subject-{next(_people)}"
        self.knows(subject, **claims)
        return subject

    def knows(self, subject: str, **claims: Any) -> None:
        answer = requests.put(f"{self.url}/users/{subject}", json=claims, timeout=SECONDS)
        assert answer.status_code == 204, answer.text

    def consent(self, address: str, subject: str) -> str:
        """Allow it, as this person, at the provider's page; where the browser is sent then."""
        return self._decide(address, {"sub": subject})

    def refuse(self, address: str) -> str:
        return self._decide(address, {"action": "deny"})

    def _decide(self, address: str, form: dict[str, str]) -> str:
        answer = requests.post(address, data=form, allow_redirects=False, timeout=SECONDS)
        assert answer.status_code == 302, answer.text
        return answer.headers["Location"]


class Browser:
    """Somebody's browser: it keeps cookies, sends forms with their CSRF token, and has a page's origin."""

    def __init__(self, town: Town, provider: Provider | None = None) -> None:
        self.town, self.provider = town, provider
        self.origin = town.web.url
        self.requests = requests.Session()
        # An address of its own, as the proxy in front would tell it: limits are by address.
        number = next(_people)
        self.address = f"10.0.{number >> 8 & 255}.{number & 255}"
        self.requests.headers["X-Forwarded-For"] = self.address

    def get(self, path: str, **options: Any) -> requests.Response:
        return self.send("GET", path, **options)

    def submit(self, page: str, action: str, **fields: str) -> requests.Response:
        """Open a page and send its form for `action`, without following where the answer leads."""
        html = self.get(page).text
        form = re.search(rf'<form[^>]*action="{re.escape(action)}".*?</form>', html, re.DOTALL)
        assert form, f"{page} has no form for {action}:\n{html}"
        hidden = {}
        for field in re.findall(r"<input[^>]*>", form[0]):
            if 'type="hidden"' in field:
                name, value = (re.search(rf'{key}="(.*?)"', field) for key in ("name", "value"))
                assert name
                assert value
                hidden[name[1]] = unescape(value[1])
        return self.send("POST", action, data={**hidden, **fields})

    def api(self, method: str, path: str, body: Any = None, **headers: str) -> requests.Response:
        """Call the API as a page's script would: the cookie, and the proof that the page is ours."""
        if token := self.requests.cookies.get("csrftoken"):
            headers.setdefault("X-CSRFToken", token)
        data = None if body is None else json.dumps(body)
        headers.setdefault("Content-Type", "application/json")
        return self.send(method, f"/api/v1/{path}", data=data, headers=headers)

    def begin(self, page: str = "/sign-in", **fields: str) -> str:
        """Press the button; the provider's address, with everything that the sign-in needs."""
        answer = self.submit(page, "/sign-in/oidc", **fields)
        assert answer.status_code == 302, answer.text
        return answer.headers["Location"]

    def sign_in(self, subject: str, **fields: str) -> requests.Response:
        """All of it, as this person; the page on which it ends."""
        assert self.provider
        callback = self.provider.consent(self.begin(**fields), subject)
        return self.get(callback, allow_redirects=True)

    @property
    def me(self) -> dict[str, Any]:
        answer = self.api("GET", "me")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def socket(self, origin: str | None = None) -> Socket:
        """A socket as a page of `origin` opens one: with this browser's cookies."""
        cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in self.requests.cookies)
        return Socket(self.town, cookies=cookies, origin=origin or self.origin)

    def send(self, method: str, path: str, **options: Any) -> requests.Response:
        options.setdefault("allow_redirects", False)
        options.setdefault("timeout", SECONDS)
        return self.requests.request(method, urljoin(self.town.web.url, path), **options)


def query_of(address: str) -> dict[str, str]:
    """The parameters of an address."""
    return {name: values[-1] for name, values in parse_qs(urlsplit(address).query).items()}

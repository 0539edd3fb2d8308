"""A third-party app: registered by its author in a browser, and what it says to the token endpoint."""

import hashlib
import re
import secrets
from base64 import urlsafe_b64encode
from html import unescape
from typing import Any, Self
from urllib.parse import urlencode

import requests

from tests.support.provider import SECONDS, Browser, query_of

BACK = "https://app.example/back"


class App:
    """A client id, perhaps a secret, and PKCE."""

    def __init__(self, origin: str, client_id: str, secret: str = "") -> None:
        self.origin, self.client_id, self.secret = origin, client_id, secret
        self.verifier = secrets.token_urlsafe(48)

    @classmethod
    def registered(cls, author: Browser, name: str = "App", **fields: str) -> Self:
        """By the form on the author's page."""
        page = author.submit(
            "/account/apps", "/account/apps", name=name, **{"redirect_uris": BACK, **fields}
        )
        shown = dict(re.findall(r'<code id="(client-id|secret)">(.*?)</code>', page.text))
        assert "client-id" in shown, page.text
        return cls(author.origin, shown["client-id"], unescape(shown.get("secret", "")))

    def asks(self, scope: str = "play profile", **changed: str) -> str:
        """The address to which it sends a person; what is changed to nothing is left out."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        query = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": BACK,
            "scope": scope,
            "state": "abc",
            "code_challenge": urlsafe_b64encode(digest).decode().rstrip("="),
            "code_challenge_method": "S256",
        } | changed
        return "/oauth/authorize?" + urlencode({k: v for k, v in query.items() if v})

    def code(self, person: Browser, scope: str = "play profile") -> str:
        """The person allows it."""
        back = query_of(decide(person, self.asks(scope), allow="True").headers["Location"])
        assert back["state"] == "abc"
        return back["code"]

    def tokens(self, person: Browser, scope: str = "play profile") -> dict[str, Any]:
        answer = self.exchange(self.code(person, scope))
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def exchange(self, code: str, **changed: str) -> requests.Response:
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK}
        return self.post("token", **{**form, "code_verifier": self.verifier, **changed})

    def refresh(self, token: str) -> requests.Response:
        return self.post("token", grant_type="refresh_token", refresh_token=token)

    def revoke(self, token: str) -> requests.Response:
        return self.post("revoke", token=token)

    def post(self, endpoint: str, **form: str) -> requests.Response:
        own = {"client_id": self.client_id}
        if self.secret:
            own["client_secret"] = self.secret
        return requests.post(
            f"{self.origin}/oauth/{endpoint}",
            data=own | form,
            timeout=SECONDS,
            allow_redirects=False,
        )


def decide(person: Browser, address: str, **pressed: str) -> requests.Response:
    """Open the consent page and press a button; `allow="True"` or none of it."""
    html = person.get(address).text
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', html))
    assert "client_id" in fields, html
    form = {name: unescape(value) for name, value in fields.items()} | pressed
    answer = person.send("POST", address, data=form)
    assert answer.status_code == 302, answer.text
    return answer

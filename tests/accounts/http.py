"""A client of the HTTP API in the tests' own process."""

import json
import re
from typing import Any

from django.test import Client

from accounts.models import Player
from accounts.services.tokens import issue_token

API = "/api/v1/"
FRESH_KEY = "0b1f8b5e-6f7c-4c55-9f0e-0d2f6b7a1c11"
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


class Http:
    """A client with a token; `get` and the others give (status, body)."""

    def __init__(self, secret: str | None = None) -> None:
        self.client = Client(raise_request_exception=False)
        self.headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}
        self.last: Any = None

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        self.last = self.client.generic(
            method,
            path if path.startswith("/") else API + path,
            b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode(),
            content_type="application/json",
            headers={**self.headers, **names},
        )
        content = self.last.content
        return self.last.status_code, json.loads(content) if content else None

    def get(self, path: str) -> tuple[int, Any]:
        return self.send("GET", path)


def refused(answer: tuple[int, Any]) -> tuple[int, str]:
    status, body = answer
    assert body["status"] == status
    assert {"type", "title", "detail"} <= set(body)
    return status, body["code"]


def as_player(player: Player, *scopes: str) -> Http:
    return Http(issue_token(player_id=player.pk, scopes=scopes or ["profile", "play", "puzzle"])[1])

"""docs/http.md lists exactly the addresses and methods that the code serves, with the scope each asks for."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from accounts.permissions import HasScope
from accounts.rules import GUEST_SCOPES, Scope
from accounts.services import idempotency
from games.territory import api
from tests.docs.pages import CODE, page

PAGE = page("docs/http.md")
METHODS = ("get", "post", "put", "patch", "delete")


def _patterns(
    entries: list[URLPattern | URLResolver], before: str = ""
) -> Iterator[tuple[str, Any]]:
    for entry in entries:
        address = before + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from _patterns(entry.url_patterns, address)
        else:
            yield address, entry.callback


def _served() -> dict[str, Any]:
    served = {}
    for address, view in _patterns(get_resolver().url_patterns):
        if address.startswith("api/v1/"):
            public = re.sub(r"<\w+:(\w+)>", r"{\1}", address.removeprefix("api/v1"))
            for method in METHODS:
                if hasattr(view.view_class, method):
                    served[f"{method.upper()} {public}"] = view.view_class
    return served


def _listed() -> dict[str, str]:
    rows = PAGE.rows("Resources")
    return {row[0].strip("`"): row[1] for row in rows}


def test_the_list_is_what_is_served() -> None:
    assert _listed().keys() == _served().keys()


@pytest.mark.parametrize("scope", list(Scope))
def test_the_scopes_are_those_that_are_asked_for(scope: Scope) -> None:
    wanted = HasScope(scope).__name__
    asks = {
        name
        for name, view in _served().items()
        if wanted in {permission.__name__ for permission in view.permission_classes}
    }
    assert {name for name, said in _listed().items() if said == f"`{scope}`"} == asks


def test_what_is_public_says_so() -> None:
    for name, said in _listed().items():
        names = {permission.__name__ for permission in _served()[name].permission_classes}
        assert said.startswith("none") == (not names or names == {"AllowAny"}), name


def test_scopes_and_limits_are_those_of_the_code() -> None:
    (sentence,) = re.findall(r"Tokens have scopes: (.+?)\.", PAGE.prose)
    assert CODE.findall(sentence) == [scope.value for scope in Scope]
    (guests,) = re.findall(r"A guest's\s+token has (.+?)\.", PAGE.prose)
    assert set(CODE.findall(guests)) == {scope.value for scope in GUEST_SCOPES}
    assert f"at most {api.MAX_EVENTS}" in PAGE.prose
    assert f"For {idempotency.KEPT.total_seconds() / 3600:.0f}\n  hours" in PAGE.prose


def test_the_posts_that_take_an_idempotency_key() -> None:
    answer = Client().get("/api/v1/schema", {"format": "json"})
    schema = json.loads(answer.content)
    takes = {
        f"`POST {address.removeprefix('/api/v1')}`"
        for address, operations in schema["paths"].items()
        for parameter in operations.get("post", {}).get("parameters", [])
        if parameter["name"] == "Idempotency-Key"
    }
    (sentence,) = re.findall(r"- (.+?) take an `Idempotency-Key`", PAGE.prose)
    assert set(re.findall(r"`POST [^`]+`", sentence)) == takes


def test_json_blocks_are_json() -> None:
    for name in ("docs/errors.md", "docs/matchmaking.md"):
        for block in page(name).blocks("json"):
            json.loads(block)

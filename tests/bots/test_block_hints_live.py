"""Hints in runs of the block puzzle through a real queue and a real worker, and the baselines, by the public API."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.support.cluster import Cluster
from tests.support.town import Json, Person, Socket, Town

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def town() -> Iterator[Town]:
    """A web process and one worker for the bots' queue."""
    with Cluster() as cluster:
        own = Town(cluster, cluster.web())
        cluster.worker("bots")
        yield own
        assert own.complaints() == []


def a_run(person: Person, **rules: str) -> str:
    body = {"level": "easy", "board": "8x8", **rules}
    run: str = person.http("POST", "/api/v1/puzzles/runs", body).json["run"]
    return run


def legal(person: Person, run: str) -> list[Json]:
    found: list[Json] = person.http("GET", f"/api/v1/puzzles/runs/{run}/legal-placements").json[
        "placements"
    ]
    return found


def test_a_hint_by_rest_and_by_socket(town: Town) -> None:
    person = town.guest()
    run = a_run(person)
    address = f"/api/v1/puzzles/runs/{run}/hints"
    with Socket(town, person.token) as socket:
        socket.hear()
        for turn in range(3):
            asked = person.http("POST", address)
            assert asked.status in (200, 202)
            socket.until_seen(turn + 1, "inbox")
            given = socket.events("inbox")[turn]["event"]
            assert (given["type"], given["run"], given["turn"]) == ("run_hint_given", run, turn)
            wish = {name: given[name] for name in ("slot", "rotation", "at")}
            assert wish in [{name: each[name] for name in wish} for each in legal(person, run)]
            hint = {name: given[name] for name in ("turn", *wish, "cells", "lines")}
            again = person.http("POST", address, {"turn": turn})
            assert (again.status, again.json) == (200, hint)
            assert socket.told("run.hint", run=run) == hint
            assert socket.told("run.hint", run=run, turn=turn) == hint
            assert socket.refused("run.hint", run=run, turn=turn + 1) == "stale-turn"
            placed = socket.told("run.place", run=run, turn=turn, **wish)
            assert placed["event"]["cells"] == given["cells"]
            assert placed["event"]["lines"] == given["lines"]
    assert person.http("GET", "/api/v1/me/inbox").json["version"] == 3


HINTS: list[tuple[Any, int, str]] = [
    ([], 400, "invalid"),
    ("text", 400, "invalid"),
    ({"turn": -1}, 400, "invalid"),
    ({"turn": 2**31}, 400, "invalid"),
    ({"turn": 0.5}, 400, "invalid"),
    ({"turn": [0]}, 400, "invalid"),
    ({"player": "simple"}, 400, "invalid"),
    ({"turn": 1}, 409, "stale-turn"),
]


@pytest.mark.parametrize(("body", "status", "code"), HINTS, ids=range(len(HINTS)))
def test_a_hint_that_cannot_be(town: Town, body: Any, status: int, code: str) -> None:
    person = town.guest()
    run = a_run(person)
    address = f"/api/v1/puzzles/runs/{run}/hints"
    answer = person.http("POST", address, raw=json.dumps(body).encode())
    assert (answer.status, answer.code) == (status, code)


def test_who_may_not_have_hints(town: Town) -> None:
    person, stranger = town.guest(), town.guest()
    run = a_run(person)
    day = datetime.now(UTC).date().isoformat()
    attempt = person.http("PUT", f"/api/v1/puzzles/daily/{day}/run").json["run"]
    _, profile = person.other_token("profile")
    refused = [
        (stranger.http("POST", f"/api/v1/puzzles/runs/{run}/hints"), 404, "unknown-run"),
        (person.http("POST", f"/api/v1/puzzles/runs/{attempt}/hints"), 403, "hint-not-allowed"),
        (town.http("POST", f"/api/v1/puzzles/runs/{run}/hints"), 401, "not-authenticated"),
        (
            town.http(
                "POST", f"/api/v1/puzzles/runs/{run}/hints", Authorization=f"Bearer {profile}"
            ),
            403,
            "missing-scope",
        ),
    ]
    for answer, status, code in refused:
        assert (answer.status, answer.code) == (status, code)
    with Socket(town, profile) as socket:
        assert socket.refused("run.hint", run=run) == "missing-scope"
    with Socket(town, person.token) as socket:
        assert socket.refused("run.hint", run=attempt) == "hint-not-allowed"


# Baselines


def test_baselines_are_for_everybody_and_are_not_sent_twice(town: Town) -> None:
    address = "/api/v1/puzzles/baselines"
    answer = town.http("GET", address)
    assert answer.status == 200
    figures = answer.json["figures"]
    assert {each["player"] for each in figures} == {"simple", "careful", "patient"}
    assert len(figures) == 30
    again = town.http("GET", address, If_None_Match=answer.headers["ETag"])
    assert (again.status, again.body) == (304, b"")


def test_they_are_a_picture_too(town: Town) -> None:
    address = "/api/v1/puzzles/baselines.svg"
    answer = town.http("GET", f"{address}?theme=dark")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "image/svg+xml"
    assert ET.fromstring(answer.body).tag == "{http://www.w3.org/2000/svg}svg"
    etag = answer.headers["ETag"]
    assert town.http("GET", f"{address}?theme=dark", If_None_Match=etag).status == 304
    assert town.http("GET", f"{address}?theme=print", If_None_Match=etag).status == 200
    assert town.http("GET", f"{address}?theme=pink").code == "invalid"

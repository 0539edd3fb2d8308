"""The schema is true: it generates without a warning, validates, and the server's answers are as it promises."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from django.core.management import call_command

from tests.support.cluster import Cluster
from tests.support.town import Answer, Json, Person, Town

METHODS = {"get", "post", "put", "patch", "delete"}


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Json:
    """As `manage.py spectacular --validate --fail-on-warn` writes it."""
    file = tmp_path_factory.mktemp("schema") / "schema.json"
    call_command(
        "spectacular",
        "--format",
        "openapi-json",
        "--file",
        str(file),
        "--validate",
        "--fail-on-warn",
    )
    written: Json = json.loads(file.read_text())
    return written


def operations(schema: Json) -> list[tuple[str, str, Json]]:
    return [
        (method, path, operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
        if method in METHODS
    ]


def test_it_generates_without_a_warning_and_validates(schema: Json) -> None:
    assert schema["openapi"].startswith("3.1")
    assert {path for _, path, _ in operations(schema)} >= {
        "/api/v1/games",
        "/api/v1/games/{game_id}",
        "/api/v1/games/{game_id}/events",
        "/api/v1/games/{game_id}/moves",
        "/api/v1/games/{game_id}/legal-moves",
        "/api/v1/games/{game_id}/undo",
        "/api/v1/games/{game_id}/hints",
        "/api/v1/games/{game_id}/analysis",
        "/api/v1/games/{game_id}/analysis.svg",
        "/api/v1/games/{game_id}/analysis.blksgf",
        "/api/v1/games/{game_id}/resign",
        "/api/v1/games/{game_id}/board.svg",
        "/api/v1/games/{game_id}/record",
        "/api/v1/games/{game_id}/record.blksgf",
        "/api/v1/guests",
        "/api/v1/me",
    }


def test_every_operation_can_be_refused_and_has_a_name_and_a_text(schema: Json) -> None:
    names = []
    for method, path, operation in operations(schema):
        where = f"{method} {path}"
        assert operation["description"], where
        assert "application/problem+json" in operation["responses"]["default"]["content"], where
        names.append(operation["operationId"])
    assert len(names) == len(set(names))


def test_every_address_of_the_api_is_in_the_schema(schema: Json) -> None:
    from django.urls import get_resolver

    def addresses(resolver: Any, prefix: str = "/") -> Iterator[str]:
        for entry in resolver.url_patterns:
            here = prefix + str(entry.pattern)
            if hasattr(entry, "url_patterns"):
                yield from addresses(entry, here)
            else:
                yield here

    served = {a.replace("<str:", "{").replace(">", "}") for a in addresses(get_resolver())}
    served = {a for a in served if a.startswith("/api/v1/")} - {"/api/v1/schema", "/api/v1/docs"}
    assert served == set(schema["paths"]) - {"/api/v1/schema", "/api/v1/docs"}


@pytest.fixture(scope="module")
def town() -> Iterator[Town]:
    with Cluster() as cluster:
        yield Town(cluster, cluster.web())


@pytest.mark.slow
def test_the_answers_are_as_the_schema_says(town: Town, schema: Json) -> None:
    person = town.guest()
    game = person.game()
    move = person.legal(game)["moves"][0]["move"]
    against_cpu = person.game(level="starter")
    over = person.game()
    person.http("POST", f"/api/v1/games/{over}/moves", {"ply": 0, "move": move})
    person.http("POST", f"/api/v1/games/{over}/resign")
    seen = {
        ("post", "/api/v1/guests"): town.http("POST", "/api/v1/guests"),
        ("get", "/api/v1/me"): person.http("GET", "/api/v1/me"),
        ("get", "/api/v1/me/inbox"): person.http("GET", "/api/v1/me/inbox"),
        ("put", "/api/v1/me/inbox/read"): person.http("PUT", "/api/v1/me/inbox/read", {"up_to": 1}),
        ("get", "/api/v1/me/tokens"): person.http("GET", "/api/v1/me/tokens"),
        ("post", "/api/v1/games"): person.http(
            "POST", "/api/v1/games", {"variant": "junior", "seats": [{}, {}]}
        ),
        ("get", "/api/v1/games/{game_id}"): person.http("GET", f"/api/v1/games/{game}"),
        ("post", "/api/v1/games/{game_id}/moves"): person.http(
            "POST", f"/api/v1/games/{game}/moves", {"ply": 0, "move": move}
        ),
        ("get", "/api/v1/games/{game_id}/events"): person.http(
            "GET", f"/api/v1/games/{game}/events"
        ),
        ("get", "/api/v1/games/{game_id}/legal-moves"): person.http(
            "GET", f"/api/v1/games/{game}/legal-moves"
        ),
        ("post", "/api/v1/games/{game_id}/undo"): person.http(
            "POST", f"/api/v1/games/{game}/undo", {"ply": 1}
        ),
        ("post", "/api/v1/games/{game_id}/hints"): person.http(
            "POST", f"/api/v1/games/{against_cpu}/hints"
        ),
        ("get", "/api/v1/games/{game_id}/hints"): person.http(
            "GET", f"/api/v1/games/{against_cpu}/hints"
        ),
        ("post", "/api/v1/games/{game_id}/resign"): person.http(
            "POST", f"/api/v1/games/{game}/resign"
        ),
        ("post", "/api/v1/games/{game_id}/analysis"): person.http(
            "POST", f"/api/v1/games/{over}/analysis"
        ),
        ("get", "/api/v1/games/{game_id}/analysis"): person.http(
            "GET", f"/api/v1/games/{over}/analysis"
        ),
        ("get", "/api/v1/games/{game_id}/record"): person.http(
            "GET", f"/api/v1/games/{game}/record"
        ),
        ("get", "/api/v1/pools"): person.http("GET", "/api/v1/pools"),
        **puzzle_answers(person),
        **friends_answers(town),
    }
    for (method, path), answer in seen.items():
        promised = schema["paths"][path][method]["responses"][str(answer.status)]
        _validate(
            schema,
            promised["content"]["application/json"]["schema"],
            answer.json,
            f"{method} {path}",
        )


def friends_answers(town: Town) -> dict[tuple[str, str], Answer]:
    """What friends, requests and blocks answer, with something in each list."""
    ada, ben, eve, joe = (town.member(name) for name in ("Ada", "Ben", "Eve", "Joe"))
    ben.http("PUT", "/api/v1/friend-requests/Ada")
    eve.http("PUT", "/api/v1/friend-requests/Ada")
    ben.game()
    put = {
        ("put", f"/api/v1/{path}/{{name}}"): ada.http("PUT", f"/api/v1/{path}/{name}")
        for path, name in (("friends", "Ben"), ("friend-requests", "Joe"), ("blocks", "Eve"))
    }
    joe.http("PUT", "/api/v1/friend-requests/Ben")
    listed = ("friends", "blocks", "games/friends")
    return {
        **put,
        **{("get", f"/api/v1/{path}"): ada.http("GET", f"/api/v1/{path}") for path in listed},
        ("get", "/api/v1/friend-requests"): ben.http("GET", "/api/v1/friend-requests"),
        ("put", "/api/v1/me/requests-from"): ada.http(
            "PUT", "/api/v1/me/requests-from", {"requests_from": "nobody"}
        ),
    }


def puzzle_answers(person: Person) -> dict[tuple[str, str], Answer]:
    """One answer of each operation of puzzles that gives JSON."""
    base = "/api/v1/puzzles"
    begun = person.http("POST", f"{base}/runs", {"level": "easy", "undo": "once"})
    run = f"{base}/runs/{begun.json['run']}"
    legal = person.http("GET", f"{run}/legal-placements")
    first = legal.json["placements"][0]
    wish = {"turn": 0} | {name: first[name] for name in ("slot", "rotation", "at")}
    today = person.http("GET", f"{base}/daily")
    day = f"{base}/daily/{today.json['date']}"
    one = f"{base}/runs/{{run_id}}"
    return {
        ("post", f"{base}/runs"): begun,
        ("get", f"{base}/runs"): person.http("GET", f"{base}/runs"),
        ("get", one): person.http("GET", run),
        ("get", f"{one}/legal-placements"): legal,
        ("post", f"{one}/placements"): person.http("POST", f"{run}/placements", wish),
        ("post", f"{one}/undo"): person.http("POST", f"{run}/undo", {"turn": 1}),
        ("get", f"{one}/events"): person.http("GET", f"{run}/events"),
        ("get", f"{one}/record"): person.http("GET", f"{run}/record"),
        ("get", f"{base}/daily"): today,
        ("get", f"{base}/daily/{{date}}"): person.http("GET", day),
        ("put", f"{base}/daily/{{date}}/run"): person.http("PUT", f"{day}/run"),
        ("get", f"{base}/bests"): person.http("GET", f"{base}/bests"),
    }


@pytest.mark.slow
def test_refusals_are_as_the_schema_says(town: Town, schema: Json) -> None:
    person: Person = town.guest()
    refusals: list[tuple[str, str, Answer]] = [
        ("get", "/api/v1/games/{game_id}", person.http("GET", "/api/v1/games/NoSuchGame00")),
        ("post", "/api/v1/games", person.http("POST", "/api/v1/games", {})),
        ("get", "/api/v1/me", town.http("GET", "/api/v1/me")),
    ]
    for method, path, answer in refusals:
        assert answer.code
        promised = schema["paths"][path][method]["responses"]["default"]["content"][
            "application/problem+json"
        ]
        _validate(schema, promised["schema"], answer.json, f"{method} {path}")


@pytest.mark.slow
def test_the_schema_is_served_to_everybody(town: Town, schema: Json) -> None:
    answer = town.http("GET", "/api/v1/schema", Accept="application/vnd.oai.openapi+json")
    assert answer.status == 200
    assert answer.json["paths"].keys() == schema["paths"].keys()
    assert town.http("GET", "/api/v1/docs", Accept="text/html").status == 200


def _validate(schema: Json, promised: Json, body: Any, where: str) -> None:
    whole = {**promised, "components": schema["components"]}
    try:
        jsonschema.validate(body, whole, cls=jsonschema.Draft202012Validator)
    except jsonschema.ValidationError as error:
        raise AssertionError(f"{where}: {error.message} at {list(error.absolute_path)}") from None

"""Every refusal over HTTP is a problem document with a documented code, whoever refuses."""

import json
from collections.abc import Iterator
from http.client import HTTPConnection

import pytest
from django.core.exceptions import RequestDataTooBig
from django.http import Http404
from rest_framework import exceptions

from common import errors
from config import problems
from config.problems import document, handle, problem_of
from tests.support.cluster import Cluster
from tests.support.town import Town

KINDS = [
    (Http404(), 404, "not-found"),
    (exceptions.NotFound(), 404, "not-found"),
    (exceptions.ValidationError({"ply": ["no"]}), 400, "invalid"),
    (exceptions.ParseError(), 400, "invalid"),
    (exceptions.MethodNotAllowed("PUT"), 405, "method-not-allowed"),
    (exceptions.UnsupportedMediaType("text/plain"), 415, "unsupported-media-type"),
    (exceptions.NotAcceptable(), 406, "not-acceptable"),
    (exceptions.NotAuthenticated(), 401, "not-authenticated"),
    (exceptions.AuthenticationFailed(), 401, "not-authenticated"),
    (exceptions.PermissionDenied(), 403, "forbidden"),
    (exceptions.Throttled(wait=3), 429, "too-fast"),
    (exceptions.Throttled(), 429, "too-fast"),
    (RequestDataTooBig(), 413, "too-large"),
    (errors.ConflictError("no", version=3), 409, "conflict"),
    (errors.UnavailableError(), 503, "unavailable"),
    (ValueError("secret detail"), 500, "internal"),
]


@pytest.mark.parametrize(("error", "status", "code"), KINDS, ids=lambda part: type(part).__name__)
def test_every_error_becomes_a_problem(error: Exception, status: int, code: str) -> None:
    response = handle(error, {})
    assert response.status_code == status
    assert response.content_type == "application/problem+json"
    assert response.data["code"] == code
    assert response.data["status"] == status
    assert response.data["type"] == f"/docs/errors#{code}"
    json.dumps(response.data)
    assert "secret" not in str(response.data)


def test_a_wait_is_said_twice_and_works() -> None:
    response = handle(exceptions.Throttled(wait=2.2), {})
    assert response["Retry-After"] == "3"
    assert 2_000 < response.data["retry_after_ms"] <= 3_000


def test_401_says_how() -> None:
    assert handle(errors.NotAuthenticatedError(), {})["WWW-Authenticate"] == 'Bearer realm="kado"'


def test_what_nobody_foresaw_is_not_guessed() -> None:
    assert problem_of(RuntimeError(), "here").code == "internal"


def _classes(base: type[errors.KadoError]) -> Iterator[type[errors.KadoError]]:
    yield base
    for each in base.__subclasses__():
        yield from _classes(each)


def test_codes_are_stable_kebab_case_and_each_means_one_status() -> None:
    import config.socket  # noqa: F401  # it has codes of its own

    statuses: dict[str, set[int]] = {}
    for each in _classes(errors.KadoError):
        assert each.code == each.code.lower()
        assert set(each.code) <= set("abcdefghijklmnopqrstuvwxyz-")
        assert 400 <= each.status < 600
        assert each.title
        statuses.setdefault(each.code, set()).add(each.status)
    assert {code for code, several in statuses.items() if len(several) > 1} == set()


def test_a_problem_carries_its_data() -> None:
    assert document(errors.ConflictError("Because.", version=3)) == {
        "type": "/docs/errors#conflict",
        "code": "conflict",
        "title": "The request does not fit the current state",
        "status": 409,
        "detail": "Because.",
        "version": 3,
    }
    assert problems.CONTENT_TYPE == "application/problem+json"


# Over HTTP


@pytest.fixture(scope="module")
def town() -> Iterator[Town]:
    with Cluster() as cluster:
        own = Town(cluster, cluster.web())
        yield own
        assert own.complaints() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/api/v1/nothing",
        "/api/v2/games",
        "/api/v1/games/",
        "/%00",
        "/%FF",
        "/" + "x" * 3_000,
    ],
)
def test_no_such_address(town: Town, path: str) -> None:
    for method in ("GET", "POST"):
        answer = town.http(method, path, {} if method == "POST" else None)
        assert (answer.status, answer.code) == (404, "not-found")


@pytest.mark.slow
@pytest.mark.parametrize("host", ["evil.example", "", "a b", "☃"])
def test_another_host_is_refused(town: Town, host: str) -> None:
    connection = HTTPConnection("127.0.0.1", town.web.port, timeout=10)
    try:
        connection.putrequest("GET", "/api/v1/me", skip_host=True)
        connection.putheader("Host", host.encode())
        connection.endheaders()
        answer = connection.getresponse()
        assert answer.status == 400
        body = answer.read()
        if answer.headers["Content-Type"] == "application/problem+json":
            assert json.loads(body)["code"] == "invalid"
    finally:
        connection.close()

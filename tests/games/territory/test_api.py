"""Games by REST against a real server: what is right, and everything that can be wrong with a request."""

import json
import random
from typing import Any

import pytest

from tests.support.town import Answer, Json, Person, Town, all_at_once

pytestmark = pytest.mark.slow


def address(game: str, rest: str = "") -> str:
    return f"/api/v1/games/{game}{rest}"


# What is right


def test_creating_says_where_it_is(person: Person) -> None:
    answer = person.http("POST", "/api/v1/games", {"variant": "classic-3", "seats": [{}, {}, {}]})
    game = answer.json["game"]
    assert (answer.status, answer.headers["Location"]) == (201, address(game))
    assert person.http("GET", answer.headers["Location"]).json["game"] == game


def test_creating_twice_with_one_key_creates_once(person: Person) -> None:
    body = {"variant": "duo", "seats": [{}, {}]}
    key = "0123456789abcdef-" + str(random.getrandbits(64))
    first = person.http("POST", "/api/v1/games", body, Idempotency_Key=key)
    again = person.http("POST", "/api/v1/games", body, Idempotency_Key=key)
    assert first.status == again.status == 201
    assert first.json == again.json
    other = person.http("POST", "/api/v1/games", {**body, "variant": "junior"}, Idempotency_Key=key)
    assert other.code == "idempotency-key-reused"


def test_a_move_said_again_gets_the_first_answer(person: Person) -> None:
    game = person.game()
    body = {"ply": 0, "move": person.legal(game)["moves"][3]["move"]}
    for _ in range(3):
        assert person.http("POST", address(game, "/moves"), body).json == {"version": 2}
    assert len(person.http("GET", address(game, "/events")).json["events"]) == 2


@pytest.mark.parametrize(
    "accept", ["*/*", "image/svg+xml", "image/avif,image/webp,image/*,*/*;q=0.8"]
)
def test_the_board_is_a_picture_for_everybody(town: Town, person: Person, accept: str) -> None:
    game = person.game()
    answer = town.http("GET", address(game, "/board.svg"), Accept=accept)
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "image/svg+xml"
    assert answer.body.startswith(b"<svg")


def test_anybody_may_look_on_but_only_players_play(town: Town, person: Person) -> None:
    game, stranger = person.game(), town.guest()
    move = person.legal(game)["moves"][0]["move"]
    assert stranger.http("GET", address(game)).status == 200
    assert stranger.http("GET", address(game, "/events")).status == 200
    assert (
        stranger.http("POST", address(game, "/moves"), {"ply": 0, "move": move}).code
        == "not-seated"
    )
    assert stranger.http("POST", address(game, "/resign")).code == "not-seated"


# At once


def test_the_same_move_twenty_times_at_once(person: Person) -> None:
    game = person.game()
    body = {"ply": 0, "move": person.legal(game)["moves"][0]["move"]}
    answers = all_at_once(20, lambda _: person.http("POST", address(game, "/moves"), body))
    assert [(a.status, a.json) for a in answers] == [(200, {"version": 2})] * 20
    assert len(person.http("GET", address(game, "/events")).json["events"]) == 2


def test_more_games_at_once_than_there_are_connections(person: Person) -> None:
    """Requests that wait for a commit hold no connection that the commit needs."""
    games = [person.game() for _ in range(30)]
    move = person.legal(games[0])["moves"][0]["move"]

    def play(number: int) -> Answer:
        return person.http("POST", address(games[number], "/moves"), {"ply": 0, "move": move})

    answers = all_at_once(30, play)
    assert [(a.status, a.json) for a in answers] == [(200, {"version": 2})] * 30


# What is wrong


NEW_GAMES: list[Any] = [
    None,
    [],
    "text",
    7,
    {},
    {"variant": "duo"},
    {"seats": [{}, {}]},
    {"variant": "trigo", "seats": [{}, {}]},
    {"variant": 7, "seats": [{}, {}]},
    {"variant": None, "seats": [{}, {}]},
    {"variant": ["duo"], "seats": [{}, {}]},
    {"variant": {"a": 1}, "seats": [{}, {}]},
    {"variant": "duo\x00", "seats": [{}, {}]},
    {"variant": "\ud800", "seats": [{}, {}]},
    {"variant": "x" * 20_000, "seats": [{}, {}]},
    {"variant": "duo", "seats": None},
    {"variant": "duo", "seats": {}},
    {"variant": "duo", "seats": 2},
    {"variant": "duo", "seats": "ab"},
    {"variant": "duo", "seats": []},
    {"variant": "duo", "seats": [{}]},
    {"variant": "duo", "seats": [{}, {}, {}]},
    {"variant": "duo", "seats": [{}] * 2_000},
    {"variant": "duo", "seats": [None, None]},
    {"variant": "duo", "seats": [[], []]},
    {"variant": "duo", "seats": ["", ""]},
    {"variant": "duo", "seats": [{}, {"level": ""}]},
    {"variant": "duo", "seats": [{}, {"level": None}]},
    {"variant": "duo", "seats": [{}, {"level": 5}]},
    {"variant": "duo", "seats": [{}, {"level": True}]},
    {"variant": "duo", "seats": [{}, {"level": ["starter"]}]},
    {"variant": "duo", "seats": [{}, {"level": "grandmaster"}]},
    {"variant": "duo", "seats": [{}, {"level": "x" * 17}]},
    {"variant": "duo", "seats": [{}, {"level": "\x00"}]},
    {"variant": "duo", "seats": [{}, {"level": "\ud800"}]},
    {"variant": "duo", "seats": [{"level": "starter"}, {"level": "starter"}]},
]
GAME_CODES = {"invalid", "wrong-seats", "unknown-level", "unknown-variant"}


@pytest.mark.parametrize("body", NEW_GAMES, ids=range(len(NEW_GAMES)))
def test_a_game_that_cannot_be(town: Town, person: Person, body: Any) -> None:
    before = town.cluster.query("SELECT count(*) FROM territory_game")
    answer = person.http("POST", "/api/v1/games", raw=json.dumps(body).encode())
    assert answer.status == 400
    assert answer.code in GAME_CODES
    assert town.cluster.query("SELECT count(*) FROM territory_game") == before


MOVES: list[tuple[Any, int, str]] = [
    (None, 400, "invalid"),
    ([], 400, "invalid"),
    ("e10", 400, "invalid"),
    ({}, 400, "invalid"),
    ({"ply": 0}, 400, "invalid"),
    ({"move": "e10"}, 400, "invalid"),
    ({"ply": None, "move": "e10"}, 400, "invalid"),
    ({"ply": -1, "move": "e10"}, 400, "invalid"),
    ({"ply": 10_001, "move": "e10"}, 400, "invalid"),
    ({"ply": 10**30, "move": "e10"}, 400, "invalid"),
    ({"ply": 1.5, "move": "e10"}, 400, "invalid"),
    ({"ply": True, "move": "e10"}, 400, "invalid"),
    ({"ply": "zero", "move": "e10"}, 400, "invalid"),
    ({"ply": "٣", "move": "e10"}, 409, "stale-ply"),
    ({"ply": [0], "move": "e10"}, 400, "invalid"),
    ({"ply": {}, "move": "e10"}, 400, "invalid"),
    ({"ply": 0, "move": None}, 400, "invalid"),
    ({"ply": 0, "move": ""}, 400, "invalid"),
    ({"ply": 0, "move": ["e10"]}, 400, "invalid"),
    ({"ply": 0, "move": {}}, 400, "invalid"),
    ({"ply": 0, "move": 5}, 400, "malformed-move"),
    ({"ply": 0, "move": "x" * 1_001}, 400, "invalid"),
    ({"ply": 0, "move": "x" * 1_000}, 400, "malformed-move"),
    ({"ply": 0, "move": "a\x00"}, 400, "invalid"),
    ({"ply": 0, "move": "\ud800"}, 400, "invalid"),
    ({"ply": 0, "move": "☃,é"}, 400, "malformed-move"),
    ({"ply": 0, "move": " "}, 400, "malformed-move"),
    ({"ply": 0, "move": "a1"}, 422, "illegal-move"),
    ({"ply": 0, "move": "e10,e12"}, 422, "illegal-move"),
    ({"ply": 0, "move": "z99"}, 422, "illegal-move"),
    ({"ply": 1, "move": "e10"}, 409, "stale-ply"),
    ({"ply": 10_000, "move": "e10"}, 409, "stale-ply"),
]


@pytest.mark.parametrize(("body", "status", "code"), MOVES, ids=range(len(MOVES)))
def test_a_move_that_cannot_be(person: Person, body: Any, status: int, code: str) -> None:
    game = person.game()
    before = person.http("GET", address(game)).body
    answer = person.http("POST", address(game, "/moves"), raw=json.dumps(body).encode())
    assert (answer.status, answer.code) == (status, code)
    if code in ("malformed-move", "illegal-move", "stale-ply"):
        assert answer.json["version"] == 1
    if code == "invalid" and isinstance(body, dict) and body.get("move") != "\ud800":
        assert answer.json["fields"]
    assert person.http("GET", address(game)).body == before


UNDOS: list[tuple[Any, int, str]] = [
    (None, 400, "invalid"),
    ([], 400, "invalid"),
    ({}, 400, "invalid"),
    ({"ply": None}, 400, "invalid"),
    ({"ply": -1}, 400, "invalid"),
    ({"ply": 10_001}, 400, "invalid"),
    ({"ply": 10**30}, 400, "invalid"),
    ({"ply": 1.5}, 400, "invalid"),
    ({"ply": True}, 400, "invalid"),
    ({"ply": "one"}, 400, "invalid"),
    ({"ply": [1]}, 400, "invalid"),
    ({"ply": 1, "seat": 0}, 400, "invalid"),
    ({"ply": 0}, 409, "stale-ply"),
    ({"ply": 2}, 409, "stale-ply"),
    ({"ply": 10_000}, 409, "stale-ply"),
]


@pytest.mark.parametrize(("body", "status", "code"), UNDOS, ids=range(len(UNDOS)))
def test_an_undo_that_cannot_be(person: Person, body: Any, status: int, code: str) -> None:
    game = person.game()
    move = {"ply": 0, "move": person.legal(game)["moves"][0]["move"]}
    person.http("POST", address(game, "/moves"), move)
    before = person.http("GET", address(game)).body
    answer = person.http("POST", address(game, "/undo"), raw=json.dumps(body).encode())
    assert (answer.status, answer.code) == (status, code)
    assert person.http("GET", address(game)).body == before


@pytest.mark.parametrize(
    "after",
    [
        "-1",
        "x",
        "",
        "1.5",
        "1e3",
        "%00",
        "%F0%9F%99%82",
        "99999999999",
        "9" * 5_000,
        "0x1",
    ],
)
def test_a_cursor_that_is_none(person: Person, after: str) -> None:
    from urllib.parse import quote

    game = person.game()
    answer = person.http("GET", address(game, "/events?after=" + quote(after, safe="%+")))
    assert (answer.status, answer.code) == (400, "invalid")


def test_a_cursor_beyond_the_end_gets_no_events(person: Person) -> None:
    game = person.game()
    for after in (1, 2, 999_999_999):
        assert person.http("GET", address(game, f"/events?after={after}")).json == {"events": []}


@pytest.mark.parametrize(
    "game",
    ["NoSuchGame00", "x", "x" * 400, "a%00b", "%E2%98%83", "%FF", "..", "a.b", "%27%22--", "%2F"],
)
def test_a_game_that_does_not_exist(town: Town, person: Person, game: str) -> None:
    answers = [
        person.http("GET", address(game)),
        person.http("GET", address(game, "/events")),
        person.http("GET", address(game, "/legal-moves")),
        person.http("GET", address(game, "/record")),
        person.http("GET", address(game, "/record.blksgf")),
        town.http("GET", address(game, "/board.svg")),
        person.http("POST", address(game, "/moves"), {"ply": 0, "move": "e10"}),
        person.http("POST", address(game, "/undo"), {"ply": 0}),
        person.http("POST", address(game, "/resign")),
        person.http("GET", address(game, "/hints")),
        person.http("POST", address(game, "/hints")),
    ]
    assert {answer.status for answer in answers} == {404}
    assert {answer.code for answer in answers} <= {"unknown-game", "not-found"}


ENDPOINTS = [
    ("POST", "/api/v1/games"),
    ("GET", "/api/v1/games/{}"),
    ("GET", "/api/v1/games/{}/events"),
    ("POST", "/api/v1/games/{}/moves"),
    ("GET", "/api/v1/games/{}/legal-moves"),
    ("POST", "/api/v1/games/{}/resign"),
    ("GET", "/api/v1/games/{}/record"),
    ("GET", "/api/v1/games/{}/record.blksgf"),
    ("POST", "/api/v1/games/{}/undo"),
]


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
def test_nobody_calls(town: Town, person: Person, method: str, path: str) -> None:
    path = path.format(person.game())
    body: Json | None = {} if method == "POST" else None
    answer = town.http(method, path, body)
    assert (answer.status, answer.code) == (401, "not-authenticated")
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    for token in (
        "Bearer kado_" + "x" * 40,
        "Bearer",
        "Bearer  ",
        "Basic YTpi",
        "Bearer \xe9",
        "nonsense",
    ):
        answer = town.http(method, path, body, Authorization=token)
        assert answer.status == 401
        assert answer.code in ("invalid-token", "not-authenticated")


@pytest.mark.parametrize(("method", "path"), [pair for pair in ENDPOINTS if pair[0] == "POST"])
def test_a_token_without_the_scope(person: Person, method: str, path: str) -> None:
    path = path.format(person.game())
    _, secret = person.other_token("profile")
    answer = person.http(method, path, {}, Authorization=f"Bearer {secret}")
    assert (answer.status, answer.code, answer.json["scope"]) == (403, "missing-scope", "play")


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
def test_another_method(person: Person, method: str, path: str) -> None:
    path = path.format(person.game())
    for other in {"GET", "POST", "PUT", "PATCH", "DELETE"} - {method}:
        answer = person.http(other, path, {})
        assert (answer.status, answer.code) == (405, "method-not-allowed"), other


@pytest.mark.parametrize(("method", "path"), [ENDPOINTS[0], ENDPOINTS[3]])
def test_a_body_that_is_no_json(person: Person, method: str, path: str) -> None:
    path = path.format(person.game())
    for raw in (
        b"",
        b"{",
        b"nonsense",
        b"\xff\xfe",
        b"{'ply':0}",
        b'{"ply":NaN,"move":"e10"}',
        b'{"ply":' + b"9" * 5_000 + b"}",
        b"[" * 30_000,
        b'{"ply":' + b"[" * 30_000 + b"]" * 30_000 + b"}",
    ):
        answer = person.http(method, path, raw=raw)
        assert (answer.status, answer.code) == (400, "invalid"), raw[:30]
    for kind in ("text/plain", "application/xml", "multipart/form-data; boundary=x", "x", ""):
        answer = person.http(method, path, raw=b"{}", Content_Type=kind)
        assert (answer.status, answer.code) == (415, "unsupported-media-type"), kind


@pytest.mark.parametrize(("method", "path"), [ENDPOINTS[0], ENDPOINTS[3]])
def test_a_body_that_is_too_large(person: Person, method: str, path: str) -> None:
    path = path.format(person.game())
    raw = b'{"ply":0,"move":"' + b"x" * 100_000 + b'"}'
    answer = person.http(method, path, raw=raw)
    assert (answer.status, answer.code) == (413, "too-large")


def test_an_answer_that_nobody_can_give(person: Person) -> None:
    answer = person.http("GET", address(person.game()), Accept="text/html")
    assert (answer.status, answer.code) == (406, "not-acceptable")

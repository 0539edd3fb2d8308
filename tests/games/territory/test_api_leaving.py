"""Leaving, own games and vacation over HTTP, and the lag that a socket's own server measures."""

import time
from typing import Any

import pytest

from tests.support.town import Person, Socket, Town

pytestmark = pytest.mark.slow


def test_own_games_page_by_page(person: Person) -> None:
    games = [person.game() for _ in range(3)]
    first = person.http("GET", "/api/v1/me/games?limit=2").json
    assert [game["game"] for game in first["games"]] == [games[2], games[1]]
    assert first["games"][0]["my_seats"] == [0, 1]
    rest = person.http("GET", first["next"]).json
    assert [game["game"] for game in rest["games"]] == [games[0]]
    assert rest["next"] is None
    mine = person.http("GET", "/api/v1/me/games?turn=mine").json["games"]
    assert all(game["my_turn"] for game in mine)
    assert len(mine) == 3


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("cursor=nothing", "invalid-cursor"),
        ("turn=yours", "invalid"),
        ("limit=0", "invalid"),
        ("limit=101", "invalid"),
        ("other=1", "invalid"),
    ],
)
def test_a_wrong_page_is_refused(person: Person, query: str, code: str) -> None:
    assert person.http("GET", f"/api/v1/me/games?{query}").code == code


def test_vacation_begins_once_and_ends(person: Person) -> None:
    before = person.http("GET", "/api/v1/me/vacation").json
    assert before == {"on": False, "until": None, "left_ms": 30 * 86_400_000}
    begun = person.http("PUT", "/api/v1/me/vacation", {}).json
    assert begun["on"]
    assert person.http("PUT", "/api/v1/me/vacation", {}).json["until"] == begun["until"]
    ended = person.http("DELETE", "/api/v1/me/vacation").json
    assert (ended["on"], ended["left_ms"]) == (False, 29 * 86_400_000)
    assert person.http("PUT", "/api/v1/me/vacation", {"days": 3}).code == "invalid"


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("claim", {"result": "win"}, "claim-not-allowed"),
        ("claim", {"result": "cpu", "seat": 1}, "claim-not-allowed"),
        ("claim", {"result": "all"}, "invalid"),
        ("claim", {"result": "win", "seat": -1}, "invalid"),
        ("claim", {}, "invalid"),
        ("claim", [], "invalid"),
        ("return", {}, "not-replaced"),
        ("return", {"seat": 1}, "invalid"),
        ("abort", {"why": "so"}, "invalid"),
    ],
)
def test_what_is_refused_changes_nothing(person: Person, path: str, body: Any, code: str) -> None:
    game = person.game()
    assert person.http("POST", f"/api/v1/games/{game}/{path}", body).code == code
    assert person.http("GET", f"/api/v1/games/{game}").json["version"] == 1
    assert person.http("POST", "/api/v1/games/nothing/" + path, body).status in (400, 404)


def test_strangers_and_games_that_do_not_exist(town: Town, person: Person) -> None:
    game, other = person.game(), town.guest()
    for path, body in (("claim", {"result": "win"}), ("return", {}), ("abort", {})):
        assert other.http("POST", f"/api/v1/games/{game}/{path}", body).code == "not-seated"
        assert other.http("POST", f"/api/v1/games/aaaaaaaaaaaa/{path}", body).code == "unknown-game"
    assert other.http("GET", "/api/v1/games/aaaaaaaaaaaa/presence").code == "unknown-game"


def test_the_socket_says_the_same(town: Town, person: Person) -> None:
    game = person.game()
    with Socket(town, person.token) as socket:
        assert socket.refused("claim", game=game, result="win") == "claim-not-allowed"
        assert socket.refused("return", game=game) == "not-replaced"
        assert socket.refused("claim", game=game, result="all") == "bad-frame"
        socket.told("subscribe", stream=f"presence:{game}")
        shown = socket.until(lambda frame: frame["type"] == "state")["state"]
        assert [seat["online"] for seat in shown["seats"]] == [True, True]
        assert socket.refused("subscribe", stream="presence:aaaaaaaaaaaa") == "unknown-game"
        assert socket.told("abort", game=game)["version"] == 2
        assert socket.refused("abort", game=game) == "game-over"
        socket.until(lambda frame: frame["type"] == "state" and frame["state"] is None)


def test_the_server_measures_the_way_to_a_client_by_its_own_pings(
    town: Town, person: Person
) -> None:
    with Socket(town, person.token) as socket:
        deadline = time.monotonic() + 10
        while (lag_ms := socket.told("ping")["lag_ms"]) is None:
            assert time.monotonic() < deadline, "no ping was answered"
        assert 0 <= lag_ms < 10_000

"""Rooms, challenges and rematches over HTTP, and games that only their players may read."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from accounts.services.people import create_guest
from accounts.services.tokens import issue_token
from games.territory.decide import Resign
from games.territory.models import Game
from matchmaking.models import Challenge, Room
from matchmaking.pools import Pools
from matchmaking.selectors.rooms import GUESSES
from matchmaking.services.challenges import MAKING
from tests.games.territory.tables import commit
from tests.matchmaking.people import registered
from tests.matchmaking.tables import assert_rooms_are_whole
from tests.matchmaking.test_api import refused

pytestmark = pytest.mark.django_db(transaction=True)
Json = dict[str, Any]
SETTINGS: Json = {
    "variant": "duo",
    "time_control": {"kind": "realtime", "initial_ms": 300_000, "increment_ms": 5_000},
}
ROOM: Json = {
    **SETTINGS,
    "status": "open",
    "revision": 1,
    "host": "Player0",
    "rated": False,
    "undo": "none",
    "spectators": True,
    "friends_only": False,
    "seats": [
        {"seat": 0, "player": "Player0", "level": None, "ready": False},
        {"seat": 1, "player": None, "level": None, "ready": False},
    ],
    "game": None,
}


@pytest.fixture(autouse=True)
def _redis(store: Pools) -> None:
    """No tickets, and no guesses, of other tests."""


class Person:
    """A player's calls; `body` is JSON."""

    def __init__(self, player: int, *scopes: str) -> None:
        _, secret = issue_token(player_id=player, scopes=scopes or ("challenge", "play"))
        self.client = Client(headers={"Authorization": f"Bearer {secret}"})

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        content = {} if body is None else {"data": body, "content_type": "application/json"}
        return getattr(self.client, method)(f"/api/v1/{path}", headers=headers, **content)


@pytest.fixture
def people() -> Iterator[list[Person]]:
    yield [Person(player) for player in registered(3)]
    if not Challenge.objects.exists():
        assert_rooms_are_whole()


def opened(host: Person, **more: Any) -> str:
    answer = host.call("post", "rooms", SETTINGS | more)
    assert answer.status_code == 201
    code: str = answer.json()["room"]
    return code


# Rooms


def test_a_room_from_post_to_game(people: list[Person]) -> None:
    host, guest, other = people
    answer = host.call("post", "rooms", SETTINGS)
    body = answer.json()
    code, expires_at = body.pop("room"), body.pop("expires_at")
    assert (answer.status_code, answer["Location"]) == (201, f"/api/v1/rooms/{code}")
    assert body == ROOM
    assert expires_at.endswith("Z")
    for _ in range(2):
        sat = guest.call("put", f"rooms/{code.lower()}/seats/1", {})
        assert sat.json()["seats"][1]["player"] == "Player1"
    refused(other.call("put", f"rooms/{code}/seats/1", {}), 409, "seat-taken")
    refused(host.call("post", f"rooms/{code}/start"), 409, "room-not-ready")
    changed = host.call("patch", f"rooms/{code}", {"undo": "ask", "spectators": False}).json()
    assert (changed["revision"], changed["undo"], changed["spectators"]) == (2, "ask", False)
    stale = guest.call("put", f"rooms/{code}/ready", {"revision": 1})
    assert refused(stale, 409, "stale-settings")["revision"] == 2
    assert guest.call("put", f"rooms/{code}/ready", {"revision": 2}).json()["seats"][1]["ready"]
    unready = guest.call("delete", f"rooms/{code}/ready").json()
    assert not unready["seats"][1]["ready"]
    guest.call("put", f"rooms/{code}/ready", {"revision": 2})
    games = {host.call("post", f"rooms/{code}/start").json()["game"] for _ in range(2)}
    assert len(games) == 1
    over = guest.call("get", f"rooms/{code}").json()
    assert (over["status"], {over["game"]}, over["seats"]) == ("started", games, [])
    assert refused(guest.call("delete", f"rooms/{code}/seats/1"), 409, "room-over")["game"] in games


def test_cpus_kicking_and_leaving(people: list[Person]) -> None:
    host, guest, _ = people
    code = opened(host, variant="classic")
    put = host.call("put", f"rooms/{code}/seats/3", {"level": "starter"}).json()
    assert put["seats"][3] == {"seat": 3, "player": None, "level": "starter", "ready": True}
    guest.call("put", f"rooms/{code}/seats/1", {})
    kicked = host.call("delete", f"rooms/{code}/seats/1").json()
    assert kicked["seats"][1]["player"] is None
    refused(guest.call("delete", f"rooms/{code}/seats/3"), 403, "not-host")
    assert host.call("delete", f"rooms/{code}/seats/0").json()["status"] == "closed"


def test_said_twice_with_a_key_is_one_room(people: list[Person]) -> None:
    key = {"Idempotency-Key": str(uuid4())}
    first, again = (people[0].call("post", "rooms", SETTINGS, **key) for _ in range(2))
    assert first.json() == again.json()
    assert again["Idempotent-Replay"] == "true"
    assert Room.objects.count() == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"variant": "chess"},
        {"time_control": {"kind": "hourglass"}},
        {"time_control": {"kind": "realtime", "initial_ms": -1}},
        {"time_control": {"kind": "realtime", "initial_ms": 10**30}},
        {"time_control": {"kind": "realtime", "initial_ms": 60_000, "days": 1}},
        {"time_control": None},
        {"time_control": []},
        {"undo": "always"},
        {"rated": "perhaps"},
        {"friends_only": 7},
        {"colour": "red"},
    ],
)
def test_malformed_settings(people: list[Person], wrong: Json) -> None:
    host = people[0]
    refused(host.call("post", "rooms", SETTINGS | wrong), 400, "invalid")
    code = opened(host)
    refused(host.call("patch", f"rooms/{code}", wrong), 400, "invalid")
    if "friends_only" not in wrong:
        refused(
            host.call("post", "challenges", SETTINGS | {"player": "Player1"} | wrong),
            400,
            "invalid",
        )
    assert host.call("get", f"rooms/{code}").json()["revision"] == 1


@pytest.mark.parametrize(
    "control",
    [
        {"kind": "realtime", "initial_ms": 0},
        {"kind": "realtime", "initial_ms": 9_999},
        {"kind": "none", "initial_ms": 5},
        {"kind": "correspondence", "initial_ms": 86_400_001},
        {"kind": "correspondence", "initial_ms": 86_400_000, "increment_ms": 1},
    ],
)
def test_times_that_nobody_may_agree_on(people: list[Person], control: Json) -> None:
    answer = people[0].call("post", "rooms", SETTINGS | {"time_control": control})
    assert "time_control" in refused(answer, 400, "wrong-settings")["fields"]


def test_strange_addresses_and_bodies(people: list[Person]) -> None:
    host, guest, _ = people
    code = opened(host)
    for strange in ("ABC", "ABCDE0", "%00%00%00%00%00%00", "%F0%9F%8E%B2AAAAA"):
        refused(guest.call("get", f"rooms/{strange}"), 404, "unknown-room")
    refused(guest.call("put", f"rooms/{code}/seats/2", {}), 400, "wrong-seats")
    refused(guest.call("put", f"rooms/{code}/seats/{10**25}", {}), 400, "wrong-seats")
    refused(guest.call("put", f"rooms/{code}/seats/-1", {}), 404, "not-found")
    refused(guest.call("put", f"rooms/{code}/seats/1", {"player": "Player2"}), 400, "invalid")
    refused(host.call("put", f"rooms/{code}/seats/1", {"level": "godlike"}), 400, "unknown-level")
    for revision in (0, "x", None, 2**31):
        refused(guest.call("put", f"rooms/{code}/ready", {"revision": revision}), 400, "invalid")
    refused(guest.call("put", f"rooms/{code}/ready", {"revision": 1}), 403, "not-in-room")


def test_codes_cannot_be_guessed_quickly(people: list[Person]) -> None:
    host, guest, other = people
    code = opened(host)
    for number in range(GUESSES.burst):
        wrong = f"ABCD{chr(65 + number // 2)}{number % 2 + 2}".replace("I", "Z")
        refused(guest.call("get", f"rooms/{wrong}"), 404, "unknown-room")
    slow = guest.call("get", f"rooms/{code}")
    assert 0 < refused(slow, 429, "too-fast")["retry_after_ms"] <= GUESSES.interval_ms
    assert slow["Retry-After"]
    refused(guest.call("put", f"rooms/{code}/seats/1", {}), 429, "too-fast")
    assert other.call("put", f"rooms/{code}/seats/1", {}).status_code == 200
    for _ in range(GUESSES.burst + 5):
        assert other.call("get", f"rooms/{code}").status_code == 200, "who sits there may look"


def test_who_may_not() -> None:
    (one,) = registered(1)
    guest, _ = create_guest()
    for method, path in (
        ("post", "rooms"), ("get", "rooms/ABCDEF"), ("patch", "rooms/ABCDEF"), ("put", "rooms/ABCDEF/seats/1"),
        ("put", "rooms/ABCDEF/ready"), ("post", "rooms/ABCDEF/start"), ("get", "challenges"), ("post", "challenges"),
        ("post", "challenges/abcdefghijkl/accept"), ("get", "me/challenge-settings"),
    ):  # fmt: skip
        refused(getattr(Client(), method)(f"/api/v1/{path}"), 401, "not-authenticated")
        refused(Person(one, "play").call(method, path), 403, "missing-scope")
        refused(Person(guest.pk, "play").call(method, path), 403, "not-for-guests")
    refused(
        Person(one, "challenge").call("post", "games/abcdefghijkl/rematch"), 403, "missing-scope"
    )


# Challenges


def challenge(person: Person, name: str, **more: Any) -> Any:
    return person.call("post", "challenges", SETTINGS | {"player": name} | more)


def test_a_challenge_from_post_to_game(people: list[Person]) -> None:
    one, two, other = people
    key = {"Idempotency-Key": str(uuid4())}
    wish = SETTINGS | {"player": "player1", "first": "challenged"}
    made = one.call("post", "challenges", wish, **key)
    body = made.json()
    assert (made.status_code, made["Location"]) == (201, f"/api/v1/challenges/{body['challenge']}")
    assert one.call("post", "challenges", wish, **key).json() == body
    path = f"challenges/{body['challenge']}"
    assert two.call("get", path).json() == body
    assert [seat["agreed"] for seat in body["seats"]] == [True, False]
    refused(other.call("get", path), 404, "unknown-challenge")
    refused(other.call("post", f"{path}/accept"), 404, "unknown-challenge")
    refused(challenge(one, "Player1"), 409, "challenge-waiting")
    games = {two.call("post", f"{path}/accept").json()["game"] for _ in range(2)}
    assert games == {one.call("get", path).json()["game"]}
    (game,) = games
    assert [seat["player"] for seat in one.call("get", f"games/{game}").json()["seats"]] == [
        "Player1",
        "Player0",
    ]
    refused(two.call("post", f"{path}/decline", {}), 409, "challenge-over")


def test_declining_and_cancelling(people: list[Person]) -> None:
    one, two, _ = people
    path = f"challenges/{challenge(one, 'Player1').json()['challenge']}"
    for wrong in ({"reason": "ugly"}, {"words": "x" * 141}, {"words": "\0"}, {"why": 1}):
        refused(two.call("post", f"{path}/decline", wrong), 400, "invalid")
    declined = two.call("post", f"{path}/decline", {"reason": "later", "words": "Tomorrow?"}).json()
    assert (declined["status"], declined["reason"], declined["words"]) == (
        "declined", "later", "Tomorrow?",
    )  # fmt: skip
    path = f"challenges/{challenge(one, 'Player1').json()['challenge']}"
    assert [one.call("delete", path).status_code for _ in range(2)] == [204, 204]
    refused(two.call("post", f"{path}/accept"), 409, "challenge-over")


def test_nobody_is_challenged_all_the_time(people: list[Person]) -> None:
    one, *_ = people
    for _ in range(MAKING.burst):
        one.call("delete", f"challenges/{challenge(one, 'Player1').json()['challenge']}")
    refused(challenge(one, "Player2"), 429, "too-fast")


def test_lists_page_by_page(people: list[Person]) -> None:
    ids = {challenge(Person(each), "Player0").json()["challenge"] for each in registered(5, "C")}
    path, seen = "challenges?limit=2", []
    while path:
        page = people[0].call("get", path.removeprefix("/api/v1/")).json()
        seen += [each["challenge"] for each in page["challenges"]]
        path = page["next"]
    assert (len(seen), set(seen)) == (5, ids)
    out = people[0].call("get", "challenges?direction=out").json()
    assert out == {"challenges": [], "next": None}
    for wrong in ("direction=up", "limit=0", "limit=101", "page=1"):
        refused(people[0].call("get", f"challenges?{wrong}"), 400, "invalid")
    for cursor in ("abcdefghijkl", "x", "%F0%9F%8E%B2"):
        refused(people[0].call("get", f"challenges?cursor={cursor}"), 400, "invalid-cursor")


def test_whose_challenges_are_taken(people: list[Person]) -> None:
    one, two, _ = people
    assert two.call("get", "me/challenge-settings").json() == {"whose": "everybody"}
    for _ in range(2):
        put = two.call("put", "me/challenge-settings", {"whose": "nobody"})
        assert put.json() == {"whose": "nobody"}
    refused(challenge(one, "Player1"), 403, "no-challenges")
    refused(two.call("put", "me/challenge-settings", {"whose": "cats"}), 400, "invalid")


# Rematch, and games without spectators


def private_game(people: list[Person]) -> str:
    one, two, _ = people
    wish = {"spectators": False, "undo": "ask", "first": "challenger"}
    made = challenge(one, "Player1", **wish).json()
    game: str = two.call("post", f"challenges/{made['challenge']}/accept").json()["game"]
    return game


def test_a_game_without_spectators(people: list[Person]) -> None:
    game = private_game(people)
    assert not Game.objects.get(id=game).spectators
    readable = ("", "/events", "/legal-moves", "/board.svg")
    for path in readable:
        assert people[1].call("get", f"games/{game}{path}").status_code == 200
    commit(game, Resign(0), 10**13)
    ended = (
        "/record",
        "/record.blksgf",
        "/hints",
        "/analysis",
        "/analysis.svg",
        "/analysis.blksgf",
    )
    for path in (*readable, *ended):
        refused(people[2].call("get", f"games/{game}{path}"), 403, "spectators-refused")
    for path in ("/board.svg", "/analysis.svg"):
        refused(Client().get(f"/api/v1/games/{game}{path}"), 403, "spectators-refused")
    board = people[0].call("get", f"games/{game}/board.svg")
    assert (board.status_code, board["Cache-Control"]) == (200, "private, max-age=86400")
    for command in ("moves", "resign", "undo", "undo-answer", "analysis"):
        refused(people[2].call("post", f"games/{game}/{command}", {}), 403, "spectators-refused")


def test_a_rematch(people: list[Person]) -> None:
    one, two, other = people
    game = private_game(people)
    refused(one.call("post", f"games/{game}/rematch"), 409, "not-finished")
    commit(game, Resign(0), 10**13)
    refused(other.call("post", f"games/{game}/rematch"), 403, "not-seated")
    asked = one.call("post", f"games/{game}/rematch").json()
    assert (asked["status"], asked["rematch_of"], asked["game"]) == ("open", game, None)
    again = two.call("post", f"games/{game}/rematch").json()
    assert again["status"] == "accepted"
    new = two.call("get", f"games/{again['game']}").json()
    assert [seat["player"] for seat in new["seats"]] == ["Player1", "Player0"]
    assert (new["undo"], new["spectators"]) == ("ask", False)


def test_an_undo_that_the_other_agrees_to(people: list[Person]) -> None:
    one, two, _ = people
    game = private_game(people)
    one.call("post", f"games/{game}/moves", {"ply": 0, "move": "e10"})
    two.call("post", f"games/{game}/moves", {"ply": 1, "move": "j5"})
    asked = one.call("post", f"games/{game}/undo", {"ply": 2})
    assert asked.json() == {"version": 4}
    wish = two.call("get", f"games/{game}").json()["undo_asked"]
    assert wish == {"seat": 0, "ply": 0, "agreed": []}
    for wrong in ({"ply": 2}, {"ply": 2, "agreed": "so so"}, {"ply": -1, "agreed": True}):
        refused(two.call("post", f"games/{game}/undo-answer", wrong), 400, "invalid")
    refused(
        one.call("post", f"games/{game}/undo-answer", {"ply": 2, "agreed": True}),
        409,
        "no-undo-asked",
    )
    answer = two.call("post", f"games/{game}/undo-answer", {"ply": 2, "agreed": True})
    assert answer.json() == {"version": 5}
    assert two.call("get", f"games/{game}").json()["moves"] == []

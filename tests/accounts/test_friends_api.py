"""Friends, requests and blocks by REST: what each address answers and refuses."""

from collections.abc import Iterable
from typing import Any

import pytest

from accounts.models import Friendship, Player
from accounts.presence import Presence, presence
from accounts.services import friends
from accounts.services.people import create_guest, create_player
from accounts.services.tokens import issue_token
from common.clock import now_ms
from tests.accounts.http import INSTANT, Http, refused

pytestmark = pytest.mark.django_db

NOW = 1_800_000_000_000
AT = "2027-01-15T08:00:00.000Z"


def caller(player: Player, scope: str = "friends") -> Http:
    return Http(issue_token(player_id=player.pk, scopes=[scope], label="")[1])


@pytest.fixture
def ada() -> Player:
    return create_player(name="Ada")


@pytest.fixture
def bob() -> Player:
    return create_player(name="Bob")


def names(lines: Iterable[Any]) -> list[str]:
    return [line["player"]["name"] for line in lines]


def test_from_a_request_to_a_friend_and_back(ada: Player, bob: Player) -> None:
    one, other = caller(ada), caller(bob)
    status, asked = one.send("PUT", "friend-requests/bOB")
    assert (status, asked["state"], asked["player"]["name"]) == (200, "pending", "Bob")
    assert INSTANT.fullmatch(asked["at"])
    assert one.send("PUT", "friend-requests/Bob") == (200, asked)
    assert one.get("friend-requests") == (200, {"requests": [], "next": None})
    sent = one.get("friend-requests?direction=sent")[1]["requests"]
    assert sent == [{"player": {"name": "Bob", "kind": "registered"}, "asked_at": asked["at"]}]
    received = other.get("friend-requests")[1]["requests"]
    assert received == [{"player": {"name": "Ada", "kind": "registered"}, "asked_at": asked["at"]}]
    status, friend = other.send("PUT", "friends/Ada")
    assert status == 200
    assert other.send("PUT", "friends/Ada") == (200, friend)
    assert other.get("friends") == (200, {"friends": [friend], "next": None})
    assert one.send("PUT", "friend-requests/Bob")[1]["state"] == "friends"
    assert one.get("friend-requests?direction=sent")[1]["requests"] == []
    for _ in range(2):
        assert one.send("DELETE", "friends/Bob") == (204, None)
    assert other.get("friends")[1]["friends"] == []
    assert refused(other.send("PUT", "friends/Ada")) == (404, "unknown-friend-request")


def test_declining(ada: Player, bob: Player) -> None:
    caller(ada).send("PUT", "friend-requests/Bob")
    for _ in range(2):
        assert caller(bob).send("DELETE", "friend-requests/Ada") == (204, None)
    assert caller(ada).get("friend-requests?direction=sent")[1]["requests"] == []


def test_blocking(ada: Player, bob: Player) -> None:
    one, other = caller(ada), caller(bob)
    Friendship.objects.create(sender=bob, recipient=ada, asked_at=NOW, since=NOW)
    status, made = one.send("PUT", "blocks/Bob")
    assert (status, made["player"]["name"]) == (200, "Bob")
    assert one.send("PUT", "blocks/Bob") == (200, made)
    assert one.get("blocks") == (200, {"blocks": [made], "next": None})
    assert other.get("blocks")[1]["blocks"] == []
    assert one.get("friends")[1]["friends"] == other.get("friends")[1]["friends"] == []
    assert refused(other.send("PUT", "friend-requests/Ada")) == (403, "requests-closed")
    assert refused(one.send("PUT", "friend-requests/Bob")) == (409, "player-blocked")
    for _ in range(2):
        assert one.send("DELETE", "blocks/Bob") == (204, None)
    assert other.send("PUT", "friend-requests/Ada")[0] == 200


def test_whose_requests_one_takes(ada: Player, bob: Player) -> None:
    one = caller(ada)
    assert one.get("me")[1]["requests_from"] == "everybody"
    closed = {"requests_from": "nobody"}
    for _ in range(2):
        assert one.send("PUT", "me/requests-from", closed) == (200, closed)
    assert one.get("me")[1]["requests_from"] == "nobody"
    assert refused(caller(bob).send("PUT", "friend-requests/Ada")) == (403, "requests-closed")
    wrongs: list[Any] = [{"requests_from": "friends"}, {}, {"requests_from": None}, [], {"x": 1}]
    for wrong in wrongs:
        assert refused(one.send("PUT", "me/requests-from", wrong)) == (400, "invalid")


def test_who_is_online(ada: Player, bob: Player, redis: Any) -> None:
    presence.cache_clear()
    eve = create_player(name="Eve")
    for other in (bob, eve):
        Friendship.objects.create(sender=ada, recipient=other, asked_at=NOW, since=NOW)
    Presence(redis).enter("one", [eve.pk], now=now_ms())
    assert caller(ada).get("friends")[1]["friends"] == [
        {"player": {"name": "Bob", "kind": "registered"}, "since": AT, "online": False},
        {"player": {"name": "Eve", "kind": "registered"}, "since": AT, "online": True},
    ]
    caller(eve).send("PUT", "blocks/Ada")
    assert names(caller(ada).get("friends")[1]["friends"]) == ["Bob"]
    assert caller(eve).get("friends")[1]["friends"] == []


@pytest.mark.parametrize(
    ("address", "part"),
    [
        ("friends", "friends"),
        ("friend-requests", "requests"),
        ("friend-requests?direction=sent", "requests"),
        ("blocks", "blocks"),
    ],
)
def test_lists_go_on_by_name_and_leave_banned_players_out(
    ada: Player, address: str, part: str
) -> None:
    others = [create_player(name=name) for name in ("zoe", "Bob", "Bo-b", "bo_c", "Carl", "Gone")]
    for number, other in enumerate(others):
        if part == "blocks":
            friends.block(player_id=ada.pk, other_id=other.pk, now=NOW)
            continue
        mine = number % 2 == 0 if part == "friends" else "sent" in address
        sender, recipient = (ada, other) if mine else (other, ada)
        since = NOW if part == "friends" else None
        Friendship.objects.create(sender=sender, recipient=recipient, asked_at=NOW, since=since)
    Player.objects.filter(name="Gone").update(is_active=False)
    one, seen, next_address = caller(ada), [], f"{address}{'&' if '?' in address else '?'}limit=2"
    pages = 0
    while next_address:
        status, page = one.get(next_address)
        assert status == 200
        seen += names(page[part])
        next_address, pages = page["next"], pages + 1
    assert seen == ["Bo-b", "bo_c", "Bob", "Carl", "zoe"]
    assert pages == 3
    for wrong in ("limit=0", "limit=101", "limit=x", "direction=both", "page=2"):
        mark = "&" if "?" in address else "?"
        assert refused(one.get(f"{address}{mark}{wrong}")) == (400, "invalid")


CALLS = [
    *(("GET", path) for path in ("friends", "friend-requests", "blocks")),
    *(
        (method, f"{path}/Bob")
        for path in ("friends", "friend-requests", "blocks")
        for method in ("PUT", "DELETE")
    ),
    ("PUT", "me/requests-from"),
]


@pytest.mark.parametrize(("method", "path"), CALLS)
def test_who_may_call(ada: Player, bob: Player, method: str, path: str) -> None:
    _, guest = create_guest()
    assert refused(Http().send(method, path)) == (401, "not-authenticated")
    assert refused(Http(guest).send(method, path)) == (403, "not-for-guests")
    assert refused(caller(ada, "play").send(method, path)) == (403, "missing-scope")


@pytest.mark.parametrize(("method", "path"), [call for call in CALLS if call[1].endswith("/Bob")])
def test_whom_one_may_name(ada: Player, method: str, path: str) -> None:
    nobody = path.replace("Bob", "Nobody")
    assert refused(caller(ada).send(method, nobody)) == (404, "unknown-player")
    if method == "PUT" and not path.startswith("friends/"):
        code = "cannot-block" if path.startswith("blocks") else "cannot-befriend"
        assert refused(caller(ada).send(method, path.replace("Bob", "Ada"))) == (403, code)

"""Every address of accounts, with what it answers and what it refuses."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts import selectors
from accounts.models import AccessToken, Player, RatingRow
from accounts.services.inbox import notify
from accounts.services.people import cpu_player, create_guest, create_player
from accounts.services.ratings import rate_game
from accounts.services.tokens import issue_token
from tests.accounts.http import FRESH_KEY, INSTANT, Http, as_player, refused
from tests.accounts.test_inbox import Greeting

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> Player:
    return create_player(name="Ada")


# Who is calling


def test_a_guest_begins_with_nothing_and_can_ask_who_it_is() -> None:
    status, body = Http().send("POST", "guests")
    assert status == 201
    assert set(body) == {"player", "token"}
    assert body["player"] == {"name": body["player"]["name"], "kind": "guest"}
    status, me = Http(body["token"]).get("me")
    assert status == 200
    assert me["name"] == body["player"]["name"]
    assert me["scopes"] == ["play", "profile", "puzzle"]
    assert (me["ratings"], me["inbox_version"], me["expires_at"]) == ([], 0, None)
    assert INSTANT.fullmatch(me["created_at"])


@pytest.mark.parametrize("path", ["me", "me/tokens", "me/inbox"])
def test_nobody_is_told_to_authenticate(path: str) -> None:
    http = Http()
    assert refused(http.get(path)) == (401, "not-authenticated")
    assert http.last["WWW-Authenticate"].startswith("Bearer")
    assert http.last["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    "header",
    ["Bearer", "Bearer ", "Bearer x y", "Basic YTpi", "Bearer kado_" + "x" * 40, "nonsense"],
)
@pytest.mark.parametrize("path", ["me", "players/Ada"])
def test_a_bad_token_is_refused_even_where_none_is_needed(
    ada: Player, header: str, path: str
) -> None:
    http = Http()
    assert refused(http.send("GET", path, Authorization=header)) == (401, "invalid-token")
    assert http.last["WWW-Authenticate"].startswith("Bearer")


def test_a_use_is_noted(ada: Player) -> None:
    http = as_player(ada)
    assert http.get("me")[0] == 200
    used = AccessToken.objects.get().last_used_at
    assert used is not None
    assert timezone.now() - used < timedelta(minutes=1)


# Tokens


def test_a_token_is_issued_listed_used_and_revoked(ada: Player) -> None:
    http = as_player(ada, "profile", "play")
    expires_at = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    wanted = {"label": "laptop", "scopes": ["play"], "expires_at": expires_at}
    status, issued = http.send("POST", "me/tokens", wanted)
    assert status == 201
    secret = issued.pop("secret")
    assert issued["hint"] == secret[-4:]
    assert INSTANT.fullmatch(issued["expires_at"])
    status, listed = http.get("me/tokens")
    assert status == 200
    assert listed["tokens"][1] == issued
    assert secret not in json.dumps(listed)
    laptop = Http(secret)
    assert laptop.get("me")[1]["scopes"] == ["play"]
    assert http.send("DELETE", f"me/tokens/{issued['id']}") == (204, None)
    assert refused(laptop.get("me")) == (401, "invalid-token")
    assert http.send("DELETE", f"me/tokens/{issued['id']}") == (204, None)
    assert issued["id"] not in [token["id"] for token in http.get("me/tokens")[1]["tokens"]]
    assert len(http.get("me/tokens")[1]["tokens"]) == 1


def test_a_token_cannot_give_more_than_it_has(ada: Player) -> None:
    http = as_player(ada, "profile", "play")
    status, body = http.send("POST", "me/tokens", {"scopes": ["play", "bot"]})
    assert (status, body["code"], body["scope"]) == (403, "missing-scope", "bot")
    assert AccessToken.objects.count() == 1


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "me/tokens"), ("POST", "me/tokens"), ("DELETE", "me/tokens/1")]
)
def test_tokens_need_the_scope_profile(ada: Player, method: str, path: str) -> None:
    status, body = as_player(ada, "play").send(method, path)
    assert (status, body["code"], body["scope"]) == (403, "missing-scope", "profile")


@pytest.mark.parametrize(
    "body",
    [
        None,
        b"{",
        b"\xff",
        [],
        "play",
        {},
        {"scopes": []},
        {"scopes": "play"},
        {"scopes": ["everything"]},
        {"scopes": [None]},
        {"scopes": [["play"]]},
        {"scopes": ["play"] * 100},
        {"scopes": ["play"], "label": "x" * 61},
        {"scopes": ["play"], "label": "a\0b"},
        {"scopes": ["play"], "expires_at": "yesterday"},
        {"scopes": ["play"], "expires_at": "2001-01-01T00:00:00Z"},
        {"scopes": ["play"], "expires_at": 10**400},
        {"scopes": ["play"], "scope": "play"},
    ],
)
def test_a_malformed_wish_for_a_token(ada: Player, body: Any) -> None:
    assert refused(as_player(ada).send("POST", "me/tokens", body)) == (400, "invalid")
    assert AccessToken.objects.count() == 1


def test_a_body_that_is_far_too_large(ada: Player) -> None:
    body = {"scopes": ["play"], "label": "x" * 100_000}
    for headers in ({}, {"Idempotency_Key": FRESH_KEY}):
        answer = as_player(ada).send("POST", "me/tokens", body, **headers)
        assert refused(answer) == (413, "too-large")
    assert AccessToken.objects.count() == 2


def test_only_ones_own_tokens_can_be_revoked(ada: Player) -> None:
    token, _ = issue_token(player_id=create_player(name="Bob").pk, scopes=["play"])
    for token_id in (str(token.pk), "0", "x", "-1", "9" * 18, "9" * 40, "²"):
        answer = as_player(ada).send("DELETE", f"me/tokens/{token_id}")
        assert refused(answer) == (404, "unknown-token")
    assert selectors.live_token_ids([token.pk]) == {token.pk}


# The inbox


def test_the_inbox_is_read_in_parts_and_to_the_byte(ada: Player) -> None:
    http = as_player(ada)
    marks = {"version": 0, "read": 0, "unread": 0, "dropped": 0}
    assert http.get("me/inbox") == (200, {**marks, "events": []})
    notes = [notify(player_id=ada.pk, event=Greeting(number)) for number in range(5)]
    notify(player_id=create_player(name="Bob").pk, event=Greeting(9))
    status, body = http.get("me/inbox?after=1&limit=2")
    assert status == 200
    assert body["version"] == 5
    assert [event["version"] for event in body["events"]] == [2, 3]
    assert body["events"][0]["event"] == {"type": "greeting", "number": 1}
    assert notes[1].body() in http.last.content.decode()
    assert notes[1].body() in notes[1].frame()
    assert http.get("me/inbox?after=5")[1]["events"] == []
    for query, versions in (
        ("before=6&limit=2", [4, 5]),
        ("before=4&limit=2", [2, 3]),
        ("before=2", [1]),
        ("before=1", []),
        ("before=100&after=3", [4, 5]),
    ):
        events = http.get(f"me/inbox?{query}")[1]["events"]
        assert [event["version"] for event in events] == versions


def test_read_marks(ada: Player) -> None:
    http = as_player(ada)
    for number in range(3):
        notify(player_id=ada.pk, event=Greeting(number))
    for up_to, read in ((2, 2), (2, 2), (1, 2), (9, 3)):
        marks = {"version": 3, "read": read, "unread": 3 - read}
        assert http.send("PUT", "me/inbox/read", {"up_to": up_to}) == (200, marks)
        assert {**marks, "dropped": 0}.items() <= http.get("me/inbox")[1].items()
    me = http.get("me")[1]
    assert (me["inbox_version"], me["inbox_read"], me["inbox_unread"]) == (3, 3, 0)
    wrongs: list[Any] = [{}, {"up_to": -1}, {"up_to": 2**63}, {"up_to": "x"}, {"up_to": None}, []]
    for wrong in [*wrongs, {"up_to": 1, "x": 1}, {"up_to": 1.5}, {"up_to": True}]:
        assert refused(http.send("PUT", "me/inbox/read", wrong)) == (400, "invalid")
    assert refused(Http().send("PUT", "me/inbox/read", {"up_to": 1}))[0] == 401


@pytest.mark.parametrize(
    "query",
    [
        "after=-1",
        "before=0",
        "before=x",
        "after=x",
        f"after={2**63}",
        "limit=0",
        "limit=101",
        "limit=",
        "page=2",
    ],
)
def test_a_malformed_question_to_the_inbox(ada: Player, query: str) -> None:
    status, body = as_player(ada).get(f"me/inbox?{query}")
    assert (status, body["code"]) == (400, "invalid")
    assert list(body["fields"]) == [query.partition("=")[0]]


# Players and standing


def _game(number: int, *ranks: tuple[int, int]) -> None:
    rate_game(
        game_id=f"game{number:08}", key="duo:blitz", ranks=ranks, at=1_700_000_000_000 + number
    )


def test_a_profile_is_public_and_has_no_internal_id(ada: Player) -> None:
    bob = create_player(name="Bob")
    _game(1, (ada.pk, 1), (bob.pk, 2))
    status, body = Http().get("players/aDA")
    assert status == 200
    assert set(body) == {"name", "kind", "created_at", "ratings", "titles"}
    assert (body["name"], body["kind"]) == ("Ada", "registered")
    (rating,) = body["ratings"]
    assert rating == {
        "key": "duo:blitz",
        "rating": "1658?",
        "provisional": True,
        "mu": pytest.approx(1658.12, abs=0.01),
        "sigma": pytest.approx(484.0, abs=0.1),
        "games": 1,
        "calibrated": False,
    }


def test_a_cpu_player_shows_its_level() -> None:
    cpu_player("starter")
    body = Http().get("players/cpu-starter")[1]
    assert (body["name"], body["kind"], body["level"]) == ("CPU-Starter", "bot", "starter")


@pytest.mark.parametrize("name", ["Nobody", "a%00b", "%20", "x" * 200, "%E2%98%83"])
@pytest.mark.parametrize("rest", ["", "/ratings/duo:blitz/history"])
def test_a_player_who_is_not_there(name: str, rest: str) -> None:
    assert refused(Http().get(f"players/{name}{rest}")) == (404, "unknown-player")


def test_the_history_of_a_rating(ada: Player) -> None:
    bob = create_player(name="Bob")
    for number in range(5):
        _game(number, (ada.pk, 1), (bob.pk, 2))
    http = Http()
    status, body = http.get("players/Ada/ratings/duo:blitz/history?limit=2")
    assert status == 200
    changes = body["changes"]
    while body["next"]:
        status, body = http.get(body["next"])
        assert status == 200
        changes += body["changes"]
    assert [change["sequence"] for change in changes] == [5, 4, 3, 2, 1]
    assert [change["game"] for change in changes] == [f"game{n:08}" for n in (4, 3, 2, 1, 0)]
    assert changes[-1] == {
        "sequence": 1,
        "game": "game00000000",
        "at": "2023-11-14T22:13:20.000Z",
        "rank": 1,
        "before": "1500?",
        "after": "1658?",
        "mu_before": 1500.0,
        "sigma_before": 500.0,
        "mu_after": changes[-2]["mu_before"],
        "sigma_after": changes[-2]["sigma_before"],
        "low": pytest.approx(changes[-1]["mu_after"] - 1.96 * changes[-1]["sigma_after"]),
        "high": pytest.approx(changes[-1]["mu_after"] + 1.96 * changes[-1]["sigma_after"]),
        "annulled": False,
    }
    assert http.get("players/Bob/ratings/duo:rapid/history")[1]["changes"] == []


def test_malformed_questions_for_a_history(ada: Player) -> None:
    http = Http()
    answer = http.get("players/Ada/ratings/DUO/history")
    assert refused(answer) == (404, "unknown-leaderboard")
    for query in ("before=0", "before=x", f"before={2**31}", "limit=1000", "after=1"):
        answer = http.get(f"players/Ada/ratings/duo:blitz/history?{query}")
        assert refused(answer) == (400, "invalid")


def test_a_leaderboard_is_walked_by_its_next_addresses() -> None:
    for number in range(7):
        player = create_player(name=f"Player{number}")
        mu = 1800 - 10 * (number // 2)
        RatingRow.objects.create(player=player, key="duo:blitz", mu=mu, sigma=90, games=30)
    http, entries, address = Http(), [], "leaderboards/duo:blitz?limit=3"
    while address:
        status, body = http.get(address)
        assert (status, body["key"]) == (200, "duo:blitz")
        entries += body["entries"]
        address = body["next"]
    assert [entry["rank"] for entry in entries] == [1, 1, 3, 3, 5, 5, 7]
    assert entries[0] == {
        "rank": 1,
        "player": {"name": "Player0", "kind": "registered"},
        "rating": "1800",
        "mu": 1800.0,
        "sigma": 90.0,
        "games": 30,
    }
    assert [entry["player"]["name"] for entry in entries] == [f"Player{n}" for n in range(7)]


@pytest.mark.parametrize(
    ("path", "refusal"),
    [
        ("leaderboards/duo", (404, "unknown-leaderboard")),
        ("leaderboards/duo:blitz?cursor=zzz", (400, "invalid-cursor")),
        ("leaderboards/duo:blitz?cursor=", (400, "invalid")),
        ("leaderboards/duo:blitz?limit=0", (400, "invalid")),
        ("leaderboards/duo:blitz?top=3", (400, "invalid")),
        ("leaderboards/duo:blitz?cursor=%00", (400, "invalid")),
    ],
)
def test_malformed_questions_for_a_leaderboard(path: str, refusal: tuple[int, str]) -> None:
    assert refused(Http().get(path)) == refusal


def test_a_page_costs_few_queries(django_assert_max_num_queries: Any) -> None:
    for number in range(30):
        player = create_player(name=f"Player{number}")
        RatingRow.objects.create(player=player, key="duo:blitz", mu=1700, sigma=90, games=30)
    with django_assert_max_num_queries(1):
        _, body = Http().get("leaderboards/duo:blitz?limit=10")
    with django_assert_max_num_queries(2):
        assert len(Http().get(body["next"])[1]["entries"]) == 10


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "guests"), ("PUT", "me"), ("POST", "leaderboards/duo:blitz")]
)
def test_other_methods_are_refused(ada: Player, method: str, path: str) -> None:
    assert refused(as_player(ada).send(method, path)) == (405, "method-not-allowed")


def test_an_account_becomes_a_bots_when_its_owner_says_so() -> None:
    ada = create_player(name="Ada")
    assert refused(as_player(ada).send("PUT", "me/bot", {})) == (400, "invalid")
    assert refused(as_player(ada).send("PUT", "me/bot", {"for_ever": False})) == (400, "invalid")
    assert as_player(ada).get("me")[1]["kind"] == "registered"
    for _ in range(2):
        answer = as_player(ada).send("PUT", "me/bot", {"for_ever": True})
        assert answer == (200, {"name": "Ada", "kind": "bot"})
    _, secret = create_guest()
    answer = Http(secret).send("PUT", "me/bot", {"for_ever": True})
    assert refused(answer) == (403, "not-for-guests")


def test_the_leaderboard_of_bots_goes_on_as_one_of_bots() -> None:
    for number in range(3):
        bot = create_player(name=f"Bot{number}", kind="bot")
        RatingRow.objects.create(player=bot, key="duo:blitz", mu=1500 + number, sigma=100, games=9)
    assert Http().get("leaderboards/duo:blitz")[1]["entries"] == []
    names: list[str] = []
    address: str | None = "/api/v1/leaderboards/duo:blitz?players=bots&limit=1"
    while address:
        _, page = Http().get(address)
        names += [entry["player"]["name"] for entry in page["entries"]]
        address = page["next"]
    assert names == ["Bot2", "Bot1", "Bot0"]
    answer = Http().get("leaderboards/duo:blitz?players=everybody")
    assert refused(answer) == (400, "invalid")


def test_a_name_is_changed() -> None:
    ada = create_player(name="Ada")
    create_player(name="Eve")
    assert refused(as_player(ada).send("PUT", "me/name", {"name": "eve"})) == (409, "name-taken")
    assert as_player(ada).send("PUT", "me/name", {"name": "Countess"})[1]["name"] == "Countess"
    assert Http().get("players/countess")[0] == 200
    again = as_player(ada).send("PUT", "me/name", {"name": "Other"})
    assert refused(again) == (409, "name-changed-lately")
    assert again[1]["retry_after_ms"] > 0
    for body in ({}, {"name": ""}, {"name": "x" * 65}, {"name": None}, {"name": "\0x"}):
        assert refused(as_player(ada).send("PUT", "me/name", body)) == (400, "invalid")
    assert refused(as_player(ada).send("PUT", "me/name", {"name": "CPU-x"})) == (
        400,
        "invalid-name",
    )

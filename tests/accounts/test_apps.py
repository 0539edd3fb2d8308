"""Third-party apps: let in by a person, with no more than was allowed, for no longer than it is."""

import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from config import frames
from tests.support.app import BACK, App, decide
from tests.support.provider import SECONDS, Browser, Provider, query_of
from tests.support.town import Json, Socket, Town, all_at_once

pytestmark = pytest.mark.slow


@pytest.fixture
def author(browser: Browser, provider: Provider) -> Browser:
    browser.sign_in(provider.person(name="Author"))
    return browser


@pytest.fixture
def person(town: Town, provider: Provider) -> Browser:
    """Somebody who uses apps."""
    own = Browser(town, provider)
    own.sign_in(provider.person(name="Person"))
    return own


@pytest.fixture
def app(author: Browser) -> App:
    return App.registered(author)


def call(town: Town, token: str, method: str, path: str, body: Any = None) -> requests.Response:
    headers = {"Authorization": f"Bearer {token}"}
    return requests.request(
        method, f"{town.web.url}/api/v1/{path}", json=body, headers=headers, timeout=SECONDS
    )


# Let in


@pytest.mark.parametrize("kind", ["public", "confidential"])
def test_an_app_acts_for_whoever_allows_it(
    town: Town, author: Browser, person: Browser, kind: str
) -> None:
    more = {"keeps_secret": "on"} if kind == "confidential" else {}
    app = App.registered(author, "Helper", **more)
    assert bool(app.secret) == (kind == "confidential")
    page = person.get(app.asks()).text
    assert "Helper" in page
    assert "Play games for you" in page
    assert "See your profile" in page
    assert "Play puzzles" not in page
    tokens = app.tokens(person)
    assert tokens["token_type"] == "Bearer"
    assert tokens["expires_in"] == 3600
    assert set(tokens["scope"].split()) == {"play", "profile"}
    me = call(town, tokens["access_token"], "GET", "me").json()
    assert me["name"] == person.me["name"]
    assert me["scopes"] == ["play", "profile"]
    assert me["expires_at"]
    game = call(
        town, tokens["access_token"], "POST", "games", {"variant": "duo", "seats": [{}, {}]}
    )
    assert game.status_code == 201
    with Socket(town, tokens["access_token"]) as socket:
        assert socket.hear()["player"] == me["name"]


def test_only_digests_are_kept(town: Town, author: Browser, person: Browser) -> None:
    app = App.registered(author, keeps_secret="on")
    tokens = app.tokens(person)
    rows = [
        row
        for table in ("accesstoken", "refreshtoken", "application")
        for (row,) in town.cluster.query(f"SELECT t::text FROM oauth2_provider_{table} t")
    ]
    assert len(rows) >= 3
    for secret in (tokens["access_token"], tokens["refresh_token"], app.secret):
        assert len(secret) >= 40
        assert not [row for row in rows if secret in row]


def test_the_server_describes_itself(town: Town, app: App, person: Browser) -> None:
    address = f"{town.web.url}/.well-known/oauth-authorization-server"
    said = requests.get(address, timeout=SECONDS).json()
    assert said["issuer"] == town.web.url
    assert said["authorization_endpoint"] == f"{town.web.url}/oauth/authorize"
    assert said["token_endpoint"] == f"{town.web.url}/oauth/token"
    assert said["revocation_endpoint"] == f"{town.web.url}/oauth/revoke"
    assert said["code_challenge_methods_supported"] == ["S256"]
    assert said["grant_types_supported"] == ["authorization_code", "refresh_token"]
    assert said["response_types_supported"] == ["code"]
    assert said["scopes_supported"] == ["challenge", "friends", "play", "profile", "puzzle"]
    back = query_of(decide(person, app.asks(), allow="True").headers["Location"])
    assert back["iss"] == said["issuer"]
    resource = requests.get(
        f"{town.web.url}/.well-known/oauth-protected-resource", timeout=SECONDS
    ).json()
    assert resource["resource"] == town.web.url


def test_a_guest_signs_in_first_and_comes_back(town: Town, provider: Provider, app: App) -> None:
    guest = Browser(town, provider)
    guest.submit("/sign-in", "/sign-in/guest")
    led = guest.get(app.asks()).headers["Location"]
    assert led.startswith("/sign-in?next=")
    callback = provider.consent(guest.begin(led), provider.person(name="Late"))
    assert guest.get(callback).headers["Location"] == app.asks()
    assert app.tokens(guest)["access_token"]


# Not let in


def test_a_person_who_does_not_allow_it(town: Town, app: App, person: Browser) -> None:
    back = decide(person, app.asks()).headers["Location"]
    assert back.startswith(BACK)
    assert query_of(back)["error"] == "access_denied"
    assert query_of(back)["state"] == "abc"
    assert person.api("GET", "me/grants").json() == {"grants": []}


def test_a_person_is_asked_each_time(app: App, person: Browser) -> None:
    app.tokens(person)
    for again in ({}, {"approval_prompt": "auto"}):
        assert "wants to act for you" in person.get(app.asks(**again)).text


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"response_type": "token"}, "unauthorized_client"),
        ({"response_type": "nonsense"}, "unsupported_response_type"),
        ({"scope": "bot"}, "invalid_scope"),
        ({"scope": "everything"}, "invalid_scope"),
    ],
)
def test_what_an_app_may_not_ask(
    app: App, person: Browser, changed: dict[str, str], error: str
) -> None:
    answer = person.get(app.asks(**changed))
    if answer.status_code == 200:  # what is wrong shows only when the person allows it
        answer = decide(person, app.asks(**changed), allow="True")
    assert answer.status_code == 302
    back = answer.headers["Location"]
    assert back.startswith(BACK)
    assert query_of(back)["error"] == error


@pytest.mark.parametrize(
    "changed",
    [
        {"client_id": "nobody"},
        {"client_id": "\0"},
        {"redirect_uri": "https://app.example/back/"},
        {"redirect_uri": "https://app.example/back?x=1"},
        {"redirect_uri": "https://elsewhere.example/back"},
        {"redirect_uri": "http://app.example/back"},
        {"redirect_uri": "javascript:alert(1)"},
    ],
)
def test_nobody_is_sent_where_the_app_is_not(
    app: App, person: Browser, changed: dict[str, str]
) -> None:
    assert person.get(app.asks(**changed)).status_code == 400


def test_a_code_is_good_for_its_app_its_address_and_its_verifier(
    town: Town, app: App, author: Browser, person: Browser
) -> None:
    code = app.code(person)
    other = App.registered(author, "Other")
    other.verifier = app.verifier
    for answer in (
        other.exchange(code),
        app.exchange(code, code_verifier="x" * 60),
        app.exchange(code, code_verifier=""),
        app.exchange(code, redirect_uri="https://app.example/other"),
        app.exchange("made-up"),
        app.exchange("\0"),
        app.exchange(code, grant_type="password", username="Person", password="x"),
        app.exchange(code, grant_type="client_credentials"),
        app.exchange(code, grant_type=""),
    ):
        assert answer.status_code in (400, 401), answer.text
        assert answer.json()["error"]
    assert app.exchange(code).status_code == 200
    assert app.exchange(code).json()["error"] == "invalid_grant"
    late = app.code(person)
    assert town.cluster.query("UPDATE oauth2_provider_grant SET expires = now() RETURNING 1")
    assert app.exchange(late).json()["error"] == "invalid_grant"


def test_a_secret_is_asked_of_apps_that_have_one(author: Browser, person: Browser) -> None:
    app = App.registered(author, keeps_secret="on")
    code = app.code(person)
    for wrong in ("", "wrong"):
        answer = app.exchange(code, client_secret=wrong)
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
    assert app.exchange(code).status_code == 200


# Scopes


def fields_of(command: type[Any]) -> dict[str, Any]:
    samples: dict[str, Any] = {
        "game": "NoSuchGame00",
        "ply": 0,
        "move": "a1",
        "pool": "duo-blitz",
        "run": "NoSuchRun000",
        "turn": 0,
        "slot": 0,
        "at": "a1",
        "agreed": True,
        "level": None,
        "up_to": 0,
        "away": 0,
        "result": "win",
        "challenge": "NoSuchCha000",
        "room": "K7MQ2X",
        "seat": 0,
    }
    return {name: samples[name] for name in command.__struct_fields__ if name in samples}


def test_every_command_and_address_asks_for_its_scope(
    town: Town, app: App, person: Browser
) -> None:
    narrow = app.tokens(person, "profile")["access_token"]
    wide = app.tokens(person, "play puzzle challenge")["access_token"]
    asking = {
        tag
        for command in frames.AnyCommand.__args__
        if (tag := command.__struct_config__.tag)
        not in {"auth", "subscribe", "unsubscribe", "ping", "inbox.read"}
    }
    assert asking >= {"move", "undo", "hint", "resign", "ticket.join", "ticket.leave", "run.place"}
    with Socket(town, narrow) as without, Socket(town, wide) as having:
        for command in frames.AnyCommand.__args__:
            tag = command.__struct_config__.tag
            if tag in asking:
                assert without.refused(tag, **fields_of(command)) == "missing-scope", tag
                problem = having.ask(tag, **fields_of(command)).get("problem", {})
                assert problem.get("code") != "missing-scope", tag
        assert without.told("subscribe", stream="inbox") == {"version": 0}
    for method, path, body in (
        ("POST", "games", {"variant": "duo", "seats": [{}, {}]}),
        ("POST", "games/NoSuchGame00/moves", {"ply": 0, "move": "a1"}),
        ("PUT", "pools/duo-blitz/ticket", None),
        ("POST", "puzzles/runs", {"level": "easy", "board": "8x8"}),
    ):
        assert call(town, narrow, method, path, body).json()["code"] == "missing-scope"
        assert call(town, wide, method, path, body).json().get("code") != "missing-scope"
    assert call(town, wide, "GET", "me/grants").json()["code"] == "missing-scope"
    requests.delete(
        f"{town.web.url}/api/v1/pools/duo-blitz/ticket",
        headers={"Authorization": f"Bearer {wide}"},
        timeout=SECONDS,
    )


def test_an_app_cannot_outlive_being_sent_away(town: Town, app: App, person: Browser) -> None:
    """It makes no tokens of the player's, and neither revokes them nor other apps."""
    token = app.tokens(person)["access_token"]
    for method, path, body in (
        ("POST", "me/tokens", {"scopes": ["play"]}),
        ("DELETE", "me/tokens/1", None),
        ("DELETE", f"me/grants/{app.client_id}", None),
    ):
        answer = call(town, token, method, path, body)
        assert (answer.status_code, answer.json()["code"]) == (403, "not-for-apps"), path
    (grant,) = call(town, token, "GET", "me/grants").json()["grants"]
    assert grant["scopes"] == ["play", "profile"]
    assert grant["owner"].startswith("Author")


# Refreshing


def test_refreshing_gives_a_new_pair_and_the_old_one_is_over(
    town: Town, app: App, person: Browser
) -> None:
    first = app.tokens(person)
    second = app.refresh(first["refresh_token"]).json()
    assert second["scope"].split() == first["scope"].split()
    assert len({*first.values(), *second.values()} & {first["access_token"]}) == 1
    assert call(town, first["access_token"], "GET", "me").json()["code"] == "invalid-token"
    assert call(town, second["access_token"], "GET", "me").status_code == 200
    # Somebody has the old one: nobody can tell who is who, so all of it ends.
    assert app.refresh(first["refresh_token"]).json()["error"] == "invalid_grant"
    assert call(town, second["access_token"], "GET", "me").json()["code"] == "invalid-token"
    assert app.refresh(second["refresh_token"]).json()["error"] == "invalid_grant"


def test_a_refresh_token_belongs_to_its_app_and_ends(
    town: Town, app: App, author: Browser, person: Browser
) -> None:
    tokens = app.tokens(person)
    other = App.registered(author, "Other")
    assert other.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert other.revoke(tokens["access_token"]).status_code == 200
    assert call(town, tokens["access_token"], "GET", "me").status_code == 200, (
        "not theirs to revoke"
    )
    town.cluster.query(
        "UPDATE oauth2_provider_accesstoken SET expires = now() - interval '30 days' RETURNING 1"
    )
    assert app.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"


def test_a_code_and_a_refresh_token_are_good_once_however_many_come(
    town: Town, app: App, person: Browser
) -> None:
    code = app.code(person)
    answers = all_at_once(10, lambda number: app.exchange(code))
    good = [answer for answer in answers if answer.status_code == 200]
    assert len(good) == 1
    assert {a.json()["error"] for a in answers if a not in good} == {"invalid_grant"}
    ((number,),) = town.cluster.query(
        "SELECT count(*) FROM oauth2_provider_accesstoken t JOIN oauth2_provider_application a"
        " ON a.id = t.application_id WHERE a.client_id = %s", app.client_id,
    )  # fmt: skip
    assert number == 1
    token = good[0].json()["refresh_token"]
    answers = all_at_once(10, lambda number: app.refresh(token))
    assert sum(answer.status_code == 200 for answer in answers) == 1


# Sent away


def test_a_person_sees_and_sends_away(town: Town, author: Browser, person: Browser) -> None:
    first, second = App.registered(author, "First"), App.registered(author, "Second")
    gone, kept = first.tokens(person, "play"), second.tokens(person, "profile")
    page = person.get("/account/apps").text
    assert re.search(r"<strong>First</strong> of Author[-\d]*: play", page)
    code = first.code(person)
    with Socket(town, gone["access_token"]) as closed, Socket(town, kept["access_token"]) as open_:
        closed.hear()
        open_.hear()
        began = time.monotonic()
        path = f"/account/apps/{first.client_id}/revoke"
        assert person.submit("/account/apps", path).status_code == 302
        assert closed.close_code() == 4401
        assert time.monotonic() - began < 2, "the control message, not the warden"
        assert open_.told("ping")
    assert call(town, gone["access_token"], "GET", "me").json()["code"] == "invalid-token"
    assert first.refresh(gone["refresh_token"]).json()["error"] == "invalid_grant"
    assert first.exchange(code).json()["error"] == "invalid_grant", "a code on its way counts too"
    names = [grant["name"] for grant in person.api("GET", "me/grants").json()["grants"]]
    assert names == ["Second"]
    assert person.api("DELETE", f"me/grants/{second.client_id}").status_code == 204
    assert person.api("GET", "me/grants").json() == {"grants": []}
    for unknown in (second.client_id, "nobody", "%00"):
        assert person.api("DELETE", f"me/grants/{unknown}").json()["code"] == "unknown-app"


def test_an_app_gives_its_tokens_back(town: Town, app: App, person: Browser) -> None:
    for name in ("access_token", "refresh_token"):
        tokens = app.tokens(person)
        with Socket(town, tokens["access_token"]) as socket:
            socket.hear()
            began = time.monotonic()
            assert app.revoke(tokens[name]).status_code == 200
            assert socket.close_code() == 4401
            assert time.monotonic() - began < 2
        assert app.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert app.revoke("made-up").status_code == 200
    assert app.revoke("\0").status_code == 400


def test_sending_away_beats_refreshing(town: Town, app: App, person: Browser) -> None:
    """Whichever is first: afterwards the app has nothing that works."""
    for _ in range(8):
        tokens = app.tokens(person)
        barrier = threading.Barrier(2)

        def refresh(
            token: str = tokens["refresh_token"], barrier: threading.Barrier = barrier
        ) -> Json:
            barrier.wait()
            answer: Json = app.refresh(token).json()
            return answer

        with ThreadPoolExecutor(1) as pool:
            refreshing = pool.submit(refresh)
            barrier.wait()
            person.api("DELETE", f"me/grants/{app.client_id}")
            got = refreshing.result()
        assert person.api("GET", "me/grants").json() == {"grants": []}
        if "access_token" in got:
            assert call(town, got["access_token"], "GET", "me").status_code == 401
            assert app.refresh(got["refresh_token"]).json()["error"] == "invalid_grant"


def test_what_ends_reaches_open_sockets_within_ten_seconds(
    town: Town, app: App, person: Browser
) -> None:
    """Without any message: an access that is gone, one that ran out, and one that was refreshed and not renewed."""
    names = ("gone", "expired", "refreshed", "renewed")
    tokens = {name: app.tokens(person) for name in names}
    sockets = {name: Socket(town, tokens[name]["access_token"]) for name in names}
    try:
        ids = [row for (row,) in town.cluster.query(
            "SELECT id FROM oauth2_provider_accesstoken ORDER BY id DESC LIMIT 4"
        )]  # fmt: skip
        assert all(socket.hear()["player"] for socket in sockets.values())
        began = time.monotonic()
        town.cluster.query(
            "WITH unpaired AS (UPDATE oauth2_provider_refreshtoken SET access_token_id = NULL"
            " WHERE access_token_id = %s RETURNING 1) SELECT 1 FROM unpaired", ids[3],
        )  # fmt: skip
        town.cluster.query(
            "DELETE FROM oauth2_provider_accesstoken WHERE id = %s RETURNING 1", ids[3]
        )
        town.cluster.query(
            "UPDATE oauth2_provider_accesstoken SET expires = now() WHERE id = %s RETURNING 1",
            ids[2],
        )
        app.refresh(tokens["refreshed"]["refresh_token"])
        new = app.refresh(tokens["renewed"]["refresh_token"]).json()
        assert sockets["renewed"].told("auth", token=new["access_token"])["player"]
        for name in ("gone", "expired", "refreshed"):
            assert sockets[name].close_code(11) == 4401, name
            assert time.monotonic() - began < 11, name
        time.sleep(max(0.0, 10 - (time.monotonic() - began)))
        assert sockets["renewed"].told("ping")
    finally:
        for socket in sockets.values():
            socket.close()


# Registering


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"redirect_uris": ""}, "required"),
        ({"redirect_uris": "http://app.example/back"}, "https://"),
        ({"redirect_uris": "https://app.example/#x"}, "https://"),
        ({"redirect_uris": "https://user@app.example/"}, "https://"),
        ({"redirect_uris": "javascript:alert(1)"}, "https://"),
        ({"redirect_uris": "https://["}, "no address"),
        ({"redirect_uris": "https://app.example/ " * 200}, "2000"),
        ({"origins": "https://app.example/path"}, "no path"),
        ({"origins": "*"}, "https://"),
        ({"name": ""}, "required"),
        ({"name": "\0"}, "Null"),
    ],
)
def test_what_cannot_be_registered(author: Browser, fields: dict[str, str], word: str) -> None:
    form = {"name": "App", "redirect_uris": BACK} | fields
    page = author.submit("/account/apps", "/account/apps", **form)
    assert page.status_code == 200
    assert "client-id" not in page.text
    (problem,) = re.findall(r'<ul class="errorlist".*?</ul>', page.text, re.DOTALL)
    assert word in problem


def test_an_app_on_the_persons_own_machine(author: Browser, person: Browser) -> None:
    """By plain HTTP, at whatever port it got there (RFC 8252)."""
    app = App.registered(author, redirect_uris="http://127.0.0.1/back")
    address = app.asks(redirect_uri="http://127.0.0.1:51234/back")
    back = decide(person, address, allow="True").headers["Location"]
    assert back.startswith("http://127.0.0.1:51234/back?code=")


def test_an_app_is_its_authors(town: Town, app: App, author: Browser, person: Browser) -> None:
    own = f"/account/apps/{app.client_id}"
    page = author.submit(own, own, name="Better", redirect_uris="https://app.example/new")
    assert page.status_code == 302
    assert "Better" in author.get("/account/apps").text
    assert person.get(app.asks()).status_code == 400
    token = App.registered(author).tokens(person)
    assert person.get(own).status_code == 302, "to the person's own account, with words"
    csrf = {"csrfmiddlewaretoken": person.requests.cookies["csrftoken"]}
    person.send("POST", f"{own}/delete", data=csrf)
    assert "Better" in author.get("/account/apps").text
    (name,) = re.findall(r"/account/apps/(\w+)/delete", author.get("/account/apps").text)[1:]
    with Socket(town, token["access_token"]) as socket:
        socket.hear()
        author.submit("/account/apps", f"/account/apps/{name}/delete")
        assert socket.close_code() == 4401
    assert call(town, token["access_token"], "GET", "me").json()["code"] == "invalid-token"


def test_ten_apps_are_enough(author: Browser) -> None:
    for number in range(10):
        App.registered(author, f"App {number}")
    page = author.submit("/account/apps", "/account/apps", name="More", redirect_uris=BACK)
    assert "You have 10 apps" in page.text


def test_pages_of_apps_may_call_and_others_may_not(
    town: Town, author: Browser, person: Browser
) -> None:
    origin = "https://pages.example"
    app = App.registered(author, origins=origin)
    token = app.tokens(person)["access_token"]
    allowed = "Access-Control-Allow-Origin"
    for path, asked in (("/api/v1/me", "authorization"), ("/oauth/token", "content-type")):
        for who, answer in ((origin, origin), ("https://evil.example", None), ("null", None)):
            preflight = requests.options(
                town.web.url + path,
                headers={
                    "Origin": who,
                    "Access-Control-Request-Method": "POST",
                    "Access-Control-Request-Headers": asked,
                },
                timeout=SECONDS,
            )
            assert preflight.headers.get(allowed) == answer
            assert "Access-Control-Allow-Credentials" not in preflight.headers
            if answer:
                assert asked in preflight.headers["Access-Control-Allow-Headers"]
    headers = {"Authorization": f"Bearer {token}", "Origin": origin}
    me = requests.get(f"{town.web.url}/api/v1/me", headers=headers, timeout=SECONDS)
    assert me.headers[allowed] == origin
    page = requests.get(f"{town.web.url}/sign-in", headers={"Origin": origin}, timeout=SECONDS)
    assert allowed not in page.headers

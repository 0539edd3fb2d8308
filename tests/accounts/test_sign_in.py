"""Signing in by a real provider, in real web processes: who somebody is, however they come."""

import re
import time
from html import unescape
from typing import Any

import pytest
import requests

from tests.support.provider import Browser, Provider, query_of
from tests.support.town import Town, all_at_once

pytestmark = pytest.mark.slow


def fresh(browser: Browser) -> Browser:
    """Another browser, of the same town."""
    return Browser(browser.town, browser.provider)


def count(town: Town, condition: str = "TRUE") -> int:
    ((number,),) = town.cluster.query(f"SELECT count(*) FROM accounts_player WHERE {condition}")
    return int(number)


def notices(answer: requests.Response) -> list[str]:
    """What the page tells, as a person reads it."""
    return [unescape(text) for text in re.findall(r'<p class="notice[^>]*>(.*?)</p>', answer.text)]


# In


def test_the_first_time_makes_a_player_and_the_next_finds_it(
    browser: Browser, provider: Provider
) -> None:
    subject = provider.person(name="Ada Lovelace", email="ada@example.org", email_verified=True)
    page = browser.sign_in(subject)
    assert page.status_code == 200
    assert page.url.endswith("/account")
    me = browser.me
    assert (me["name"], me["kind"]) == ("Ada-Lovelace", "registered")
    assert me["scopes"] == ["challenge", "friends", "play", "profile", "puzzle"]
    assert me["expires_at"] is None
    again = fresh(browser)
    assert notices(again.sign_in(subject)) == ["Welcome back, Ada-Lovelace."]
    assert again.me["created_at"] == me["created_at"]


def test_the_cookie_is_out_of_reach_for_scripts_and_other_sites(
    browser: Browser, provider: Provider
) -> None:
    callback = provider.consent(browser.begin(), provider.person())
    (cookie,) = [
        text
        for text in browser.get(callback).raw.headers.getlist("Set-Cookie")
        if text.startswith("sessionid")
    ]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


def test_the_provider_is_asked_as_the_standards_say(browser: Browser) -> None:
    asked = query_of(browser.begin())
    assert asked["response_type"] == "code"
    assert asked["code_challenge_method"] == "S256"
    assert set(asked["scope"].split()) == {"openid", "profile", "email"}
    assert len(asked["state"]) >= 32
    assert len(asked["nonce"]) >= 32
    assert asked["redirect_uri"] == f"{browser.origin}/sign-in/oidc/complete"


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({"preferred_username": "Grace"}, r"Grace"),
        ({"preferred_username": "grace@example.org", "name": "Grâce Hopper"}, r"Grace-Hopper"),
        ({"email": "secret@example.org", "email_verified": True}, r"Player(-\d+)?"),
        ({"name": "Guest-1"}, r"Player(-\d+)?"),
        ({"name": "名前", "preferred_username": "Grace"}, r"Grace-\d+"),
    ],
)
def test_names_are_suggested_and_free(
    browser: Browser, provider: Provider, claims: dict[str, Any], name: str
) -> None:
    browser.sign_in(provider.person(**claims))
    assert re.fullmatch(name, browser.me["name"])


@pytest.mark.parametrize(
    "target", ["https://elsewhere.example/", "//elsewhere.example", "javascript:x"]
)
def test_it_leads_to_no_other_site(browser: Browser, provider: Provider, target: str) -> None:
    callback = provider.consent(browser.begin(next=target), provider.person())
    assert browser.get(callback).headers["Location"] == "/account"
    other = fresh(browser)
    callback = provider.consent(other.begin(next="/docs/errors"), provider.person())
    assert other.get(callback).headers["Location"] == "/docs/errors"


# What must not work


def test_refused_consent_changes_nothing(town: Town, browser: Browser, provider: Provider) -> None:
    browser.submit("/sign-in", "/sign-in/guest")
    guest, players = browser.me["name"], count(town)
    answer = browser.get(provider.refuse(browser.begin()))
    assert answer.status_code == 403
    assert notices(answer) == ["You did not allow it, so nothing was changed."]
    assert browser.me["name"] == guest
    assert count(town) == players


def test_a_sign_in_is_good_once_and_in_one_browser(
    town: Town, browser: Browser, provider: Provider
) -> None:
    subject = provider.person(name="Once")
    callback = provider.consent(browser.begin(), subject)
    thief = fresh(browser)
    thief.get("/sign-in")
    assert thief.get(callback).status_code == 400
    assert browser.get(callback).status_code == 302
    players = count(town)
    replayed = browser.get(callback)
    assert replayed.status_code == 400
    assert "Start again" in notices(replayed)[-1]
    assert fresh(browser).get(callback).status_code == 400
    assert count(town) == players


def test_made_up_answers_are_refused(town: Town, browser: Browser, provider: Provider) -> None:
    state = query_of(browser.begin())["state"]
    players = count(town)
    for query in ("", "?code=x", "?state=x&code=x", "?state=&code=", f"?state={'x' * 5000}"):
        assert browser.get(f"/sign-in/oidc/complete{query}").status_code == 400, query
    assert browser.get(f"/sign-in/oidc/complete?state={state}&code=made-up").status_code == 400
    assert browser.get("/sign-in/nobody/complete").status_code == 404
    assert (
        requests.post(f"{town.web.url}/sign-in/oidc", timeout=20).status_code == 403
    )  # no CSRF token
    assert count(town) == players


def test_an_unverified_address_joins_nothing(browser: Browser, provider: Provider) -> None:
    address = "grace@navy.example"
    owner, before, after = browser, fresh(browser), fresh(browser)
    before.sign_in(provider.person(name="Before", email=address, email_verified=False))
    owner.sign_in(provider.person(name="Owner", email=address, email_verified=True))
    after.sign_in(provider.person(name="After", email=address, email_verified="true"))
    never_said = fresh(browser)
    never_said.sign_in(provider.person(name="Unsaid", email=address))
    names = [each.me["name"] for each in (before, owner, after, never_said)]
    assert names == ["Before", "Owner", "After", "Unsaid"]


def test_a_closed_account_stays_closed(town: Town, browser: Browser, provider: Provider) -> None:
    subject = provider.person(name="Closed", email="closed@example.org", email_verified=True)
    browser.sign_in(subject)
    assert town.cluster.query(
        "UPDATE accounts_player SET is_active = false WHERE name = 'Closed' RETURNING id"
    )
    assert browser.api("GET", "me").status_code == 401
    again = fresh(browser)
    assert again.sign_in(subject).status_code == 403
    by_address = provider.person(name="Closed2", email="closed@example.org", email_verified=True)
    assert again.sign_in(by_address).status_code == 403
    assert again.api("GET", "me").status_code == 401
    assert count(town, "name = 'Closed2'") == 0


# Coming together


def test_a_verified_address_joins_in_any_case(browser: Browser, provider: Provider) -> None:
    browser.sign_in(provider.person(name="Mary", email="mary@example.org", email_verified=True))
    other = fresh(browser)
    page = other.sign_in(
        provider.person(name="Other", email="Mary@Example.ORG", email_verified=True)
    )
    assert other.me["name"] == "Mary"
    assert "its e-mail address is yours" in notices(page)[0]


def test_an_address_that_moved_on_joins_nothing(browser: Browser, provider: Provider) -> None:
    """The provider has given it to somebody else."""
    first = provider.person(name="Leaver", email="desk@example.org", email_verified=True)
    browser.sign_in(first)
    provider.knows(first, name="Leaver", email="leaver@example.org", email_verified=True)
    assert fresh(browser).sign_in(first).status_code == 200
    successor = fresh(browser)
    successor.sign_in(provider.person(name="Heir", email="desk@example.org", email_verified=True))
    assert successor.me["name"] == "Heir"


def test_an_identity_is_added_and_never_moved(browser: Browser, provider: Provider) -> None:
    mine, others = provider.person(name="Mine"), provider.person(name="Others")
    browser.sign_in(mine)
    fresh(browser).sign_in(others)
    refused = browser.sign_in(others)
    assert refused.status_code == 409
    assert browser.me["name"] == "Mine"
    second = provider.person(name="Second")
    assert notices(browser.sign_in(second)) == ["You can sign in by this too from now on."]
    again = fresh(browser)
    again.sign_in(second)
    assert again.me["name"] == "Mine"


@pytest.mark.parametrize("same", ["identity", "address"])
def test_twenty_first_sign_ins_at_once_are_one_player(
    town: Town, provider: Provider, same: str
) -> None:
    claims = {"name": f"Many-{same}", "email": f"{same}@example.org", "email_verified": True}
    one = provider.person(**claims)
    subjects = [one if same == "identity" else provider.person(**claims) for _ in range(20)]
    towns = (town, Town(town.cluster, town.cluster.web()))
    browsers = [Browser(towns[number % 2], provider) for number in range(20)]
    callbacks = [
        provider.consent(each.begin(), subject)
        for each, subject in zip(browsers, subjects, strict=True)
    ]
    answers = all_at_once(20, lambda number: browsers[number].get(callbacks[number]))
    assert [answer.status_code for answer in answers] == [302] * 20
    assert {each.me["name"] for each in browsers} == {f"Many-{same}"}
    assert count(town, f"starts_with(name, 'Many-{same}')") == 1
    assert towns[1].complaints() == []


# Guests


def test_a_guest_becomes_a_player_and_keeps_everything(
    town: Town, browser: Browser, provider: Provider
) -> None:
    browser.submit("/sign-in", "/sign-in/guest")
    guest = browser.me
    assert guest["kind"] == "guest"
    game = browser.api("POST", "games", {"variant": "duo", "seats": [{}, {}]}).json()["game"]
    legal = browser.api("GET", f"games/{game}/legal-moves").json()
    body = {"ply": 0, "move": legal["moves"][0]["move"]}
    assert browser.api("POST", f"games/{game}/moves", body).status_code == 200
    page = browser.sign_in(provider.person(name="Emmy"))
    assert "Everything that you played as a guest is yours" in notices(page)[0]
    me = browser.me
    assert (me["name"], me["kind"]) == ("Emmy", "registered")
    assert me["created_at"] == guest["created_at"]
    assert count(town, f"name = '{guest['name']}'") == 0
    # The game goes on, by the same row.
    legal = browser.api("GET", f"games/{game}/legal-moves").json()
    body = {"ply": 1, "move": legal["moves"][0]["move"]}
    assert browser.api("POST", f"games/{game}/moves", body).status_code == 200
    assert f"{guest['name']}, until" in browser.get("/account").text


def test_a_guest_with_a_token_becomes_a_player(
    town: Town, browser: Browser, provider: Provider
) -> None:
    guest = town.guest()
    game = guest.game()
    subject = provider.person(name="Sofia")
    browser.sign_in(subject, token=guest.token)
    assert browser.me["name"] == "Sofia"
    move = browser.api("GET", f"games/{game}/legal-moves").json()["moves"][0]["move"]
    assert browser.api("POST", f"games/{game}/moves", {"ply": 0, "move": move}).status_code == 200
    # Whoever has seen the guest's token must not have the account.
    assert guest.http("GET", "/api/v1/me").code == "invalid-token"
    answer = fresh(browser).submit("/sign-in", "/sign-in/oidc", token=guest.token)
    assert answer.status_code == 400


def test_a_guest_who_has_an_account_already_stays_a_guest(
    town: Town, browser: Browser, provider: Provider
) -> None:
    subject = provider.person(name="Rosa")
    fresh(browser).sign_in(subject)
    guest = town.guest()
    page = browser.sign_in(subject, token=guest.token)
    assert browser.me["name"] == "Rosa"
    assert f"{guest.name} was a guest of its own" in notices(page)[1]
    assert guest.http("GET", "/api/v1/me").json["kind"] == "guest"
    in_browser = fresh(browser)
    in_browser.submit("/sign-in", "/sign-in/guest")
    guest_name = in_browser.me["name"]
    in_browser.sign_in(subject)
    assert in_browser.me["name"] == "Rosa"
    assert count(town, f"name = '{guest_name}' AND kind = 'guest'") == 1


def test_two_guests_of_one_person_at_once(town: Town, provider: Provider) -> None:
    """One of them becomes the player, the others stay guests."""
    subject = provider.person(name="Hedy")
    browsers = [Browser(town, provider) for _ in range(6)]
    for each in browsers:
        each.submit("/sign-in", "/sign-in/guest")
    names = {each.me["name"] for each in browsers}
    callbacks = [provider.consent(each.begin(), subject) for each in browsers]
    answers = all_at_once(6, lambda number: browsers[number].get(callbacks[number]))
    assert [answer.status_code for answer in answers] == [302] * 6
    assert {each.me["name"] for each in browsers} == {"Hedy"}
    assert sum(count(town, f"name = '{name}' AND kind = 'guest'") for name in names) == 5


# The session


def test_a_cookie_alone_changes_nothing(browser: Browser, provider: Provider) -> None:
    browser.sign_in(provider.person(name="Cookie"))
    body = {"name": "Stolen"}
    for token in ("", "x" * 64):
        answer = browser.api("PUT", "me/name", body, **{"X-CSRFToken": token})
        assert (answer.status_code, answer.json()["code"]) == (403, "csrf-failed")
    foreign = browser.api("PUT", "me/name", body, Origin="https://elsewhere.example")
    assert foreign.json()["code"] == "csrf-failed"
    assert browser.me["name"] == "Cookie"
    assert browser.api("PUT", "me/name", {"name": "Biscuit"}).json()["name"] == "Biscuit"


def test_a_socket_of_our_page_is_signed_in_and_of_another_is_not(
    browser: Browser, provider: Provider
) -> None:
    browser.sign_in(provider.person(name="Sock"))
    with browser.socket() as socket:
        hello = socket.hear()
        assert hello["player"] == "Sock"
        assert "play" in hello["scopes"]
        assert socket.told("subscribe", stream="inbox") == {"version": 0}
    port = browser.town.web.port
    for origin in (
        "https://elsewhere.example",
        f"http://elsewhere.example:{port}",
        f"http://127.0.0.1:{port + 1}",
        f"http://127.0.0.1.example:{port}",
        "null",
        "http://[",
    ):
        with browser.socket(origin) as socket:
            assert socket.hear()["player"] is None, origin
            assert socket.refused("subscribe", stream="inbox") == "not-authenticated"


def test_signing_out_closes_the_sockets_of_the_session_only(
    browser: Browser, provider: Provider
) -> None:
    subject = provider.person(name="Leave")
    browser.sign_in(subject)
    elsewhere = fresh(browser)
    elsewhere.sign_in(subject)
    with browser.socket() as here, elsewhere.socket() as there:
        here.hear()
        there.hear()
        began = time.monotonic()
        assert browser.submit("/account", "/sign-out").status_code == 302
        assert here.close_code() == 4401
        assert time.monotonic() - began < 2, "the control message, not the warden"
        assert there.told("ping")
    assert browser.api("GET", "me").status_code == 401
    with browser.socket() as over:
        assert over.hear()["player"] is None, "a session that is over is nobody's"


def test_a_session_that_ends_closes_its_sockets_within_ten_seconds(
    town: Town, browser: Browser, provider: Provider
) -> None:
    ended, banned = browser, fresh(browser)
    ended.sign_in(provider.person(name="Ended"))
    banned.sign_in(provider.person(name="Banned"))
    with ended.socket() as first, banned.socket() as second:
        first.hear()
        second.hear()
        key = ended.requests.cookies["sessionid"]
        town.cluster.query(
            "UPDATE django_session SET expire_date = now() WHERE session_key = %s RETURNING 1", key
        )
        town.cluster.query(
            "UPDATE accounts_player SET is_active = false WHERE name = 'Banned' RETURNING 1"
        )
        assert first.close_code(10) == 4401
        assert second.close_code(10) == 4401

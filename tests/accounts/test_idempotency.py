"""Idempotency keys: the same key and body give the same answer, and make nothing twice."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections
from django.utils import timezone

from accounts.models import AccessToken, IdempotencyRecord, Player
from accounts.services.people import create_guest, create_player
from accounts.services.retention import RULES
from tests.accounts.http import FRESH_KEY, Http, as_player, refused

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> Player:
    return create_player(name="Ada")


def test_the_same_key_and_body_give_the_same_answer(ada: Player) -> None:
    http, wish = as_player(ada), {"scopes": ["play"]}
    first = http.send("POST", "me/tokens", wish, Idempotency_Key=FRESH_KEY)
    assert first[0] == 201
    assert http.send("POST", "me/tokens", wish, Idempotency_Key=FRESH_KEY) == first
    assert http.last["Idempotent-Replay"] == "true"
    assert AccessToken.objects.count() == 2
    assert Http(first[1]["secret"]).get("me")[0] == 200


def test_the_key_with_another_body_or_address_is_refused(ada: Player) -> None:
    http = as_player(ada)
    http.send("POST", "me/tokens", {"scopes": ["play"]}, Idempotency_Key=FRESH_KEY)
    answer = http.send("POST", "me/tokens", {"scopes": ["puzzle"]}, Idempotency_Key=FRESH_KEY)
    assert refused(answer) == (422, "idempotency-key-reused")
    assert AccessToken.objects.count() == 2


def test_a_key_belongs_to_its_player_or_address(ada: Player) -> None:
    wish = {"scopes": ["play"]}
    mine = as_player(ada).send("POST", "me/tokens", wish, Idempotency_Key=FRESH_KEY)
    other = as_player(create_player(name="Bob")).send(
        "POST", "me/tokens", wish, Idempotency_Key=FRESH_KEY
    )
    assert mine[0] == other[0] == 201
    assert mine[1]["secret"] != other[1]["secret"]
    # Ada with another of her tokens is still Ada.
    assert as_player(ada).send("POST", "me/tokens", wish, Idempotency_Key=FRESH_KEY) == mine
    guest = Http().send("POST", "guests", Idempotency_Key=FRESH_KEY)
    assert Http().send("POST", "guests", Idempotency_Key=FRESH_KEY) == guest
    assert Player.objects.filter(kind="guest").count() == 1


def test_a_refusal_is_not_kept_and_the_key_can_be_tried_again(ada: Player) -> None:
    http = as_player(ada, "profile", "play")
    answer = http.send("POST", "me/tokens", {"scopes": ["bot"]}, Idempotency_Key=FRESH_KEY)
    assert refused(answer) == (403, "missing-scope")
    status, _ = http.send("POST", "me/tokens", {"scopes": ["play"]}, Idempotency_Key=FRESH_KEY)
    assert status == 201


def test_after_a_day_the_key_is_new_and_old_answers_are_forgotten(ada: Player) -> None:
    http, wish = as_player(ada), {"scopes": ["play"]}
    first = http.send("POST", "me/tokens", wish, Idempotency_Key=FRESH_KEY)
    http.send("POST", "me/tokens", wish, Idempotency_Key="another-key-of-that-day")
    IdempotencyRecord.objects.update(created_at=timezone.now() - timedelta(hours=24, seconds=1))
    second = http.send("POST", "me/tokens", wish, Idempotency_Key=FRESH_KEY)
    assert second[0] == 201
    assert second[1]["secret"] != first[1]["secret"]
    assert RULES["answers"]() == 1
    assert IdempotencyRecord.objects.count() == 1


@pytest.mark.parametrize("key", ["", "short", "x" * 256, "é" * 20])
def test_a_key_must_be_hard_to_guess_and_printable(key: str) -> None:
    answer = Http().send("POST", "guests", Idempotency_Key=key)
    assert refused(answer) == (400, "invalid-idempotency-key")
    assert not Player.objects.exists()


def test_no_secret_is_stored_with_an_answer() -> None:
    _, body = Http().send("POST", "guests", Idempotency_Key=FRESH_KEY)
    with connection.cursor() as cursor:
        cursor.execute("SELECT t::text FROM accounts_idempotencyrecord t")
        (row,) = cursor.fetchone()
    assert body["player"]["name"] in row
    assert body["token"][5:] not in row
    assert FRESH_KEY not in row


@pytest.mark.django_db(transaction=True)
def test_twenty_posts_of_one_tap_make_one_guest() -> None:
    def tap(_: int) -> tuple[int, Any]:
        try:
            return Http().send("POST", "guests", Idempotency_Key=FRESH_KEY)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(tap, range(20)))
    assert answers == [answers[0]] * 20
    assert answers[0][0] == 201
    assert Player.objects.count() == 1


def test_a_guest_can_be_made_again_and_again() -> None:
    names = {create_guest()[0].name for _ in range(20)}
    assert len(names) == 20

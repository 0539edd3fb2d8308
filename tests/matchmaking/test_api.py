"""Pools and tickets over HTTP."""

from typing import Any

import pytest
from django.test import Client

from accounts.services.people import create_guest
from accounts.services.tokens import issue_token
from matchmaking.models import Pool
from matchmaking.pools import Pools
from matchmaking.selectors import forget_pools
from tests.matchmaking.people import BLITZ, RAPID, assert_one_game_each, registered, seed

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _pools(store: Pools) -> None:
    seed()


def client(player: int, *scopes: str) -> Client:
    _, secret = issue_token(player_id=player, scopes=scopes or ("play",))
    return Client(headers={"Authorization": f"Bearer {secret}"})


def ticket(key: str = BLITZ) -> str:
    return f"/api/v1/pools/{key}/ticket"


def refused(response: Any, status: int, code: str) -> dict[str, Any]:
    assert response["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    assert (response.status_code, body["code"]) == (status, code)
    return body


def test_pools_are_public() -> None:
    body = Client().get("/api/v1/pools").json()
    keys = [pool["key"] for pool in body["pools"]]
    assert keys == sorted(keys)
    assert len(keys) == 12
    players = {pool["key"]: pool["players"] for pool in body["pools"]}
    assert (players["classic-rapid"], players["classic-3-rapid"], players["duo-blitz"]) == (4, 3, 2)
    blitz = Client().get("/api/v1/pools/duo-blitz").json()
    assert (
        blitz
        == next(pool for pool in body["pools"] if pool["key"] == "duo-blitz")
        == {
            "key": "duo-blitz",
            "variant": "duo",
            "time_control": {"kind": "realtime", "initial_ms": 120_000, "increment_ms": 3_000},
            "speed": "blitz",
            "players": 2,
            "rated": True,
            "window_limit": 500.0,
            "min_rating": None,
            "max_rating": None,
            "open": True,
            "bots": "none",
            "waiting": 0,
        }
    )
    refused(Client().get("/api/v1/pools/nowhere"), 404, "unknown-pool")


def test_a_ticket_from_put_to_match() -> None:
    one, two = registered(2)
    first, second = client(one), client(two)
    put = first.put(ticket()).json()
    assert (put["state"], put["position"]) == ("waiting", 1)
    assert first.put(ticket()).json()["id"] == put["id"]
    assert first.get(ticket()).json()["id"] == put["id"]
    assert first.get(ticket(RAPID)).json() == {"state": "none"}
    assert Client().get(f"/api/v1/pools/{BLITZ}").json()["waiting"] == 1
    assert refused(first.put(ticket(RAPID)), 409, "already-waiting")["pool"] == BLITZ
    matched = second.put(ticket()).json()
    assert matched["state"] == "matched"
    assert first.get(ticket()).json() == {"state": "matched", "game": matched["game"]}
    assert refused(first.put(ticket()), 409, "already-playing")["game"] == matched["game"]
    assert_one_game_each([one, two])


def test_deleting_a_ticket() -> None:
    (one,) = registered(1)
    phone, laptop = client(one), client(one)
    phone.put(ticket())
    assert laptop.delete(ticket()).status_code == 204
    assert laptop.delete(ticket()).status_code == 204
    assert phone.get(ticket()).json() == {"state": "none"}


@pytest.mark.parametrize("method", ["get", "put", "delete"])
def test_who_may_not(method: str) -> None:
    (one,) = registered(1)
    refused(getattr(Client(), method)(ticket()), 401, "not-authenticated")
    refused(getattr(client(one, "profile"), method)(ticket()), 403, "missing-scope")
    if method != "delete":  # one must get out of a pool that an operator has deleted
        refused(getattr(client(one), method)(ticket("nowhere")), 404, "unknown-pool")


def test_leaving_a_pool_that_is_gone() -> None:
    (one,) = registered(1)
    client(one).put(ticket())
    Pool.objects.filter(key=BLITZ).delete()
    forget_pools()
    assert refused(client(one).put(ticket(RAPID)), 409, "already-waiting")["pool"] == BLITZ
    assert client(one).delete(ticket()).status_code == 204
    assert client(one).put(ticket(RAPID)).json()["state"] == "waiting"


def test_guests_and_closed_pools() -> None:
    guest, _ = create_guest()
    refused(client(guest.pk).put(ticket()), 403, "guests-not-allowed")
    (one,) = registered(1)
    Pool.objects.filter(key=BLITZ).update(open=False)
    Pool.objects.filter(key=RAPID).update(min_rating=2_000)
    forget_pools()
    refused(client(one).put(ticket()), 409, "pool-closed")
    assert (
        refused(client(one).put(ticket(RAPID)), 403, "rating-outside-pool")["min_rating"] == 2_000
    )

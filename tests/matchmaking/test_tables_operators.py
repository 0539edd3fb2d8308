"""What operators see of rooms and challenges, and what the database refuses whatever the code does."""

from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.services.people import create_player
from common.clock import to_datetime
from games.territory.signals import swept
from matchmaking.models import Challenge, Room, RoomSeat
from matchmaking.pools import Pools
from matchmaking.selectors.challenges import challenge_view
from matchmaking.selectors.rooms import room_view
from tests.matchmaking.people import NOW, registered
from tests.matchmaking.tables import filled, opened
from tests.matchmaking.test_challenges import made

pytestmark = pytest.mark.django_db(transaction=True)
DAYS_LATER = NOW + 10 * 86_400_000


@pytest.fixture(autouse=True)
def _redis(store: Pools) -> None:
    """No tickets of other tests."""


def operator() -> Client:
    client = Client()
    client.force_login(create_player(name="Operator", staff=True, password="a-long-password"))
    return client


@pytest.mark.parametrize("model", ["room", "challenge"])
def test_lists_and_pages(model: str) -> None:
    players = registered(4)
    codes = [filled(players[:2]), opened(players[2])]
    challenge = made(players[0])
    client = operator()
    with CaptureQueriesContext(connection) as asked:
        listed = client.get(f"/admin/matchmaking/{model}/")
    assert listed.status_code == 200
    assert len(asked) < 16, "not one query a row"
    page = listed.content.decode()
    if model == "room":
        assert all(code in page for code in codes)
        found = client.get(f"/admin/matchmaking/room/?q={codes[0]}").content.decode()
        assert codes[0] in found
        assert codes[1] not in found
        detail = client.get(f"/admin/matchmaking/room/{Room.objects.get(code=codes[0]).pk}/change/")
        assert "Player1" in detail.content.decode()
    if model == "challenge":
        assert challenge in page
        assert client.get(f"/admin/matchmaking/challenge/{challenge}/change/").status_code == 200


def test_the_sweepers_round_ends_what_is_due() -> None:
    players = registered(2)
    code, challenge = filled(players), made(players[0])
    for _ in range(2):
        for _, error in swept.send_robust(sender=None, now=DAYS_LATER):
            assert error is None
    assert room_view(code).status == "expired"
    assert challenge_view(challenge, players[0]).row.status == "expired"


@pytest.mark.parametrize(
    "change",
    [
        {"status": "closed"},
        {"ended_at": to_datetime(NOW)},
        {"rated": True, "kind": "none"},
        {"rated": True, "undo": "free"},
    ],
)
def test_rows_that_the_database_refuses(change: dict[str, Any]) -> None:
    players = registered(2)
    opened(players[0])
    made(players[0])
    for rows in (Room.objects.all(), Challenge.objects.all()):
        with pytest.raises(IntegrityError), transaction.atomic():
            rows.update(**(change if "closed" not in change.values() else {"status": "expired"}))


def test_seats_that_the_database_refuses() -> None:
    one, two = registered(2)
    opened(one)
    opened(two)
    seats = RoomSeat.objects.filter(player_id=one)
    for change in ({"level": "starter"}, {"since": None}, {"player_id": two}, {"index": 1}):
        with pytest.raises(IntegrityError), transaction.atomic():
            seats.update(**change)
    with pytest.raises(IntegrityError), transaction.atomic():
        RoomSeat.objects.filter(player=None).update(ready=True)
    with pytest.raises(IntegrityError), transaction.atomic():
        Room.objects.update(code="AAAAAA")


def test_challenges_that_the_database_refuses() -> None:
    one, two, three = registered(3)
    made(one)
    made(one, "Player2")
    for change in ({"target_id": two}, {"target_id": None}, {"challenger_id": two}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Challenge.objects.update(**change)
    assert three

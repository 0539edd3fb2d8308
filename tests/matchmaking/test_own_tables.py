"""What rooms and challenges keep of a person: given out, left, erased, and forgotten after a week."""

from datetime import timedelta

import pytest
from django.db import transaction

from common.clock import now_ms, to_datetime
from matchmaking.models import Challenge, ChallengeSeat, ChallengeTaking, Room, RoomSeat
from matchmaking.pools import Pools
from matchmaking.selectors.rooms import room_view
from matchmaking.services import own_tables, rooms
from matchmaking.services.challenges import make_challenge, take_challenges
from matchmaking.services.own_tables import KEPT, forget_tables
from matchmaking.tasks import forget
from tests.matchmaking.people import registered
from tests.matchmaking.tables import inbox_of, names, terms

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _redis(store: Pools) -> None:
    """No tickets of other tests."""


def test_given_out_left_and_erased() -> None:
    one, two = registered(2)
    now = now_ms()
    code = rooms.open_room(player_id=one, terms=terms(), friends_only=False, now=now).room
    rooms.sit(code=code, player_id=two, seat=1, now=now)
    for player, name in ((one, "Player1"), (two, "Player0")):
        make_challenge(player_id=player, name=name, terms=terms(), first="draw", now=now)
    take_challenges(player_id=one, whose="friends")
    assert [each.room for each in own_tables.export_rooms(one)] == [code]
    assert [each.room for each in own_tables.export_rooms(two)] == [code]
    given = list(own_tables.export_challenges(one))
    assert {each.challenger for each in given} == {"Player0", "Player1"}
    assert own_tables.export_taking(one) == "friends"

    for _ in range(2):
        own_tables.leave_rooms(one)
        own_tables.leave_challenges(one)
    assert (room_view(code).host, names(room_view(code))) == ("Player1", [None, "Player1"])
    ended = [event["status"] for event in inbox_of(two) if event["type"] == "challenge_ended"]
    assert sorted(ended) == ["cancelled", "declined"]

    with transaction.atomic():
        for erase in (own_tables.erase_rooms, own_tables.erase_challenges, own_tables.erase_taking):
            erase(one)
    assert not ChallengeSeat.objects.filter(player_id=one).exists()
    assert not ChallengeTaking.objects.exists()
    assert not RoomSeat.objects.filter(player_id=one).exists()
    assert not list(own_tables.export_rooms(one))
    assert not list(own_tables.export_challenges(one))
    assert room_view(code).status == "open", "the other's room stays"


def test_what_is_over_is_forgotten_after_a_week() -> None:
    players = registered(4)
    now = now_ms()
    codes = []
    for player in players:
        room = rooms.open_room(player_id=player, terms=terms(), friends_only=False, now=now)
        codes.append(room.room)
    make_challenge(player_id=players[0], name="Player1", terms=terms(), first="draw", now=now)
    for player, code, margin in zip(players[:2], codes, (1, -1), strict=False):
        rooms.leave_seat(code=code, player_id=player, seat=0, now=now)
        moment = to_datetime(now) - KEPT - timedelta(minutes=margin)
        Room.objects.filter(code=code).update(ended_at=moment)
    assert (forget_tables(), forget_tables()) == (1, 0)
    assert set(Room.objects.values_list("code", flat=True)) == set(codes[1:])
    assert Challenge.objects.count() == 1
    Challenge.objects.update(status="expired", ended_at=to_datetime(now) - 2 * KEPT)
    forget()
    assert not Challenge.objects.exists()

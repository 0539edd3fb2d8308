"""Rooms: settings, seats, hosts, who is ready, and the game that comes of it."""

import random
from datetime import timedelta
from typing import Any

import pytest

from accounts.models import Block, Friendship
from accounts.services.people import become_bot, create_guest
from common.clock import from_datetime
from common.errors import KadoError
from games.territory import selectors as games
from games.territory.models import Engagement
from games.territory.rules import TimeControl
from matchmaking.models import Room, RoomSeat
from matchmaking.pools import Pools
from matchmaking.rules import ALPHABET, Terms, new_code, read_code
from matchmaking.selectors.rooms import room_view
from matchmaking.services import rooms
from matchmaking.services.room_start import expire_rooms, start_room
from matchmaking.services.rooms import IDLE
from matchmaking.services.tickets import join_pool
from tests.matchmaking.people import BLITZ as POOL
from tests.matchmaking.people import NOW, registered, seed
from tests.matchmaking.tables import (
    BLITZ,
    DAYS,
    UNTIMED,
    assert_rooms_are_whole,
    bot,
    filled,
    inbox_of,
    names,
    opened,
    ready,
    seated,
    seats_of,
    terms,
)

pytestmark = pytest.mark.django_db(transaction=True)
IDLE_MS = IDLE // timedelta(milliseconds=1)


@pytest.fixture(autouse=True)
def _whole(store: Pools) -> Any:
    yield
    assert_rooms_are_whole()


def refused(problem: str, work: Any, /, *args: Any, **wish: Any) -> dict[str, Any]:
    with pytest.raises(KadoError) as caught:
        work(*args, **wish)
    assert caught.value.code == problem
    return caught.value.data


# Codes


def test_codes_cannot_be_misread() -> None:
    codes = [new_code(random.Random(seed)) for seed in range(200)]
    assert len(set(codes)) == 200
    assert set("".join(codes)) == set(ALPHABET)
    assert not set(ALPHABET) & set("01OI")
    assert all(read_code(code.lower()) == code for code in codes)
    for wrong in ("", "ABC", "ABCDEFG", "ABCDE0", "ÄBCDEF", "ABC DE", "ABCDEF\0"):
        assert read_code(wrong) is None


def test_a_code_that_is_taken_is_drawn_again() -> None:
    one, two, three = registered(3)
    settings: dict[str, Any] = {"terms": terms(), "friends_only": False, "now": NOW}
    first = rooms.open_room(player_id=one, random=random.Random(1), **settings)
    second = rooms.open_room(player_id=two, random=random.Random(1), **settings)
    assert first.room != second.room
    rooms.leave_seat(code=first.room, player_id=one, seat=0, now=NOW)
    third = rooms.open_room(player_id=three, random=random.Random(1), **settings)
    assert third.room == first.room, "a code is free again when its room is over"
    assert room_view(first.room).host == "Player2"


# From the opening to the game


def test_from_opening_to_game() -> None:
    one, two = registered(2)
    code = opened(one, terms(rated=True))
    assert names(room_view(code)) == ["Player0", None]
    assert refused("room-not-ready", start_room, code=code, player_id=one, now=NOW) == {
        "empty": [1],
        "waiting_for": [],
    }
    seated(code, two, 1)
    assert seated(code, two, 1) == room_view(code), "twice is once"
    assert refused("room-not-ready", start_room, code=code, player_id=one, now=NOW) == {
        "empty": [],
        "waiting_for": ["Player1"],
    }
    ready(code, two)
    refused("not-host", start_room, code=code, player_id=two, now=NOW)
    game = start_room(code=code, player_id=one, now=NOW)
    assert start_room(code=code, player_id=one, now=NOW) == game, "twice is once"
    assert seats_of(game) == (one, two)
    view = room_view(code)
    assert (view.status, view.game, view.seats) == ("started", game, ())
    for player, seat in ((one, 0), (two, 1)):
        event = {"type": "room_started", "room": code, "game": game, "seat": seat}
        assert inbox_of(player) == [event]
    started = games.load_state(game).started
    assert (started.rated, started.undo, started.spectators) == (True, "none", True)
    assert set(Engagement.objects.values_list("player_id", flat=True)) == {one, two}
    assert opened(one), "who plays may open the next room"


def test_two_people_and_two_cpus() -> None:
    one, two = registered(2)
    code = opened(one, terms("classic", undo="ask", spectators=False))
    rooms.place_cpu(code=code, player_id=one, seat=1, level="starter", now=NOW)
    rooms.place_cpu(code=code, player_id=one, seat=3, level="starter", now=NOW)
    rooms.place_cpu(code=code, player_id=one, seat=3, level="advanced", now=NOW)
    seated(code, two, 2)
    view = ready(code, two)
    assert names(view) == ["Player0", "starter", "Player1", "advanced"]
    assert [seat.ready for seat in view.seats] == [False, True, True, True]
    game = start_room(code=code, player_id=one, now=NOW)
    assert games.seating(game).levels == ("", "starter", "", "advanced")
    started = games.load_state(game).started
    assert (started.undo, started.spectators) == ("ask", False)
    assert inbox_of(two)[0]["seat"] == 2


def test_alone_with_cpus() -> None:
    (one,) = registered(1)
    code = opened(one)
    rooms.place_cpu(code=code, player_id=one, seat=1, level="starter", now=NOW)
    game = start_room(code=code, player_id=one, now=NOW)
    assert games.load_state(game).started.undo == "free", "who plays alone takes back"
    assert not Engagement.objects.exists()


@pytest.mark.parametrize("variant", ["duo", "classic", "classic-2", "classic-3", "junior"])
def test_every_variant(variant: str) -> None:
    players = registered({"classic": 4, "classic-3": 3}.get(variant, 2))
    code = filled(players, terms(variant))
    assert seats_of(start_room(code=code, player_id=players[0], now=NOW)) == tuple(players)


# Settings


def test_changed_settings_make_nobody_ready() -> None:
    one, two = registered(2)
    code = filled([one, two])
    view = rooms.change_room(
        code=code, player_id=one, changes={"undo": "free", "friends_only": True}, now=NOW
    )
    assert (view.revision, view.terms.undo, view.friends_only) == (2, "free", True)
    assert [seat.ready for seat in view.seats] == [False, False]
    stale = {"code": code, "player_id": two, "ready": True, "revision": 1, "now": NOW}
    assert refused("stale-settings", rooms.set_ready, **stale) == {"revision": 2}
    same = rooms.change_room(code=code, player_id=one, changes={"undo": "free"}, now=NOW)
    assert same.revision == 2, "what is as it was is no change"
    refused("not-host", rooms.change_room, code=code, player_id=two, changes={}, now=NOW)


def test_seats_follow_the_variant() -> None:
    one, two = registered(2)
    code = opened(one)
    change: dict[str, Any] = {"code": code, "player_id": one, "now": NOW}
    assert len(rooms.change_room(changes={"variant": "classic"}, **change).seats) == 4
    seated(code, two, 3)
    assert refused("seats-occupied", rooms.change_room, changes={"variant": "duo"}, **change) == {
        "seats": 2
    }
    seated(code, two, 1)
    assert names(rooms.change_room(changes={"variant": "junior"}, **change)) == [
        "Player0",
        "Player1",
    ]
    for seat in (-1, 2, 10**9):
        refused("wrong-seats", seated, code, two, seat)


@pytest.mark.parametrize(
    "wrong",
    [
        terms(control=TimeControl.realtime(9_999)),
        terms(control=TimeControl.realtime(3 * 3_600_000 + 1)),
        terms(control=TimeControl.realtime(60_000, 180_001)),
        terms(control=TimeControl.correspondence(15)),
        terms(control=UNTIMED, rated=True),
        terms(rated=True, undo="free"),
    ],
)
def test_settings_that_no_game_can_have(wrong: Terms) -> None:
    (one,) = registered(1)
    refused("wrong-settings", opened, one, wrong)
    code = opened(one)
    changes = {
        "time_control": wrong.time_control,
        "rated": wrong.rated,
        "undo": wrong.undo,
    }
    refused("wrong-settings", rooms.change_room, code=code, player_id=one, changes=changes, now=NOW)
    assert room_view(code).revision == 1


def test_rated_is_for_people_who_have_signed_in() -> None:
    one, robot = registered(1)[0], bot()
    refused("rated-not-allowed", opened, robot, terms(rated=True))
    code = opened(one, terms(rated=True))
    refused("rated-not-allowed", seated, code, robot, 1)
    cpu: dict[str, Any] = {"code": code, "player_id": one, "seat": 1, "level": "starter"}
    cpu["now"] = NOW
    refused("rated-not-allowed", rooms.place_cpu, **cpu)
    change: dict[str, Any] = {"code": code, "player_id": one, "now": NOW}
    rooms.change_room(changes={"rated": False}, **change)
    seated(code, robot, 1)
    refused("rated-not-allowed", rooms.change_room, changes={"rated": True}, **change)
    rooms.leave_seat(code=code, player_id=one, seat=1, now=NOW)
    rooms.place_cpu(**cpu)
    refused("rated-not-allowed", rooms.change_room, changes={"rated": True}, **change)


def test_who_has_become_a_bot_since_then_plays_nothing_rated() -> None:
    one, two = registered(2)
    code = filled([one, two], terms(rated=True))
    become_bot(player_id=two)
    refused("rated-not-allowed", start_room, code=code, player_id=one, now=NOW)
    assert room_view(code).status == "open"


# Who may sit


def test_guests_sit_nowhere() -> None:
    (one,) = registered(1)
    guest, _ = create_guest()
    refused("guests-not-allowed", opened, guest.pk)
    refused("guests-not-allowed", seated, opened(one), guest.pk, 1)


def test_one_room_at_a_time() -> None:
    one, two = registered(2)
    first, second = opened(one), opened(two)
    assert refused("in-another-room", seated, second, one, 1) == {"room": first}
    assert refused("in-another-room", opened, one) == {"room": first}
    rooms.leave_seat(code=first, player_id=one, seat=0, now=NOW)
    seated(second, one, 1)


def test_a_seat_is_one_persons() -> None:
    one, two, three = registered(3)
    code = filled([one, two])
    refused("seat-taken", seated, code, three, 1)
    cpu = {"code": code, "player_id": one, "level": "starter", "now": NOW}
    refused("seat-taken", rooms.place_cpu, seat=1, **cpu)
    refused("unknown-level", rooms.place_cpu, seat=1, **(cpu | {"level": "godlike"}))
    refused("not-host", rooms.place_cpu, seat=1, **(cpu | {"player_id": two}))
    stranger = {"code": code, "player_id": three, "revision": 1, "now": NOW}
    refused("not-in-room", rooms.set_ready, ready=True, **stranger)


def test_moving_to_another_seat() -> None:
    one, two = registered(2)
    code = filled([one, two], terms("classic"))
    assert names(seated(code, one, 3)) == [None, "Player1", None, "Player0"]
    view = seated(code, two, 0)
    assert names(view) == ["Player1", None, None, "Player0"]
    assert not view.seats[0].ready
    assert view.host == "Player0"


def test_by_friends_only() -> None:
    one, friend, other = registered(3)
    Friendship.objects.create(sender_id=friend, recipient_id=one, asked_at=NOW, since=NOW)
    Friendship.objects.create(sender_id=other, recipient_id=one, asked_at=NOW)
    code = opened(one, friends_only=True)
    refused("not-welcome", seated, code, other, 1)
    seated(code, friend, 1)


@pytest.mark.parametrize("blocks", [(1, 2), (2, 1)])
def test_a_block_with_anybody_who_sits_there(blocks: tuple[int, int]) -> None:
    people = registered(3)
    code = opened(people[0], terms("classic"))
    seated(code, people[1], 1)
    Block.objects.create(blocker_id=people[blocks[0]], blocked_id=people[blocks[1]], at=NOW)
    refused("not-welcome", seated, code, people[2], 2)
    rooms.leave_seat(code=code, player_id=people[1], seat=1, now=NOW)
    seated(code, people[2], 2)


# Leaving


def test_the_next_one_becomes_host() -> None:
    one, two, three = registered(3)
    code = opened(one, terms("classic"))
    rooms.sit(code=code, player_id=two, seat=3, now=NOW + 1)
    rooms.sit(code=code, player_id=three, seat=1, now=NOW + 2)
    rooms.place_cpu(code=code, player_id=one, seat=2, level="starter", now=NOW)
    assert rooms.leave_seat(code=code, player_id=one, seat=0, now=NOW).host == "Player1"
    assert rooms.leave_seat(code=code, player_id=two, seat=3, now=NOW).host == "Player2"
    view = rooms.leave_seat(code=code, player_id=three, seat=1, now=NOW)
    assert (view.status, view.seats) == ("closed", ())
    over = {"status": "closed", "game": None}
    assert refused("room-over", seated, code, one, 0) == over


def test_kicked() -> None:
    one, two = registered(2)
    code = filled([one, two])
    refused("not-host", rooms.leave_seat, code=code, player_id=two, seat=0, now=NOW)
    view = rooms.leave_seat(code=code, player_id=one, seat=1, now=NOW)
    assert names(view) == ["Player0", None]
    assert inbox_of(two) == [{"type": "room_left", "room": code, "reason": "kicked"}]
    assert inbox_of(one) == []
    again = rooms.leave_seat(code=code, player_id=one, seat=1, now=NOW)
    assert again.status == "open"
    refused("room-not-ready", start_room, code=code, player_id=one, now=NOW)


def test_leaving_a_room_that_has_started() -> None:
    one, two = registered(2)
    code = filled([one, two])
    game = start_room(code=code, player_id=one, now=NOW)
    over = {"status": "started", "game": game}
    assert refused("room-over", rooms.leave_seat, code=code, player_id=two, seat=1, now=NOW) == over
    assert refused("room-over", start_room, code=code, player_id=two, now=NOW) == over


# Live games


def test_somebody_is_in_a_live_game() -> None:
    one, two, three = registered(3)
    game = start_room(code=filled([one, two]), player_id=one, now=NOW)
    code = filled([three, two])
    playing = refused("others-playing", start_room, code=code, player_id=three, now=NOW)
    assert playing == {"players": ["Player1"]}
    assert room_view(code).status == "open", "and it can be started later"
    rooms.leave_seat(code=code, player_id=three, seat=0, now=NOW)
    seated(code, three, 0)
    ready(code, three)
    assert refused("already-playing", start_room, code=code, player_id=two, now=NOW) == {
        "game": game
    }


@pytest.mark.parametrize("control", [DAYS, UNTIMED])
def test_games_without_running_clocks_are_many(control: TimeControl) -> None:
    one, two = registered(2)
    found = {
        start_room(code=filled([one, two], terms(control=control)), player_id=one, now=NOW)
        for _ in range(3)
    }
    assert len(found) == 3
    assert not Engagement.objects.exists()
    start_room(code=filled([one, two], terms(control=BLITZ)), player_id=one, now=NOW)


@pytest.mark.parametrize(("control", "waits"), [(BLITZ, False), (DAYS, True)])
def test_tickets_go_when_a_game_is_played_now(
    store: Pools, control: TimeControl, waits: bool
) -> None:
    seed()
    one, two = registered(2)
    code = filled([one, two], terms(control=control))
    join_pool(player_id=two, pool_key=POOL, now=NOW)
    start_room(code=code, player_id=one, now=NOW)
    assert (store.ticket(two) is not None) == waits


# Time


def test_what_anybody_does_keeps_the_room() -> None:
    one, two = registered(2)
    code = opened(one)
    assert room_view(code).expires_at == NOW + IDLE_MS
    rooms.sit(code=code, player_id=two, seat=1, now=NOW + 60_000)
    assert room_view(code).expires_at == NOW + 60_000 + IDLE_MS


def test_an_idle_room_expires() -> None:
    one, two = registered(2)
    code = filled([one, two])
    end = from_datetime(Room.objects.get().expires_at)
    assert expire_rooms(now=end - 1) == 0
    refused("room-over", start_room, code=code, player_id=one, now=end)
    assert room_view(code).status == "open", "only the sweeper writes it down"
    assert (expire_rooms(now=end), expire_rooms(now=end)) == (1, 0)
    assert (room_view(code).status, RoomSeat.objects.count()) == ("expired", 0)
    for player in (one, two):
        assert inbox_of(player) == [{"type": "room_left", "room": code, "reason": "expired"}]

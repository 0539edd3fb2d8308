"""Everything about a room that may happen at the same moment: threads on the real database."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from common.errors import KadoError
from games.territory.models import Engagement, Game
from matchmaking.models import Room, RoomSeat
from matchmaking.pools import Pools
from matchmaking.selectors.rooms import room_view
from matchmaking.services import rooms
from matchmaking.services.room_start import expire_rooms, start_room
from matchmaking.services.rooms import IDLE
from tests.games.territory.tables import at_once
from tests.matchmaking.people import NOW, registered
from tests.matchmaking.tables import (
    DAYS,
    assert_rooms_are_whole,
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
ROUNDS = 6
LATE = NOW + IDLE // timedelta(milliseconds=1)


@pytest.fixture(autouse=True)
def _whole(store: Pools) -> Any:
    yield
    assert_rooms_are_whole()


def what(outcomes: list[Any]) -> Counter[str]:
    """How often each refusal came, and `done`; anything that is no refusal fails the test."""
    found = Counter[str]()
    for outcome in outcomes:
        if isinstance(outcome, BaseException) and not isinstance(outcome, KadoError):
            raise outcome
        found[outcome.code if isinstance(outcome, KadoError) else "done"] += 1
    return found


def together(*works: Callable[[], Any]) -> list[Any]:
    return at_once(len(works), lambda number: works[number]())


def test_one_seat_and_many_who_want_it() -> None:
    host, *others = registered(11)
    code = opened(host)
    outcomes = at_once(10, lambda number: seated(code, others[number], 1))
    assert what(outcomes) == {"done": 1, "seat-taken": 9}
    assert RoomSeat.objects.exclude(player=None).count() == 2


def test_one_player_and_many_seats() -> None:
    """Of one room the player has the last one asked for; of several rooms the first."""
    host, one = registered(2)
    code = opened(host, terms("classic"))
    outcomes = at_once(6, lambda number: seated(code, one, number % 3 + 1))
    assert what(outcomes) == {"done": 6}
    assert names(room_view(code)).count("Player1") == 1

    hosts = registered(6, "Host")
    codes = [opened(each) for each in hosts]
    two = registered(1, "Two")[0]
    outcomes = at_once(6, lambda number: seated(codes[number], two, 1))
    assert what(outcomes) == {"done": 1, "in-another-room": 5}


def test_one_player_opens_many_rooms() -> None:
    (one,) = registered(1)
    assert what(at_once(8, lambda _: opened(one))) == {"done": 1, "in-another-room": 7}
    assert Room.objects.count() == 1


def test_started_many_times() -> None:
    one, two = registered(2)
    code = filled([one, two])
    outcomes = at_once(10, lambda _: start_room(code=code, player_id=one, now=NOW))
    assert what(outcomes) == {"done": 10}
    assert len(set(outcomes)) == Game.objects.count() == 1
    assert [event["type"] for event in inbox_of(two)] == ["room_started"]


def test_a_player_leaves_while_the_host_starts() -> None:
    for round_ in range(ROUNDS):
        one, two = registered(2, f"R{round_}P")
        code = filled([one, two], terms(control=DAYS))
        started, left = together(
            partial(start_room, code=code, player_id=one, now=NOW),
            partial(rooms.leave_seat, code=code, player_id=two, seat=1, now=NOW),
        )
        outcome = (what([started]), what([left]))
        view = room_view(code)
        if view.status == "started":
            assert outcome == ({"done": 1}, {"room-over": 1})
            assert seats_of(started) == (one, two)
        else:
            assert outcome == ({"room-not-ready": 1}, {"done": 1})
            assert names(view) == [f"R{round_}P0", None]


def test_the_host_leaves_while_starting() -> None:
    for round_ in range(ROUNDS):
        one, two = registered(2, f"R{round_}P")
        code = filled([one, two], terms(control=DAYS))
        started, left = together(
            partial(start_room, code=code, player_id=one, now=NOW),
            partial(rooms.leave_seat, code=code, player_id=one, seat=0, now=NOW),
        )
        view = room_view(code)
        if view.status == "started":
            assert (what([started]), what([left])) == ({"done": 1}, {"room-over": 1})
        else:
            assert (what([started]), what([left])) == ({"not-host": 1}, {"done": 1})
            assert (view.host, names(view)) == (f"R{round_}P1", [None, f"R{round_}P1"])


def test_everybody_leaves_at_once() -> None:
    people = registered(4)
    code = filled(people, terms("classic"))
    outcomes = at_once(
        4,
        lambda seat: rooms.leave_seat(code=code, player_id=people[seat], seat=seat, now=NOW),
    )
    assert what(outcomes) == {"done": 4}
    assert room_view(code).status == "closed"


def test_kicked_while_getting_ready_and_starting() -> None:
    for round_ in range(ROUNDS):
        one, two = registered(2, f"R{round_}P")
        code = opened(one, terms(control=DAYS))
        seated(code, two, 1)
        kicked, is_ready, started = together(
            partial(rooms.leave_seat, code=code, player_id=one, seat=1, now=NOW),
            partial(ready, code, two),
            partial(start_room, code=code, player_id=one, now=NOW),
        )
        view = room_view(code)
        if view.status == "started":
            assert what([kicked, is_ready, started]) == {"room-over": 1, "done": 2}
        else:
            assert names(view) == [f"R{round_}P0", None]
            assert what([kicked]) == {"done": 1}
            assert what([is_ready]) in ({"done": 1}, {"not-in-room": 1})
            assert what([started]) == {"room-not-ready": 1}


def test_settings_change_while_getting_ready_and_starting() -> None:
    """Nobody plays a game by settings that they have not seen."""
    for round_ in range(ROUNDS):
        one, two = registered(2, f"R{round_}P")
        code = opened(one, terms(control=DAYS))
        seated(code, two, 1)
        seen: dict[str, Any] = {"player_id": two, "ready": True, "revision": 1}
        together(
            partial(
                rooms.change_room, code=code, player_id=one, changes={"variant": "junior"}, now=NOW
            ),
            partial(rooms.set_ready, code=code, now=NOW, **seen),
            partial(start_room, code=code, player_id=one, now=NOW),
        )
        view = room_view(code)
        if view.status == "started":
            assert (view.revision, Game.objects.get(id=view.game).variant) == (1, "duo")
        else:
            assert (view.revision, view.seats[1].ready) == (2, False)


def test_two_rooms_start_at_once_with_the_same_opponent() -> None:
    """Nobody can sit in two rooms; but a game of another room may start when one sits down in the next."""
    one, two, three = registered(3)
    first = filled([one, two])
    start_room(code=first, player_id=one, now=NOW)
    Engagement.objects.all().delete()
    second, third = filled([one, two]), opened(three)
    outcomes = together(
        partial(start_room, code=second, player_id=one, now=NOW),
        partial(seated, third, two, 1),
    )
    assert what(outcomes[:1]) == {"done": 1}
    assert what(outcomes[1:]) in ({"done": 1}, {"in-another-room": 1})
    assert Engagement.objects.count() == 2


def test_expiry_and_many_sweepers() -> None:
    tables = [registered(2, f"R{round_}P") for round_ in range(3)]
    for people in tables:
        filled(people)
    outcomes = at_once(6, lambda _: expire_rooms(now=LATE))
    assert sum(outcomes) == 3  # type: ignore[arg-type]  # nothing was raised, or this fails
    assert [event["type"] for event in inbox_of(tables[0][1])] == ["room_left"]


def test_expiry_while_starting_and_sitting() -> None:
    for round_ in range(ROUNDS):
        one, two, three = registered(3, f"R{round_}P")
        code = filled([one, two], terms(control=DAYS))
        other = opened(three)
        started, _, sat = together(
            partial(start_room, code=code, player_id=one, now=LATE - 1),
            partial(expire_rooms, now=LATE),
            partial(rooms.leave_seat, code=other, player_id=three, seat=0, now=LATE - 1),
        )
        view = room_view(code)
        if view.status == "started":
            assert started == view.game
        else:
            assert (view.status, what([started])) == ("expired", {"room-over": 1})
        assert room_view(other).status in ("closed", "expired")
        assert what([sat]) in ({"done": 1}, {"room-over": 1})

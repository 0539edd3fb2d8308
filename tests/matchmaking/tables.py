"""Rooms and challenges for the tests: what is played, what happened, and what an inbox says."""

import json
from typing import Any

from accounts.selectors import inbox_after
from accounts.services.people import create_player
from games.territory import selectors as games
from games.territory.models import Game
from games.territory.rules import TimeControl
from matchmaking.models import Room, RoomSeat
from matchmaking.rules import Terms
from matchmaking.selectors.rooms import RoomView, room_view
from matchmaking.services import rooms
from tests.matchmaking.people import NOW

Json = dict[str, Any]
BLITZ = TimeControl.realtime(120_000, 3_000)
DAYS = TimeControl.correspondence(2)
UNTIMED = TimeControl.none()


def terms(
    variant: str = "duo",
    control: TimeControl = BLITZ,
    *,
    rated: bool = False,
    undo: Any = "none",
    spectators: bool = True,
) -> Terms:
    return Terms(variant, control, rated, undo, spectators)


def bot(name: str = "Robot") -> int:
    return create_player(name=name, kind="bot").pk


def opened(host: int, wanted: Terms | None = None, *, friends_only: bool = False) -> str:
    """The code of a new room."""
    view = rooms.open_room(
        player_id=host, terms=wanted or terms(), friends_only=friends_only, now=NOW
    )
    return view.room


def seated(code: str, player: int, seat: int) -> RoomView:
    return rooms.sit(code=code, player_id=player, seat=seat, now=NOW)


def ready(code: str, player: int) -> RoomView:
    """Ready for the settings as they are."""
    revision = room_view(code).revision
    return rooms.set_ready(code=code, player_id=player, ready=True, revision=revision, now=NOW)


def filled(players: list[int], wanted: Terms | None = None) -> str:
    """The code of a room in which all of these sit, in this order, and are ready; the first is its host."""
    code = opened(players[0], wanted)
    for seat, player in enumerate(players[1:], start=1):
        seated(code, player, seat)
        ready(code, player)
    return code


def names(view: RoomView) -> list[str | None]:
    """Who sits where: names, and the levels of CPUs."""
    return [seat.level or seat.player for seat in view.seats]


def inbox_of(player: int) -> list[Json]:
    """All that an inbox says."""
    return [json.loads(note.payload) for note in inbox_after(player, 0)]


def seats_of(game_id: str) -> tuple[int, ...]:
    return games.seating(game_id).players


def assert_rooms_are_whole() -> None:
    """Whatever happened: seats are of open rooms, a player has one, a host sits there, a started room has its game."""
    for room in Room.objects.all():
        seats = list(RoomSeat.objects.filter(room=room))
        people = [seat.player_id for seat in seats if seat.player_id]
        if room.status == Room.Status.OPEN:
            assert room.host_id in people
        else:
            assert seats == []
        assert (room.status == Room.Status.STARTED) == (room.game_id is not None)
    sitting = list(RoomSeat.objects.exclude(player=None).values_list("player_id", flat=True))
    assert len(sitting) == len(set(sitting))
    started = Room.objects.exclude(game=None).values_list("game_id", flat=True)
    assert len(set(started)) == len(started)
    assert Game.objects.count() == len(started)

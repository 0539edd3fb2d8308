"""Reading rooms: one by its code, and the streams `room:<code>`."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from accounts import selectors as accounts
from common import states
from common.clock import from_datetime, rfc3339
from common.errors import RateLimitedError
from common.limits import Limit, take
from matchmaking.errors import UnknownRoomError
from matchmaking.models import Room, RoomSeat
from matchmaking.rules import Terms, read_code

PREFIX = "room"
GUESSES = Limit("room-code", burst=20, interval_ms=3_000)
"""How often a player may name a code of a room in which they do not sit."""


@dataclass(frozen=True, slots=True)
class SeatView:
    """A seat: free, a person's, or a CPU's of a `level`, which is always ready."""

    seat: int
    player: str | None
    level: str | None
    ready: bool


@dataclass(frozen=True, slots=True)
class RoomView:
    """A room as those see it who know its code. A room that is over has no seats."""

    room: str
    status: str
    revision: int
    host: str
    terms: Terms
    friends_only: bool
    seats: tuple[SeatView, ...]
    expires_at: int
    game: str | None

    def wire(self) -> dict[str, Any]:
        """As REST and the streams send it."""
        return {
            "room": self.room,
            "status": self.status,
            "revision": self.revision,
            "host": self.host,
            **terms_wire(self.terms),
            "friends_only": self.friends_only,
            "seats": [
                {"seat": s.seat, "player": s.player, "level": s.level, "ready": s.ready}
                for s in self.seats
            ],
            "expires_at": rfc3339(self.expires_at),
            "game": self.game,
        }


def terms_wire(terms: Terms) -> dict[str, Any]:
    """What a game is to be played by, as it is sent."""
    control = terms.time_control
    return {
        "variant": terms.variant,
        "time_control": {
            "kind": control.kind.value,
            "initial_ms": control.initial_ms,
            "increment_ms": control.increment_ms,
        },
        "rated": terms.rated,
        "undo": terms.undo,
        "spectators": terms.spectators,
    }


def stream_of(code: str) -> str:
    """The name of a room's stream."""
    return f"{PREFIX}:{code}"


def find_code(text: str, player_id: int) -> str:
    """The code that a player names, who may guess only so often; whether there is such a room is not asked yet.

    Raises `UnknownRoomError` for what is no code, and `RateLimitedError`.
    """
    code = read_code(text)
    if code is None:
        raise UnknownRoomError
    sits_there = RoomSeat.objects.filter(player_id=player_id, room__code=code).exists()
    if not sits_there and (wait := take(GUESSES, str(player_id))):
        raise RateLimitedError("Too many codes: wait a moment.", retry_after_ms=wait)
    return code


def room_view(code: str) -> RoomView:
    """The open room of a code, else the latest one that had it. Raises `UnknownRoomError`."""
    views = room_views([code])
    if code not in views:
        raise UnknownRoomError
    return views[code]


def room_views(codes: Collection[str]) -> dict[str, RoomView]:
    """The same of several, those that there are."""
    rows: dict[str, Room] = {}
    for room in Room.objects.filter(code__in=codes).order_by("id"):
        if room.code not in rows or rows[room.code].status != Room.Status.OPEN:
            rows[room.code] = room
    seats: dict[int, list[RoomSeat]] = {room.pk: [] for room in rows.values()}
    for seat in RoomSeat.objects.filter(room_id__in=seats).order_by("room_id", "index"):
        seats[seat.room_id].append(seat)
    return views_of([(room, seats[room.pk]) for room in rows.values()])


def views_of(rooms: Sequence[tuple[Room, Sequence[RoomSeat]]]) -> dict[str, RoomView]:
    """The views of rooms and their seats, by code."""
    ids = {room.host_id for room, _ in rooms}
    ids |= {seat.player_id for _, seats in rooms for seat in seats if seat.player_id}
    cards = accounts.players_by_id(ids)
    return {
        room.code: RoomView(
            room=room.code,
            status=room.status,
            revision=room.revision,
            host=cards[room.host_id].name,
            terms=room.terms,
            friends_only=room.friends_only,
            seats=tuple(
                SeatView(
                    seat.index,
                    cards[seat.player_id].name if seat.player_id else None,
                    seat.level or None,
                    seat.ready or bool(seat.level),
                )
                for seat in seats
            ),
            expires_at=from_datetime(room.expires_at),
            game=room.game_id,
        )
        for room, seats in rooms
    }


class RoomStreams:
    """The streams of rooms, for those who know the code."""

    def admit(self, stream: str, player_id: int) -> None:
        """Raises `UnknownRoomError`, also for a code that is not written as it was given, and `RateLimitedError`."""
        code = stream.partition(":")[2]
        if find_code(code, player_id) != code:
            raise UnknownRoomError
        room_view(code)

    def current(self, streams: Collection[str]) -> dict[str, Any]:
        """What each of the rooms is like now."""
        codes = [stream.partition(":")[2] for stream in streams]
        return {stream_of(code): view.wire() for code, view in room_views(codes).items()}


def register_streams() -> None:
    states.register(PREFIX, RoomStreams(), scope="challenge")

"""Rooms: opening one, its settings, its seats, who is ready.

Lock order, here and in room_start.py: the room's row, then its seats, then engagements and inbox heads by player id.
Whoever changes a seat holds the room's row, so of two changes at once the second one sees the first. That a player
sits in one room only is said by a unique key, across rooms.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random, SystemRandom
from typing import Any

from django.db import IntegrityError, transaction

from accounts import selectors as accounts
from accounts.selectors.friends import are_friends
from accounts.services import inbox
from common import states
from common.clock import to_datetime
from common.errors import UnavailableError
from games.territory.errors import SeatsError
from games.territory.services.casual import require_level
from matchmaking.errors import (
    InAnotherRoomError,
    NotHostError,
    NotInRoomError,
    NotWelcomeError,
    RatedNotAllowedError,
    RoomOverError,
    SeatsOccupiedError,
    SeatTakenError,
    StaleSettingsError,
    UnknownRoomError,
)
from matchmaking.events import RoomLeft
from matchmaking.models import Room, RoomSeat
from matchmaking.models.terms import columns_of
from matchmaking.rules import Terms, new_code
from matchmaking.selectors.rooms import RoomView, stream_of, views_of
from matchmaking.services.people import any_block, require_no_guest, variant_of

CHANCE: Random = SystemRandom()
IDLE = timedelta(hours=1)
"""A room in which nobody has done anything for so long is closed."""
CODES = 20
"""How many codes are drawn before giving up: the first is taken once in 100,000 times."""


@dataclass(slots=True)
class Table:
    """A room whose row is locked, and its seats by number."""

    room: Room
    seats: list[RoomSeat]

    def seat(self, number: int) -> RoomSeat:
        """Raises `SeatsError` for a seat that the variant has not."""
        if not 0 <= number < len(self.seats):
            raise SeatsError(f"Seats are 0 to {len(self.seats) - 1}.", seats=len(self.seats))
        return self.seats[number]

    def seat_of(self, player_id: int) -> RoomSeat | None:
        return next((seat for seat in self.seats if seat.player_id == player_id), None)

    @property
    def people(self) -> list[int]:
        """Who sits here, by seat."""
        return [seat.player_id for seat in self.seats if seat.player_id]

    def require_host(self, player_id: int) -> None:
        """Raises `NotHostError`."""
        if self.room.host_id != player_id:
            host = accounts.players_by_id([self.room.host_id])[self.room.host_id].name
            raise NotHostError(host=host)

    def view(self) -> RoomView:
        return views_of([(self.room, self.seats)])[self.room.code]


def open_room(
    *, player_id: int, terms: Terms, friends_only: bool, now: int, random: Random = CHANCE
) -> RoomView:
    """A new room, with its host on the first seat.

    Raises `GuestsNotAllowedError`, `UnknownVariantError`, `WrongSettingsError`, `RatedNotAllowedError`,
    `InAnotherRoomError`.
    """
    require_no_guest(player_id)
    terms.check()
    seats = variant_of(terms.variant).seats
    if terms.rated:
        _require_rateable([player_id])
    for _ in range(CODES):
        try:
            with transaction.atomic():
                room = Room.objects.create(
                    code=new_code(random),
                    host_id=player_id,
                    friends_only=friends_only,
                    created_at=to_datetime(now),
                    expires_at=to_datetime(now) + IDLE,
                    **columns_of(terms),
                )
                host = {"player_id": player_id, "since": now}
                rows = [
                    RoomSeat(room=room, index=number, **({} if number else host))
                    for number in range(seats)
                ]
                RoomSeat.objects.bulk_create(rows)
        except IntegrityError:
            _refuse_second_room(player_id)
        else:
            return Table(room, rows).view()
    raise UnavailableError("No code was free; ask again.")


def change_room(*, code: str, player_id: int, changes: Mapping[str, Any], now: int) -> RoomView:
    """The host changes settings: fields of `Terms`, or `friends_only`. Nobody is ready after it.

    Raises `WrongSettingsError`, `SeatsOccupiedError`, `RatedNotAllowedError`, and what `change` raises.
    """

    def work(table: Table) -> None:
        table.require_host(player_id)
        room = table.room
        wanted = {name: value for name, value in changes.items() if name != "friends_only"}
        terms = replace(room.terms, **wanted)
        friends_only = changes.get("friends_only", room.friends_only)
        if (terms, friends_only) == (room.terms, room.friends_only):
            return
        terms.check()
        if terms.rated and any(seat.level for seat in table.seats):
            raise RatedNotAllowedError
        if terms.rated:
            _require_rateable(table.people)
        _fit_seats(table, variant_of(terms.variant).seats)
        room.friends_only, room.revision = friends_only, room.revision + 1
        for name, value in columns_of(terms).items():
            setattr(room, name, value)
        RoomSeat.objects.filter(room=room, ready=True).update(ready=False)
        for seat in table.seats:
            seat.ready = False

    return change(code, work, now)


def sit(*, code: str, player_id: int, seat: int, now: int) -> RoomView:
    """Take a seat; who sits in this room already moves there. Taking it twice is taking it once.

    Raises `GuestsNotAllowedError`, `SeatTakenError`, `NotWelcomeError`, `RatedNotAllowedError`, `InAnotherRoomError`,
    `SeatsError`, and what `change` raises.
    """
    require_no_guest(player_id)

    def work(table: Table) -> None:
        wanted, own = table.seat(seat), table.seat_of(player_id)
        if wanted is own:
            return
        if wanted.player_id or wanted.level:
            raise SeatTakenError
        if own is None:
            _require_welcome(table, player_id)
            if table.room.rated:
                _require_rateable([player_id])
        else:
            _clear(own)
        wanted.player_id, wanted.since = player_id, now
        try:
            with transaction.atomic():
                wanted.save()
        except IntegrityError:
            _refuse_second_room(player_id)
            raise

    return change(code, work, now)


def place_cpu(*, code: str, player_id: int, seat: int, level: str, now: int) -> RoomView:
    """The host puts a CPU of a level on a free seat, or another one in the place of a CPU.

    Raises `UnknownLevelError`, `SeatTakenError`, `RatedNotAllowedError`, `SeatsError`, and what `change` raises.
    """
    require_level(level)

    def work(table: Table) -> None:
        table.require_host(player_id)
        wanted = table.seat(seat)
        if wanted.player_id:
            raise SeatTakenError
        if table.room.rated:
            raise RatedNotAllowedError
        wanted.level = level
        wanted.save()

    return change(code, work, now)


def leave_seat(*, code: str, player_id: int, seat: int, now: int) -> RoomView:
    """Clear a seat: one's own, or as the host anybody's. A seat that is free stays free.

    When the host leaves, whoever has sat there longest becomes host; when nobody is left, the room is closed. Raises
    `NotHostError`, `SeatsError`, and what `change` raises.
    """

    def work(table: Table) -> None:
        given_up = table.seat(seat)
        leaver = given_up.player_id
        if leaver != player_id:
            table.require_host(player_id)
        _clear(given_up)
        if leaver and leaver != player_id:
            event = RoomLeft(room=table.room.code, reason="kicked")
            inbox.notify(player_id=leaver, event=event)
        if leaver == table.room.host_id:
            _pass_on(table, now)

    return change(code, work, now)


def set_ready(*, code: str, player_id: int, ready: bool, revision: int, now: int) -> RoomView:
    """Say that one is ready for the settings of this revision, or is not.

    Raises `NotInRoomError`, `StaleSettingsError`, and what `change` raises.
    """

    def work(table: Table) -> None:
        own = table.seat_of(player_id)
        if own is None:
            raise NotInRoomError
        if ready and revision != table.room.revision:
            raise StaleSettingsError(revision=table.room.revision)
        own.ready = ready
        own.save(update_fields=["ready"])

    return change(code, work, now)


# What they share


def lock_room(code: str) -> Table:
    """The open room of a code, else the latest one; its row is locked. Raises `UnknownRoomError`."""
    rooms = Room.objects.filter(code=code)
    known = rooms.filter(status=Room.Status.OPEN).first() or rooms.order_by("-id").first()
    if known is None:
        raise UnknownRoomError
    room = Room.objects.select_for_update().get(pk=known.pk)
    return Table(room, list(RoomSeat.objects.filter(room=room).order_by("index")))


def require_open(room: Room, now: int) -> None:
    """Raises `RoomOverError`; what has expired is over, swept or not."""
    if room.status != Room.Status.OPEN:
        raise RoomOverError(status=room.status, game=room.game_id)
    if room.expires_at <= to_datetime(now):
        raise RoomOverError(status=Room.Status.EXPIRED, game=None)


def change(code: str, work: Callable[[Table], None], now: int) -> RoomView:
    """Do something to an open room in one transaction, and tell who follows it.

    Raises `UnknownRoomError`, `RoomOverError`.
    """
    with transaction.atomic():
        table = lock_room(code)
        require_open(table.room, now)
        work(table)
        if table.room.status == Room.Status.OPEN:
            table.room.expires_at = max(table.room.expires_at, to_datetime(now) + IDLE)
        table.room.save()
        transaction.on_commit(lambda: states.touch(stream_of(code)))
        return table.view()


def end_room(table: Table, status: str, now: int) -> None:
    """The room is over, and nobody sits in it any more; its row is saved by the caller."""
    table.room.status, table.room.ended_at = status, to_datetime(now)
    RoomSeat.objects.filter(room=table.room).delete()
    table.seats = []


def _clear(seat: RoomSeat) -> None:
    seat.player_id, seat.level, seat.ready, seat.since = None, "", False, None
    seat.save()


def _pass_on(table: Table, now: int) -> None:
    """The host has left."""
    heirs = [(seat.since, seat.index, seat.player_id) for seat in table.seats if seat.player_id]
    if heirs:
        table.room.host_id = min(heirs)[2]
    else:
        end_room(table, Room.Status.CLOSED, now)


def _fit_seats(table: Table, count: int) -> None:
    """As many seats as the variant has. Raises `SeatsOccupiedError`."""
    beyond = table.seats[count:]
    if any(seat.player_id or seat.level for seat in beyond):
        raise SeatsOccupiedError(seats=count)
    RoomSeat.objects.filter(room=table.room, index__gte=count).delete()
    more = [RoomSeat(room=table.room, index=number) for number in range(len(table.seats), count)]
    table.seats = [*table.seats[:count], *RoomSeat.objects.bulk_create(more)]


def _require_welcome(table: Table, player_id: int) -> None:
    """Raises `NotWelcomeError`. By a block of any of those who sit there, whoever made it, too."""
    host = table.room.host_id
    if table.room.friends_only and host != player_id and not are_friends(host, player_id):
        raise NotWelcomeError
    if any_block(player_id, table.people):
        raise NotWelcomeError


def _require_rateable(player_ids: list[int]) -> None:
    cards = accounts.players_by_id(player_ids)
    if any(card.kind != "registered" for card in cards.values()):
        raise RatedNotAllowedError


def _refuse_second_room(player_id: int) -> None:
    """Raises `InAnotherRoomError` if the player sits somewhere."""
    seat = RoomSeat.objects.filter(player_id=player_id).select_related("room").first()
    if seat is not None:
        raise InAnotherRoomError(room=seat.room.code)

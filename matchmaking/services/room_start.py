"""The end of a room: its game starts, or nobody has done anything in it for too long."""

import structlog
from django.db import transaction

from accounts import selectors as accounts
from accounts.services import inbox
from accounts.services.people import cpu_player
from common import states
from common.clock import to_datetime
from games.territory.services.start import SeatPlan
from matchmaking.errors import RoomNotReadyError
from matchmaking.events import RoomLeft, RoomStarted
from matchmaking.models import Room, RoomSeat
from matchmaking.selectors.rooms import stream_of
from matchmaking.services.people import start_agreed
from matchmaking.services.rooms import Table, end_room, lock_room, require_open

log = structlog.get_logger(__name__)

SWEPT_AT_ONCE = 200


def start_room(*, code: str, player_id: int, now: int) -> str:
    """The host starts the game, when all seats are taken and everybody else is ready; its id. Twice is once.

    Raises `UnknownRoomError`, `RoomOverError`, `NotHostError`, `RoomNotReadyError`, and what `start_agreed` raises.
    """
    with transaction.atomic():
        table = lock_room(code)
        room = table.room
        if room.status == Room.Status.STARTED and room.game_id and room.host_id == player_id:
            return room.game_id
        require_open(room, now)
        table.require_host(player_id)
        _require_ready(table)
        plans = [_plan(seat) for seat in table.seats]
        game_id = start_agreed(terms=room.terms, plans=plans, caller=player_id, now=now)
        seats = {seat.player_id: seat.index for seat in table.seats if seat.player_id}
        end_room(table, Room.Status.STARTED, now)
        room.game_id = game_id
        room.save()
        for player, seat in sorted(seats.items()):
            event = RoomStarted(room=room.code, game=game_id, seat=seat)
            inbox.notify(player_id=player, event=event)
        transaction.on_commit(lambda: states.touch(stream_of(code)))
    return game_id


def _plan(seat: RoomSeat) -> SeatPlan:
    if seat.level:
        return SeatPlan(cpu_player(seat.level).pk, seat.level)
    assert seat.player_id is not None
    return SeatPlan(seat.player_id)


def _require_ready(table: Table) -> None:
    """Raises `RoomNotReadyError`. Whoever starts is ready."""
    empty = [seat.index for seat in table.seats if not (seat.player_id or seat.level)]
    waiting = [
        seat.player_id
        for seat in table.seats
        if seat.player_id and not seat.ready and seat.player_id != table.room.host_id
    ]
    if empty or waiting:
        cards = accounts.players_by_id(waiting)
        raise RoomNotReadyError(empty=empty, waiting_for=[cards[each].name for each in waiting])


def expire_rooms(*, now: int) -> int:
    """Close the rooms whose time is up; how many. Several may do this at once: each room is closed by one of them."""
    due = Room.objects.filter(status=Room.Status.OPEN, expires_at__lte=to_datetime(now))
    closed = 0
    for pk in list(due.order_by("expires_at").values_list("pk", flat=True)[:SWEPT_AT_ONCE]):
        try:
            closed += _expire(pk, now)
        except Exception:
            log.exception("room not closed", room=pk)
    return closed


def _expire(pk: int, now: int) -> bool:
    with transaction.atomic():
        due = Room.objects.select_for_update(skip_locked=True).filter(
            pk=pk, status=Room.Status.OPEN, expires_at__lte=to_datetime(now)
        )
        room = due.first()
        if room is None:  # somebody has done something in it, or is closing it
            return False
        table = Table(room, list(RoomSeat.objects.filter(room=room).order_by("index")))
        people = sorted(table.people)
        end_room(table, Room.Status.EXPIRED, now)
        room.save()
        for player in people:
            inbox.notify(player_id=player, event=RoomLeft(room=room.code, reason="expired"))
        transaction.on_commit(lambda: states.touch(stream_of(room.code)))
    return True

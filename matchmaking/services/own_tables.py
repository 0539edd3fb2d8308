"""What rooms and challenges keep of a person (accounts/personal.py), and for how long."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from msgspec import Struct

from accounts import personal
from common.clock import now_ms, to_datetime
from matchmaking.models import Challenge, ChallengeSeat, ChallengeTaking, Room, RoomSeat
from matchmaking.selectors.challenges import views_of, with_seats
from matchmaking.services.challenges import decline_challenge
from matchmaking.services.rooms import leave_seat

KEPT = timedelta(days=7)
"""How long a room or challenge that is over is kept: who comes back finds what became of it."""
BATCH = 500


class RoomData(Struct, frozen=True):
    """A room that the person is host of, or sits in."""

    room: str
    status: str
    variant: str
    created_at: datetime
    game: str | None


class ChallengeData(Struct, frozen=True):
    """A challenge that the person made, or was to answer."""

    challenge: str
    challenger: str
    status: str
    variant: str
    created_at: datetime
    reason: str | None
    words: str
    game: str | None


def register_sections() -> None:
    """Called when the app is ready."""
    personal.register(
        "rooms",
        shape=list[RoomData],
        export=export_rooms,
        erase=erase_rooms,
        tables=("matchmaking.Room", "matchmaking.RoomSeat"),
        leave=leave_rooms,
    )
    personal.register(
        "challenges",
        shape=list[ChallengeData],
        export=export_challenges,
        erase=erase_challenges,
        tables=("matchmaking.Challenge", "matchmaking.ChallengeSeat"),
        leave=leave_challenges,
    )
    personal.register(
        "challenges_taken",
        shape=str | None,
        export=export_taking,
        erase=erase_taking,
        tables=("matchmaking.ChallengeTaking",),
    )


def export_rooms(player_id: int) -> Iterator[RoomData]:
    mine = RoomSeat.objects.filter(player_id=player_id).values("room_id")
    for room in Room.objects.filter(Q(host_id=player_id) | Q(id__in=mine)).order_by("id"):
        yield RoomData(room.code, room.status, room.variant, room.created_at, room.game_id)


def leave_rooms(player_id: int) -> None:
    """The others go on without them."""
    for seat in RoomSeat.objects.filter(player_id=player_id).select_related("room"):
        leave_seat(code=seat.room.code, player_id=player_id, seat=seat.index, now=now_ms())


def erase_rooms(player_id: int) -> None:
    leave_rooms(player_id)
    Room.objects.filter(host_id=player_id).delete()


def export_challenges(player_id: int) -> Iterator[ChallengeData]:
    for view in views_of(list(with_seats(_of(player_id)).order_by("created_at", "id"))):
        row = view.row
        yield ChallengeData(
            row.id,
            view.challenger,
            row.status,
            row.variant,
            row.created_at,
            row.reason or None,
            row.words,
            row.game_id,
        )


def leave_challenges(player_id: int) -> None:
    """Nobody waits for their answer, and nobody is asked by them."""
    for challenge in _of(player_id).filter(status=Challenge.Status.OPEN, expires_at__gt=_now()):
        decline_challenge(
            challenge_id=challenge.id, player_id=player_id, reason="other", words="", now=now_ms()
        )


def erase_challenges(player_id: int) -> None:
    _of(player_id).delete()


def export_taking(player_id: int) -> str | None:
    row = ChallengeTaking.objects.filter(player_id=player_id).first()
    return row.whose if row else None


def erase_taking(player_id: int) -> None:
    ChallengeTaking.objects.filter(player_id=player_id).delete()


def forget_tables() -> int:
    """Remove what has been over for a week; how many."""
    end = _now() - KEPT
    return sum(_delete(rows.filter(ended_at__lt=end)) for rows in (Room.objects, Challenge.objects))


def _delete(rows: "QuerySet[Any]") -> int:
    """In small transactions, so that nobody is held up."""
    gone = 0
    while pks := list(rows.order_by("ended_at").values_list("pk", flat=True)[:BATCH]):
        rows.filter(pk__in=pks).delete()
        gone += len(pks)
    return gone


def _of(player_id: int) -> "QuerySet[Challenge]":
    seats = ChallengeSeat.objects.filter(player_id=player_id)
    return Challenge.objects.filter(id__in=seats.values("challenge_id"))


def _now() -> datetime:
    return to_datetime(now_ms())

"""Rooms: private tables with a code, where people take seats before a game."""

from django.db import models
from django.db.models import Q

from matchmaking.models.terms import RATED_HAS_A_CLOCK, TermsColumns


class Room(TermsColumns):
    """A private table. `revision` counts changes of its settings: who is ready is ready for one of them.

    Its row is locked by whoever changes anything about it or its seats.
    """

    class Status(models.TextChoices):
        OPEN = "open"
        STARTED = "started"
        CLOSED = "closed"
        EXPIRED = "expired"

    code = models.CharField(max_length=6)
    host = models.ForeignKey(
        "accounts.Player", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    friends_only = models.BooleanField(help_text="Only the host's friends may sit down.")
    revision = models.IntegerField(default=1)
    status = models.CharField(max_length=8, choices=Status, default=Status.OPEN)
    game = models.ForeignKey(
        "territory.Game", null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(
        help_text="When it is closed, unless somebody does something."
    )
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["code"], condition=Q(status="open"), name="room_code_once"
            ),
            models.CheckConstraint(condition=RATED_HAS_A_CLOCK, name="room_rated"),
            models.CheckConstraint(
                condition=Q(status="open", ended_at=None)
                | ~Q(status="open") & Q(ended_at__isnull=False),
                name="room_ended",
            ),
        ]
        indexes = [
            models.Index(fields=["code", "-id"], name="room_code"),
            models.Index("expires_at", name="room_expiry", condition=Q(status="open")),
            models.Index("ended_at", name="room_ended_at", condition=Q(ended_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"room {self.code}"


class RoomSeat(models.Model):
    """A seat of an open room; when the room ends, they are gone. A player sits on one of all of them."""

    room = models.ForeignKey(Room, on_delete=models.CASCADE, related_name="seats", db_index=False)
    index = models.SmallIntegerField()
    player = models.ForeignKey(
        "accounts.Player", null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    level = models.CharField(max_length=16, blank=True, help_text="Of a CPU.")
    ready = models.BooleanField(default=False)
    since = models.BigIntegerField(null=True, help_text="When the player sat down, milliseconds.")

    class Meta:
        ordering = ["room", "index"]
        constraints = [
            models.UniqueConstraint(fields=["room", "index"], name="room_seat_once"),
            models.UniqueConstraint(fields=["player"], name="room_seat_of_player"),
            models.CheckConstraint(
                condition=Q(player=None) | Q(level="", since__isnull=False),
                name="room_seat_of_one",
            ),
            models.CheckConstraint(
                condition=Q(ready=False) | Q(player__isnull=False), name="room_seat_ready"
            ),
        ]

    def __str__(self) -> str:
        return f"seat {self.index} of {self.room_id}"

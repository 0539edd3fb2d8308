"""The tables of corner-to-corner games. The events are the game; everything else here is an index of them.

A move changes one row of `Game` and adds rows to `Event`, by the journal alone. Only `version` changes on every move,
and no index holds it, so that the update stays on its page (a HOT update; see docs/adr/0003-journal.md).
"""

from django.db import models
from django.db.models import CompositePrimaryKey, Q

from common.ids import new_id


class Game(models.Model):
    """One contest. `wake_at` (milliseconds) is never later than the next instant at which its clock, a lost CPU
    move or an overdue first move wants attention: the sweeper looks then, and sets it anew.
    """

    class Status(models.TextChoices):
        STARTED = "started"
        FINISHED = "finished"
        ABORTED = "aborted"

    id = models.CharField(primary_key=True, max_length=12, default=new_id, editable=False)
    variant = models.CharField(max_length=16)
    pool = models.CharField(max_length=40, blank=True)
    rated = models.BooleanField()
    clock_kind = models.CharField(max_length=16)
    initial_ms = models.BigIntegerField()
    increment_ms = models.BigIntegerField()
    status = models.CharField(max_length=8, choices=Status, default=Status.STARTED)
    termination = models.CharField(max_length=12, blank=True)
    version = models.IntegerField()
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    settled_at = models.DateTimeField(null=True)
    wake_at = models.BigIntegerField(null=True)
    spectators = models.BooleanField(
        default=True, db_default=True, help_text="Others than its players may read it."
    )

    class Meta:
        indexes = [
            models.Index("wake_at", name="game_wake", condition=Q(status="started")),
            models.Index(
                "finished_at",
                name="game_unsettled",
                condition=Q(settled_at=None) & ~Q(status="started"),
            ),
            models.Index(models.F("created_at").desc(), "id", name="game_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.variant} {self.id}"


class Seat(models.Model):
    """One place in a game. A CPU's `level` is empty for everybody else. The result is set when the game settles, and
    cleared when moves are taken back after its end.
    """

    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="seats")
    index = models.SmallIntegerField()
    player = models.ForeignKey("accounts.Player", on_delete=models.PROTECT, related_name="+")
    level = models.CharField(max_length=16, blank=True)
    points = models.SmallIntegerField(null=True)
    rank = models.SmallIntegerField(null=True)

    class Meta:
        ordering = ["game", "index"]
        constraints = [models.UniqueConstraint(fields=["game", "index"], name="seat_once")]

    def __str__(self) -> str:
        return f"seat {self.index} of {self.game_id}"


class Event(models.Model):
    """One event of a game's stream: `payload` is the JSON text that clients get, to the byte."""

    pk = CompositePrimaryKey("game_id", "version")
    # The journal writes events only of games whose row it has just changed, so PostgreSQL need not look again.
    game = models.ForeignKey(
        Game, on_delete=models.CASCADE, related_name="events", db_index=False, db_constraint=False
    )
    version = models.IntegerField()
    at = models.BigIntegerField(help_text="Milliseconds since the epoch.")
    payload = models.TextField()

    class Meta:
        ordering = ["game", "version"]

    def __str__(self) -> str:
        return f"event {self.version} of {self.game_id}"


class Engagement(models.Model):
    """A player's one live matched game. The primary key is the promise: a second one cannot be written."""

    player = models.OneToOneField(
        "accounts.Player", primary_key=True, on_delete=models.CASCADE, related_name="+"
    )
    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="engagements")

    def __str__(self) -> str:
        return f"player {self.player_id} in {self.game_id}"

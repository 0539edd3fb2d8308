"""The tables of block puzzles. A run's row is the run: a placement changes it and adds one event, under the row's lock.

`score`, the statistics, `turn`, `version` and `state` change with every placement, so no index holds them, and the
update stays on its page (docs/adr/0014-puzzle-runs.md).
"""

from django.db import models
from django.db.models import CompositePrimaryKey, F, Q

from common.ids import new_id


class Daily(models.Model):
    """The puzzle of a UTC calendar date. Its seed stays what it was, whatever becomes of the secret it came from.

    `closed_at`: from then on nothing can be placed, and the seed is public. `frozen_at`: every attempt has its end,
    and the leaderboard is final.
    """

    date = models.DateField(primary_key=True)
    seed = models.BinaryField(max_length=32)
    seed_hash = models.CharField(max_length=64)
    closed_at = models.DateTimeField(null=True)
    frozen_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "daily puzzle"
        ordering = ["-date"]
        indexes = [models.Index("date", name="daily_unfrozen", condition=Q(frozen_at=None))]
        constraints = [
            models.CheckConstraint(
                condition=Q(frozen_at=None) | Q(closed_at__isnull=False), name="daily_closed_first"
            )
        ]

    def __str__(self) -> str:
        return f"{self.date}"


class Run(models.Model):
    """One play of the puzzle. `state` is the text that the rules keep it as; the columns beside it say what it says.

    `counted` is a player's one attempt at a daily puzzle; other runs with a `daily` are practice. `revealed`: nothing
    can change any more, and the seed is public. An end that can be taken back, or an attempt before its day is closed,
    is not revealed yet.
    """

    class Status(models.TextChoices):
        RUNNING = "running"
        OVER = "over", "over (no block fits)"
        ABANDONED = "abandoned", "abandoned (another run was started)"
        CLOSED = "closed", "closed (the day ended)"

    id = models.CharField(primary_key=True, max_length=12, default=new_id, editable=False)
    player = models.ForeignKey(
        "accounts.Player", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    key = models.CharField(max_length=60, help_text="What its best is kept under.")
    level = models.CharField(max_length=8)
    board = models.CharField(max_length=8)
    daily = models.ForeignKey(
        Daily, on_delete=models.PROTECT, null=True, db_column="date", db_index=False
    )
    counted = models.BooleanField(default=False)
    seed = models.BinaryField(max_length=32)
    seed_hash = models.CharField(max_length=64)
    state = models.TextField()
    turn = models.IntegerField(default=0)
    version = models.IntegerField()
    status = models.CharField(max_length=9, choices=Status, default=Status.RUNNING)
    revealed = models.BooleanField(default=False)
    score = models.IntegerField(default=0)
    placements = models.IntegerField(default=0)
    squares = models.IntegerField(default=0)
    lines = models.IntegerField(default=0)
    largest_clear = models.SmallIntegerField(default=0)
    longest_streak = models.IntegerField(default=0)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index("player", F("started_at").desc(), F("id").desc(), name="run_newest"),
            models.Index(F("started_at").desc(), "id", name="run_newest_of_all"),
            models.Index("player", "key", name="run_unrevealed", condition=Q(revealed=False)),
            models.Index(
                "daily",
                "player",
                name="run_open_attempt",
                condition=Q(revealed=False, counted=True),
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["player", "key", "daily", "counted"],
                condition=Q(status="running"),
                nulls_distinct=False,
                name="run_one_running",
            ),
            models.UniqueConstraint(
                fields=["player", "daily"], condition=Q(counted=True), name="run_one_attempt"
            ),
            models.CheckConstraint(
                condition=Q(level="daily", daily__isnull=False)
                | (~Q(level="daily") & Q(daily=None, counted=False)),
                name="run_date_of_daily",
            ),
            models.CheckConstraint(
                condition=Q(status="running", finished_at=None)
                | (~Q(status="running") & Q(finished_at__isnull=False)),
                name="run_finished_or_running",
            ),
            models.CheckConstraint(
                condition=Q(revealed=False) | ~Q(status="running"), name="run_hides_its_seed"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.key} {self.id}"


class RunEvent(models.Model):
    """One event of a run's stream: `payload` is the JSON text that clients get, to the byte."""

    pk = CompositePrimaryKey("run_id", "version")
    # Events are only written for a run whose row is locked, so PostgreSQL need not look again.
    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="events", db_index=False, db_constraint=False
    )
    version = models.IntegerField()
    at = models.BigIntegerField(help_text="Milliseconds since the epoch.")
    payload = models.TextField()

    class Meta:
        ordering = ["run", "version"]

    def __str__(self) -> str:
        return f"event {self.version} of {self.run_id}"


class Best(models.Model):
    """A player's best among the runs of a key that have ended, and how many they are; runs without a placement aside.

    Better is the higher score, then fewer placements, then the earlier end.
    """

    player = models.ForeignKey(
        "accounts.Player", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    key = models.CharField(max_length=60)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+", db_index=False)
    score = models.IntegerField()
    placements = models.IntegerField()
    finished_at = models.DateTimeField()
    runs = models.IntegerField()

    class Meta:
        verbose_name_plural = "bests"
        constraints = [
            models.UniqueConstraint(fields=["player", "key"], name="best_once"),
            models.CheckConstraint(condition=Q(runs__gte=1), name="best_of_a_run"),
        ]

    def __str__(self) -> str:
        return f"{self.key} {self.score}"

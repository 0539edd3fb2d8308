"""The tables of hints and analyses. Constraints are the promise: no fourth hint in a game, one at a time in a run."""

from django.db import models
from django.db.models import F, Q

HINTS = 3
"""Hints that one player may have in one game."""


class Hint(models.Model):
    """One hint: asked for while `move` is empty, and spent when it is given.

    `version` is that of the game when it was asked for; an answer for any other is dropped. `position` tells positions
    apart, so that one that comes again after an undo has its hint already. A row that is dropped frees its number.
    """

    game = models.ForeignKey(
        "territory.Game", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    player = models.ForeignKey(
        "accounts.Player", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    number = models.SmallIntegerField()
    position = models.CharField(max_length=32)
    version = models.IntegerField()
    ply = models.SmallIntegerField()
    colour = models.CharField(max_length=16)
    piece = models.CharField(max_length=2, blank=True)
    move = models.CharField(max_length=64, blank=True)
    asked_at = models.BigIntegerField(
        help_text="When a worker was last asked, in milliseconds since the epoch."
    )
    given_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["game", "player", "number"], name="hint_number_once"),
            models.UniqueConstraint(
                fields=["game", "player", "position"], name="hint_position_once"
            ),
            models.CheckConstraint(
                condition=Q(number__range=(1, HINTS)), name="hint_number_in_range"
            ),
            models.CheckConstraint(
                condition=Q(move="", given_at=None) | (~Q(move="") & Q(given_at__isnull=False)),
                name="hint_given_or_not",
            ),
        ]

    def __str__(self) -> str:
        return f"hint {self.number} of player {self.player_id} in {self.game_id}"


class RunHint(models.Model):
    """The hint of a block puzzle's run for its turn number `turn`: asked for while `slot` is null, else given.

    A run has one row, for the turn that was asked for last: so one hint at a time is looked for, and an answer for any
    other turn finds nothing to be written to.
    """

    run = models.OneToOneField(
        "puzzle.Run", primary_key=True, on_delete=models.CASCADE, related_name="+"
    )
    player = models.ForeignKey(
        "accounts.Player", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    turn = models.IntegerField()
    slot = models.SmallIntegerField(null=True)
    rotation = models.SmallIntegerField(null=True)
    at = models.CharField(max_length=3, blank=True)
    asked_at = models.BigIntegerField(
        help_text="When a worker was last asked, in milliseconds since the epoch."
    )
    given_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(turn__gte=0), name="run_hint_turn"),
            models.CheckConstraint(
                condition=Q(slot=None, rotation=None, at="", given_at=None)
                # What is null is in no range, but a check that comes to null is passed.
                | (
                    Q(slot__isnull=False, rotation__isnull=False, given_at__isnull=False)
                    & Q(slot__range=(0, 2), rotation__range=(0, 3))
                    & ~Q(at="")
                ),
                name="run_hint_given_or_not",
            ),
        ]

    def __str__(self) -> str:
        return f"hint for turn {self.turn} of {self.run_id}"


class Analysis(models.Model):
    """What the engine thinks of a game that is over: a row of `AnalysedPly` for each of its plies, found one by one.

    `version` is that of the event that ended the game: when moves are taken back after it, this is no more wanted.
    `free_at` orders the work: whoever has waited longest is next. It lies ahead while a worker has a ply in hand, and
    passes if that worker dies. `tries` counts how often a worker took the next ply and did not come back.
    """

    class Status(models.TextChoices):
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    game = models.OneToOneField("territory.Game", on_delete=models.CASCADE, related_name="+")
    version = models.IntegerField()
    plies = models.SmallIntegerField()
    done = models.SmallIntegerField(default=0)
    simulations = models.IntegerField(help_text="For each position.")
    engine = models.CharField(max_length=64, blank=True)
    end = models.JSONField(null=True, help_text="The rewards of the result, a number a seat.")
    status = models.CharField(max_length=8, choices=Status, default=Status.RUNNING)
    tries = models.SmallIntegerField(default=0)
    free_at = models.BigIntegerField(
        help_text="When a worker may take its next ply, in milliseconds since the epoch."
    )
    missed_at = models.BigIntegerField(
        default=0, help_text="When a sweeper last found it left lying, in the same."
    )
    asked_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "analyses"
        indexes = [
            models.Index("free_at", name="analysis_next", condition=Q(status="running")),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(plies__gte=1, done__gte=0, done__lte=F("plies")),
                name="analysis_done_in_range",
            ),
            models.CheckConstraint(
                condition=Q(status="done", done=F("plies"), finished_at__isnull=False)
                | (~Q(status="done") & Q(done__lt=F("plies"), finished_at=None)),
                name="analysis_done_or_not",
            ),
        ]

    def __str__(self) -> str:
        return f"analysis of {self.game_id}"


class AnalysedPly(models.Model):
    """What was found of one ply; see `bots.analysis.Finding`. `values` and `after` have a number for each seat."""

    pk = models.CompositePrimaryKey("analysis_id", "ply")
    analysis = models.ForeignKey(
        Analysis, on_delete=models.CASCADE, related_name="findings", db_index=False
    )
    ply = models.SmallIntegerField()
    values = models.JSONField()
    best = models.CharField(max_length=64)
    best_value = models.FloatField(null=True)
    after = models.JSONField(null=True)

    class Meta:
        ordering = ["analysis", "ply"]

    def __str__(self) -> str:
        return f"ply {self.ply} of analysis {self.analysis_id}"


class AnalysisWish(models.Model):
    """A player who is to be told when an analysis is ready."""

    analysis = models.ForeignKey(
        Analysis, on_delete=models.CASCADE, related_name="wishes", db_index=False
    )
    player = models.ForeignKey("accounts.Player", on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["analysis", "player"], name="analysis_wish_once"),
        ]

    def __str__(self) -> str:
        return f"player {self.player_id} waits for analysis {self.analysis_id}"

"""What moderators work with: reports about players, and sanctions. Who did what and why is kept."""

from django.db import models
from django.db.models import F, Q

from accounts.models.people import Player
from common.ids import new_id


class SanctionManager(models.Manager["Sanction"]):
    def in_force(self, now: int) -> models.QuerySet["Sanction"]:
        """Those that are neither lifted nor over at an instant."""
        return self.filter(Q(until=None) | Q(until__gt=now), lifted_at=None)


class Sanction(models.Model):
    """A ban of a player, in force from when it was made until its end, unless it is lifted before.

    Whether it is in force is a question to the clock: nothing has to run for it to end. Without `by_name` the rules
    made it, and no person. `by` and `lifted_by` are lost with the person's account, their names are kept.
    """

    class Kind(models.TextChoices):
        PLAY = "play", "play: may not start or join any game"
        QUEUE = "queue", "queue: may not wait in pools"

    player = models.ForeignKey(
        Player, on_delete=models.CASCADE, related_name="sanctions", db_index=False
    )
    kind = models.CharField(max_length=8, choices=Kind)
    reason = models.CharField(max_length=500, help_text="The player reads it.")
    made_at = models.BigIntegerField(help_text="Milliseconds since the epoch.")
    until = models.BigIntegerField(
        null=True, blank=True, help_text="Milliseconds since the epoch; none: for good."
    )
    by = models.ForeignKey(
        Player, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    by_name = models.CharField(max_length=24, blank=True, help_text="Empty: the rules.")
    lifted_at = models.BigIntegerField(null=True, blank=True)
    lifted_by = models.ForeignKey(
        Player, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    lifted_by_name = models.CharField(max_length=24, blank=True)
    lift_reason = models.CharField(max_length=500, blank=True)

    objects = SanctionManager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(reason=""), name="sanction_reason"),
            models.CheckConstraint(
                condition=Q(until=None) | Q(until__gt=F("made_at")), name="sanction_ends_later"
            ),
            models.CheckConstraint(
                condition=Q(lifted_at=None, lift_reason="")
                | (Q(lifted_at__isnull=False) & ~Q(lift_reason="")),
                name="sanction_lifted_with_reason",
            ),
        ]
        indexes = [
            models.Index(fields=["player", "-id"], name="sanction_player"),
            models.Index("player", "kind", name="sanction_unlifted", condition=Q(lifted_at=None)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} ban of player {self.player_id}"


class Report(models.Model):
    """Somebody's complaint about a player; or a flag of the nightly look at games, which is about two of them.

    A flag has no `reporter`, but the `other` player of the pair and the `evidence`: numbers, and the games they were
    counted in. It accuses nobody: honest people are flagged too, and only a moderator decides anything.
    """

    class Kind(models.TextChoices):
        CHEATING = "cheating"
        STALLING = "stalling"
        NAME = "name"
        OTHER = "other"
        REPEATED_PAIR = "repeated-pair"
        WIN_TRADING = "win-trading"
        RESIGNATION_FARMING = "resignation-farming"

    class Outcome(models.TextChoices):
        DISMISSED = "dismissed"
        WARNED = "warned"
        BANNED = "banned"

    id = models.CharField(primary_key=True, max_length=12, default=new_id, editable=False)
    player = models.ForeignKey(
        Player, on_delete=models.CASCADE, related_name="reports_about", db_index=False
    )
    other = models.ForeignKey(
        Player, null=True, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    reporter = models.ForeignKey(
        Player, null=True, on_delete=models.CASCADE, related_name="reports_made", db_index=False
    )
    kind = models.CharField(max_length=20, choices=Kind)
    game_id = models.CharField(max_length=12, blank=True)
    words = models.TextField(max_length=1000, blank=True)
    evidence = models.JSONField(null=True)
    at = models.BigIntegerField(help_text="Milliseconds since the epoch.")
    claimed_by = models.ForeignKey(
        Player, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    claimed_at = models.BigIntegerField(null=True)
    closed_at = models.BigIntegerField(null=True)
    closed_by = models.ForeignKey(
        Player, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    closed_by_name = models.CharField(max_length=24, blank=True)
    outcome = models.CharField(max_length=10, choices=Outcome, blank=True)
    note = models.CharField(max_length=1000, blank=True, help_text="For moderators alone.")
    sanction = models.ForeignKey(
        Sanction, null=True, on_delete=models.SET_NULL, related_name="reports", db_index=False
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["reporter", "player", "game_id"],
                condition=Q(closed_at=None),
                name="report_open_once",
            ),
            models.UniqueConstraint(
                fields=["kind", "player", "other"],
                condition=Q(closed_at=None, reporter=None),
                name="flag_open_once",
            ),
            models.CheckConstraint(
                condition=~Q(player=F("reporter")) & ~Q(player=F("other")), name="report_of_another"
            ),
            models.CheckConstraint(
                condition=Q(reporter=None, other__isnull=False, evidence__isnull=False)
                | Q(reporter__isnull=False, other=None, evidence=None),
                name="report_or_flag",
            ),
            models.CheckConstraint(
                condition=Q(closed_at=None, outcome="", note="")
                | (Q(closed_at__isnull=False) & ~Q(outcome="") & ~Q(note="")),
                name="report_closed_with_note",
            ),
        ]
        indexes = [
            models.Index(fields=["player", "-at"], name="report_about"),
            models.Index(fields=["reporter", "-at"], name="report_by"),
            models.Index(
                fields=["other", "-at"], name="report_other", condition=Q(other__isnull=False)
            ),
            models.Index(fields=["at"], name="report_open", condition=Q(closed_at=None)),
            models.Index(fields=["-at"], name="report_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} about player {self.player_id}"

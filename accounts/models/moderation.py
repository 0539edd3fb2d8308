"""What moderators keep: sanctions, with who made and who lifted them and why. Rows are never deleted by hand."""

from django.db import models
from django.db.models import F, Q

from accounts.models.people import Player


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

"""What was done when it was due, who was erased, and the names that stay reserved for nobody."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models.people import Player


class JobRun(models.Model):
    """A job that is due once in a period, such as a day. The unique row is the promise (accounts/services/jobs.py).

    `done_at` is null while somebody works on it. Their claim, told by `holder`, ends at `claimed_until` (milliseconds):
    who has died by then did not do it, and the next one may.
    """

    job = models.CharField(max_length=64)
    period = models.CharField(max_length=40)
    holder = models.UUIDField(null=True)
    claimed_until = models.BigIntegerField(null=True)
    done_at = models.DateTimeField(null=True, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "period"], name="job_once"),
            models.CheckConstraint(
                condition=Q(done_at__isnull=False)
                | Q(holder__isnull=False, claimed_until__isnull=False),
                name="job_done_or_claimed",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.job} of {self.period}"


class Erasure(models.Model):
    """A player is being erased, or was: by whose wish, and when (docs/privacy.md).

    `names` are those that the player had, until they have been replaced everywhere; then it says nothing of who that
    was. Web processes look for the latest `done_at`: what they remember of games may name the player.
    """

    class Cause(models.TextChoices):
        WISH = "wish", "the player's own wish"
        OPERATOR = "operator"

    player = models.OneToOneField(Player, on_delete=models.PROTECT, related_name="erasure")
    cause = models.CharField(max_length=8, choices=Cause)
    by_name = models.CharField(max_length=24, blank=True, help_text="Of the operator.")
    reason = models.TextField(blank=True)
    names = ArrayField(models.CharField(max_length=24), default=list)
    at = models.DateTimeField(default=timezone.now)
    done_at = models.DateTimeField(null=True, db_index=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(done_at=None) ^ Q(names=[]), name="erasure_names_until_done"
            ),
            models.CheckConstraint(
                condition=Q(cause="wish") | ~Q(reason=""), name="erasure_reason"
            ),
        ]

    def __str__(self) -> str:
        return f"erasure of player {self.player_id}"


class ReservedName(models.Model):
    """A name that nobody may take yet: somebody who had it was erased. Of the name, only a keyed digest is kept."""

    digest = models.BinaryField(max_length=32, primary_key=True)
    at = models.DateTimeField(default=timezone.now, db_index=True)

    def __str__(self) -> str:
        return f"a name of somebody who was erased on {self.at:%Y-%m-%d}"

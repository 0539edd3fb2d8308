"""Challenges: invitations to named players, and rematches, which are challenges born from a finished game."""

from django.db import models
from django.db.models import F, Q

from common.ids import new_id
from matchmaking.models.terms import RATED_HAS_A_CLOCK, TermsColumns


class Challenge(TermsColumns):
    """An invitation. The game starts when everybody of its seats has agreed; its row is locked by whoever answers.

    `target` is who was challenged; a rematch has none, but the game that it is born from.
    """

    class Status(models.TextChoices):
        OPEN = "open"
        ACCEPTED = "accepted"
        DECLINED = "declined"
        CANCELLED = "cancelled"
        EXPIRED = "expired"

    class First(models.TextChoices):
        CHALLENGER = "challenger"
        CHALLENGED = "challenged"
        DRAW = "draw"
        SEATS = "seats", "as seated"

    id = models.CharField(primary_key=True, max_length=12, default=new_id, editable=False)
    challenger = models.ForeignKey(
        "accounts.Player", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    target = models.ForeignKey(
        "accounts.Player", null=True, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    rematch_of = models.ForeignKey(
        "territory.Game", null=True, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    first = models.CharField(max_length=10, choices=First, help_text="Who moves first.")
    status = models.CharField(max_length=9, choices=Status, default=Status.OPEN)
    reason = models.CharField(max_length=16, blank=True, help_text="Why it was declined.")
    words = models.CharField(max_length=140, blank=True, help_text="In the player's own words.")
    game = models.ForeignKey(
        "territory.Game", null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["challenger", "target"],
                condition=Q(status="open", target__isnull=False),
                name="challenge_once_a_pair",
            ),
            # A rematch that was declined stays declined; one that nobody answered may be asked for again.
            models.UniqueConstraint(
                fields=["rematch_of"],
                condition=Q(status__in=["open", "accepted", "declined"], rematch_of__isnull=False),
                name="challenge_one_rematch",
            ),
            models.CheckConstraint(
                condition=Q(target=None, rematch_of__isnull=False)
                | Q(target__isnull=False, rematch_of=None),
                name="challenge_of_one_kind",
            ),
            models.CheckConstraint(
                condition=~Q(challenger=F("target")), name="challenge_of_another"
            ),
            models.CheckConstraint(condition=RATED_HAS_A_CLOCK, name="challenge_rated"),
            models.CheckConstraint(
                condition=Q(status="open", ended_at=None)
                | ~Q(status="open") & Q(ended_at__isnull=False),
                name="challenge_ended",
            ),
        ]
        indexes = [
            models.Index(fields=["challenger", "-created_at", "-id"], name="challenge_made"),
            models.Index(fields=["target", "-created_at", "-id"], name="challenge_received"),
            models.Index("expires_at", name="challenge_expiry", condition=Q(status="open")),
            models.Index(
                "ended_at", name="challenge_ended_at", condition=Q(ended_at__isnull=False)
            ),
            models.Index(F("created_at").desc(), "id", name="challenge_newest"),
        ]

    def __str__(self) -> str:
        return f"challenge {self.id}"


class ChallengeSeat(models.Model):
    """One seat of the game to come: a person who has agreed or not, or a CPU of this level."""

    challenge = models.ForeignKey(
        Challenge, on_delete=models.CASCADE, related_name="seats", db_index=False
    )
    index = models.SmallIntegerField()
    player = models.ForeignKey("accounts.Player", on_delete=models.CASCADE, related_name="+")
    level = models.CharField(max_length=16, blank=True)
    agreed = models.BooleanField()

    class Meta:
        ordering = ["challenge", "index"]
        constraints = [
            models.UniqueConstraint(fields=["challenge", "index"], name="challenge_seat_once"),
        ]

    def __str__(self) -> str:
        return f"seat {self.index} of {self.challenge_id}"


class ChallengeTaking(models.Model):
    """Whose challenges a player takes; who has no row takes everybody's."""

    class Whose(models.TextChoices):
        EVERYBODY = "everybody"
        FRIENDS = "friends"
        NOBODY = "nobody"

    player = models.OneToOneField(
        "accounts.Player", primary_key=True, on_delete=models.CASCADE, related_name="+"
    )
    whose = models.CharField(max_length=9, choices=Whose)

    def __str__(self) -> str:
        return f"player {self.player_id} takes challenges of {self.whose}"

"""The pools that operators edit. Who waits in them stands in Redis (matchmaking/pools.py)."""

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import F, Q

from games.territory import rules
from games.territory.rules import TimeControl, TimeKind


class Pool(models.Model):
    """The queue for one variant, time control and rated flag. A change takes effect within a second."""

    class Kind(models.TextChoices):
        REALTIME = "realtime"
        CORRESPONDENCE = "correspondence"

    class Bots(models.TextChoices):
        NONE = "none", "people"
        ONLY = "only", "bots"
        WELCOME = "welcome", "people and bots"

    key = models.CharField(
        max_length=40,
        unique=True,
        validators=[RegexValidator(r"^[a-z0-9][a-z0-9-]*\Z", "Use a-z, 0-9 and hyphens.")],
        help_text="Its name in the API, such as duo-blitz. Do not change it while people wait.",
    )
    variant = models.CharField(max_length=16)
    kind = models.CharField(max_length=16, choices=Kind, default=Kind.REALTIME)
    initial_ms = models.BigIntegerField(
        validators=[MinValueValidator(1)],
        help_text="Milliseconds for the game; for each move when the kind is correspondence.",
    )
    increment_ms = models.BigIntegerField(
        default=0,
        validators=[MinValueValidator(0)],
        help_text="Milliseconds added after each move.",
    )
    rated = models.BooleanField(default=True)
    window_limit = models.IntegerField(
        default=500,
        validators=[MinValueValidator(1), MaxValueValidator(5_000)],
        help_text="The largest rating difference that a ticket accepts, however long it waits.",
    )
    min_rating = models.IntegerField(null=True, blank=True)
    max_rating = models.IntegerField(null=True, blank=True)
    bots = models.CharField(
        max_length=8,
        choices=Bots,
        default=Bots.NONE,
        help_text="Who waits here: people alone, bots alone, or both, who then meet each other.",
    )
    open = models.BooleanField(
        default=True, help_text="Closed: nobody can join; who waits already is still matched."
    )

    class Meta:
        ordering = ["key"]
        constraints = [
            # The store's scripts take a record apart by these characters.
            models.CheckConstraint(
                condition=Q(key__regex=r"^[a-z0-9][a-z0-9-]*$"), name="pool_key"
            ),
            models.CheckConstraint(
                condition=Q(initial_ms__gt=0, increment_ms__gte=0), name="pool_time"
            ),
            models.CheckConstraint(
                condition=~Q(kind="correspondence") | Q(increment_ms=0),
                name="pool_correspondence_without_increment",
            ),
            models.CheckConstraint(condition=Q(window_limit__gt=0), name="pool_window"),
            models.CheckConstraint(
                condition=Q(min_rating=None)
                | Q(max_rating=None)
                | Q(min_rating__lte=F("max_rating")),
                name="pool_rating_limits",
            ),
        ]

    def __str__(self) -> str:
        return self.key

    def clean(self) -> None:
        """Refuse what no game can be started with."""
        try:
            kind = rules.variant(self.variant)
        except rules.UnknownVariantError as error:
            raise ValidationError({"variant": str(error)}) from None
        if kind.seats != 2:
            raise ValidationError({"variant": "Pools are for games of two players so far."})
        try:
            TimeControl(TimeKind(self.kind), self.initial_ms, self.increment_ms)
        except rules.ClockError as error:
            raise ValidationError(str(error)) from None

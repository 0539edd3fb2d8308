"""What a room's or a challenge's game is to be played by, as columns."""

from typing import Any

from django.db import models
from django.db.models import Q

from games.territory.rules import TimeControl, TimeKind
from matchmaking.rules import Terms


class TermsColumns(models.Model):
    """The base of both."""

    class Kind(models.TextChoices):
        REALTIME = "realtime"
        CORRESPONDENCE = "correspondence"
        NONE = "none"

    class Undo(models.TextChoices):
        NONE = "none"
        ASK = "ask"
        FREE = "free"

    variant = models.CharField(max_length=16)
    kind = models.CharField(max_length=16, choices=Kind)
    initial_ms = models.BigIntegerField(
        help_text="Milliseconds for the game; for each move when the kind is correspondence."
    )
    increment_ms = models.BigIntegerField(help_text="Milliseconds added after each move.")
    rated = models.BooleanField()
    undo = models.CharField(max_length=4, choices=Undo)
    spectators = models.BooleanField(help_text="Others than its players may watch the game.")

    class Meta:
        abstract = True

    @property
    def terms(self) -> Terms:
        return Terms(
            variant=self.variant,
            time_control=TimeControl(TimeKind(self.kind), self.initial_ms, self.increment_ms),
            rated=self.rated,
            undo=self.undo,  # type: ignore[arg-type]  # the column has these choices
            spectators=self.spectators,
        )


def columns_of(terms: Terms) -> dict[str, Any]:
    """The values of the columns."""
    control = terms.time_control
    return {
        "variant": terms.variant,
        "kind": control.kind.value,
        "initial_ms": control.initial_ms,
        "increment_ms": control.increment_ms,
        "rated": terms.rated,
        "undo": terms.undo,
        "spectators": terms.spectators,
    }


RATED_HAS_A_CLOCK = Q(rated=False) | (~Q(kind="none") & ~Q(undo="free"))

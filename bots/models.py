"""The tables of hints. The constraints are the promise: no fourth one in a game, one at a time in a run."""

from django.db import models
from django.db.models import Q

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

"""A player's inbox: numbered items that are never lost."""

from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import F, Q

from accounts.models.people import Player


class InboxHead(models.Model):
    """The number of the latest item in a player's inbox. Its row lock puts simultaneous items in order.

    The items up to `read` have been read, on whichever device; those up to `dropped` are gone, because of their age.
    """

    player = models.OneToOneField(
        Player, primary_key=True, on_delete=models.CASCADE, related_name="inbox_head"
    )
    version = models.BigIntegerField()
    read = models.BigIntegerField(default=0, db_default=0)
    dropped = models.BigIntegerField(default=0, db_default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(read__gte=0, read__lte=F("version"))
                & Q(dropped__gte=0, dropped__lte=F("version")),
                name="inbox_marks_within",
            )
        ]

    def __str__(self) -> str:
        return f"inbox of player {self.player_id} at {self.version}"


class InboxItem(models.Model):
    """One event of a player's inbox: `payload` is the JSON text that the client gets, to the byte."""

    player = models.ForeignKey(
        Player, on_delete=models.CASCADE, related_name="inbox_items", db_index=False
    )
    version = models.BigIntegerField()
    at = models.BigIntegerField(help_text="Milliseconds since the epoch.")
    payload = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["player", "version"], name="inbox_item_once"),
            models.CheckConstraint(condition=Q(version__gte=1), name="inbox_item_from_1"),
        ]
        indexes = [BrinIndex(fields=["at"], name="inbox_item_age")]

    def __str__(self) -> str:
        return f"inbox item {self.version} of player {self.player_id}"

"""Who is whose friend, who has asked to be, and who wants nothing of whom."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Greatest, Least

from accounts.models.people import Player


class Friendship(models.Model):
    """One player has asked another; they are friends from `since` on, and before it the request is pending.

    One row a pair, whoever asked: so there is one request or one friendship, never two, and never both.
    """

    sender = models.ForeignKey(
        Player, on_delete=models.CASCADE, related_name="friendships_asked", db_index=False
    )
    recipient = models.ForeignKey(
        Player, on_delete=models.CASCADE, related_name="friendships_answered", db_index=False
    )
    asked_at = models.BigIntegerField(help_text="Milliseconds since the epoch.")
    since = models.BigIntegerField(
        null=True, blank=True, help_text="When it was accepted, in milliseconds; none: pending."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                Least("sender", "recipient"),
                Greatest("sender", "recipient"),
                name="friendship_once_a_pair",
            ),
            models.CheckConstraint(
                condition=~Q(sender=F("recipient")), name="friendship_of_two_players"
            ),
        ]
        indexes = [
            # Found from either side, the pair as well.
            models.Index(fields=["sender", "recipient"], name="friendship_asked"),
            models.Index(fields=["recipient", "sender"], name="friendship_answered"),
        ]

    def __str__(self) -> str:
        state = "asked" if self.since is None else "friends since"
        at = self.asked_at if self.since is None else self.since
        return f"{self.sender_id} and {self.recipient_id}: {state} {at}"


class Block(models.Model):
    """`blocker` wants nothing of `blocked`: neither to meet them, nor to hear of them, nor to be seen by them."""

    blocker = models.ForeignKey(
        Player, on_delete=models.CASCADE, related_name="blocks_made", db_index=False
    )
    blocked = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="blocks_suffered")
    at = models.BigIntegerField(help_text="Milliseconds since the epoch.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["blocker", "blocked"], name="block_once"),
            models.CheckConstraint(
                condition=~Q(blocker=F("blocked")), name="block_of_another_player"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.blocker_id} blocks {self.blocked_id}"

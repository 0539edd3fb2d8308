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
            # Each list in its order: the newest first. Friends are found from either side.
            models.Index(
                fields=["sender", "-id"], name="friend_asked", condition=Q(since__isnull=False)
            ),
            models.Index(
                fields=["recipient", "-id"],
                name="friend_answered",
                condition=Q(since__isnull=False),
            ),
            models.Index(fields=["sender", "-id"], name="request_sent", condition=Q(since=None)),
            models.Index(
                fields=["recipient", "-id"], name="request_received", condition=Q(since=None)
            ),
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
        indexes = [models.Index(fields=["blocker", "-id"], name="block_listed")]

    def __str__(self) -> str:
        return f"{self.blocker_id} blocks {self.blocked_id}"

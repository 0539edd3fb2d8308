"""Leaderboards of scores, and the counts that make ranks cheap."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from accounts import rules
from accounts.models.people import Player
from accounts.models.places import Place, _all


class ScoreBoard(models.Model):
    """A leaderboard of scores, such as `puzzle:easy:10x10:once` or `daily:2026-11-30`; made by its first score."""

    key = models.CharField(max_length=rules.SCORE_KEY_LENGTH, primary_key=True)
    frozen_at = models.BigIntegerField(
        null=True, blank=True, help_text="Milliseconds since the epoch; no score is taken after it."
    )

    class Meta:
        permissions = [("freeze_board", "Can freeze boards of scores")]

    def __str__(self) -> str:
        return self.key


class ScoreEntry(models.Model):
    """A player's best score on a board. Removed and banned players keep theirs, off the list.

    `place` says the order: the higher score, then fewer placements, then the earlier finish; who is equal in these
    three shares the rank. `source` names what was played (a run's id); it is kept elsewhere.
    """

    board = models.ForeignKey(
        ScoreBoard,
        on_delete=models.PROTECT,
        related_name="entries",
        db_column="key",
        db_index=False,
    )
    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="scores")
    score = models.BigIntegerField()
    placements = models.IntegerField()
    finished_at = models.BigIntegerField(help_text="Milliseconds since the epoch.")
    source = models.CharField(max_length=40)
    removed = models.BooleanField(default=False, help_text="Taken off the list by an admin.")
    eligible = models.BooleanField(
        default=True,
        help_text="The player is registered, active and not banned from play; the database sets it, until the board is frozen.",
    )
    listed = models.GeneratedField(
        expression=_all(Q(eligible=True, removed=False)),
        output_field=models.BooleanField(),
        db_persist=True,
    )
    place = models.GeneratedField(
        expression=Place(F("score") * -1, F("placements"), F("finished_at"), F("player_id")),
        output_field=ArrayField(models.FloatField()),
        db_persist=True,
    )

    class Meta:
        verbose_name = "score"
        constraints = [
            models.UniqueConstraint(fields=["board", "player"], name="score_once"),
            models.CheckConstraint(
                condition=Q(score__range=(0, 2**53), placements__gte=0)
                & Q(finished_at__range=(0, 2**53)),
                name="score_exact",
            ),
        ]
        indexes = [
            models.Index("board", "place", name="score_place", condition=Q(listed=True)),
            models.Index("board", name="score_unlisted", condition=Q(listed=False)),
        ]

    def __str__(self) -> str:
        return f"{self.score} on {self.board_id}"


class LeaderboardBucket(models.Model):
    """How many rows a leaderboard lists from `low` up to the next bucket's `low` (docs/adr/0015-score-leaderboards.md).

    The database counts them itself (triggers in migration 0002), in the transaction that changes the rows. `board` is
    the key of a rating or of a board of scores; the first bucket's `low` is empty, which is less than every place.
    """

    pk = models.CompositePrimaryKey("board", "low")
    board = models.CharField(max_length=rules.SCORE_KEY_LENGTH)
    low = ArrayField(models.FloatField())
    entries = models.IntegerField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(entries__gte=0), name="bucket_not_below_0")
        ]

    def __str__(self) -> str:
        return f"{self.board} from {self.low}: {self.entries}"

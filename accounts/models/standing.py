"""What people decided about standing, who is left out of leaderboards, and the work that decisions ask for."""

from django.db import models
from django.db.models import Q

from accounts import rules
from accounts.models.people import Player


class StandingDecision(models.Model):
    """Somebody changed standing by hand: who, when, why, and what it was before. Never changed, never deleted.

    Names are kept beside the keys, for the day when the player is gone. Without `by_name` nobody decided: a season
    was closed by the calendar.
    """

    class Action(models.TextChoices):
        SCORE_REMOVED = "score-removed"
        SCORE_RESTORED = "score-restored"
        BOARD_FROZEN = "board-frozen"
        PLAYER_EXCLUDED = "player-excluded"
        PLAYER_RESTORED = "player-restored"
        GAME_ANNULLED = "game-annulled"
        GAME_RESTORED = "game-restored"
        RATINGS_RECOMPUTED = "ratings-recomputed"
        SEASON_MADE = "season-made"
        SEASON_CHANGED = "season-changed"
        SEASON_ENDED = "season-ended"
        SEASON_CLOSED = "season-closed"
        SEASON_REFROZEN = "season-refrozen"

    action = models.CharField(max_length=20, choices=Action)
    key = models.CharField(
        max_length=rules.SCORE_KEY_LENGTH, blank=True, help_text="Of the leaderboard; empty: all."
    )
    game_id = models.CharField(max_length=12, blank=True)
    season = models.ForeignKey(
        "accounts.Season", null=True, on_delete=models.SET_NULL, related_name="decisions"
    )
    player = models.ForeignKey(
        Player, null=True, on_delete=models.SET_NULL, related_name="standing_decisions"
    )
    player_name = models.CharField(max_length=24, blank=True)
    by = models.ForeignKey(Player, null=True, on_delete=models.SET_NULL, related_name="+")
    by_name = models.CharField(max_length=24, blank=True)
    at = models.BigIntegerField(help_text="Milliseconds since the epoch.")
    reason = models.TextField()
    facts = models.JSONField(default=dict, blank=True, help_text="What was so at that moment.")

    class Meta:
        verbose_name = "decision about standing"
        verbose_name_plural = "decisions about standing"
        constraints = [
            models.CheckConstraint(condition=~Q(reason=""), name="standing_decision_reason")
        ]
        indexes = [
            models.Index("key", "id", name="decision_key"),
            models.Index("game_id", name="decision_game", condition=~Q(game_id="")),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.player_name or self.game_id or self.key}".strip()


class Exclusion(models.Model):
    """A player is left out of leaderboards of ratings: that of `key`, or all if it is empty. Games are rated on.

    Triggers (migration 0005) write it to the ratings that there are, and to those to come.
    """

    player = models.ForeignKey(
        Player, on_delete=models.CASCADE, related_name="exclusions", db_index=False
    )
    key = models.CharField(max_length=45, blank=True)
    since = models.BigIntegerField(help_text="Milliseconds since the epoch.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["player", "key"], name="exclusion_once")]
        permissions = [("exclude_player", "Can exclude players from leaderboards of ratings")]

    def __str__(self) -> str:
        return f"{self.player_id} {self.key or 'everywhere'}"


class StandingJob(models.Model):
    """Work that is too long for a request: a worker does it, and this row says how far it is."""

    class Kind(models.TextChoices):
        CHECK = "check", "check the ratings of a key"
        RECOMPUTE = "recompute", "recompute the ratings of a key"
        ANNUL = "annul", "annul a game"
        RESTORE = "restore", "restore a game"
        CLOSE = "close", "close a season"
        REFREEZE = "refreeze", "freeze a season's tables again"

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    kind = models.CharField(max_length=10, choices=Kind)
    subject = models.CharField(
        max_length=45, help_text="A rating's key, a game's id or a season's."
    )
    reason = models.TextField()
    by = models.ForeignKey(Player, null=True, on_delete=models.SET_NULL, related_name="+")
    by_name = models.CharField(max_length=24)
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    asked_at = models.BigIntegerField(help_text="Milliseconds since the epoch.")
    started_at = models.BigIntegerField(null=True)
    ended_at = models.BigIntegerField(null=True)
    outcome = models.TextField(blank=True)

    class Meta:
        verbose_name = "job"
        constraints = [
            models.CheckConstraint(condition=~Q(reason=""), name="standing_job_reason"),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "running"], ended_at=None)
                | Q(state__in=["done", "failed"], ended_at__isnull=False),
                name="standing_job_ended_or_not",
            ),
        ]
        indexes = [
            models.Index(
                "id", name="standing_job_open", condition=Q(state__in=["waiting", "running"])
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"

"""The tables of people and standing. Constraints here are the promises; services only word the refusals."""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.contrib.postgres.fields import ArrayField
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Floor, Lower
from django.utils import timezone

from accounts import rules


class Place(models.Func):
    """Where a row stands on its leaderboard: numbers that are compared one after the other, the first place lowest.

    The last one is the player's id, so that no two rows stand in one place. Double precision, because ratings are; it
    holds whole numbers up to 2^53 exactly.
    """

    template = "ARRAY[%(expressions)s]::double precision[]"


def _all(condition: Q) -> models.Expression:
    return models.ExpressionWrapper(condition, output_field=models.BooleanField())


class PlayerManager(BaseUserManager["Player"]):
    """What Django's own commands and login need. Everybody else uses services and selectors."""

    def get_by_natural_key(self, username: str | None) -> "Player":
        """Sign-in does not care about the case of a name."""
        return self.annotate(lower_name=Lower("name")).get(lower_name=(username or "").lower())

    def create_superuser(self, name: str, password: str | None = None, **fields: Any) -> "Player":
        """For `manage.py createsuperuser`."""
        player = self.model(name=name, is_staff=True, is_superuser=True, **fields)
        player.set_password(password)
        player.save(using=self._db)
        return player


class Player(AbstractBaseUser, PermissionsMixin):
    """An account: a person, a guest, or a bot. Only staff have a password, for the admin site."""

    class Kind(models.TextChoices):
        REGISTERED = "registered"
        GUEST = "guest"
        BOT = "bot"

    name = models.CharField(
        max_length=24,
        unique=True,
        validators=[
            RegexValidator(f"^{rules.NAME.pattern}\\Z", "2-24 of A-Z a-z 0-9 _ -, a letter first.")
        ],
    )
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.REGISTERED)
    level = models.CharField(
        max_length=16, blank=True, help_text="Of a built-in CPU player; else empty."
    )
    is_staff = models.BooleanField(default=False, help_text="May use the admin site.")
    is_active = models.BooleanField(
        default=True, help_text="Unset it instead of deleting a player."
    )
    created_at = models.DateTimeField(default=timezone.now)

    objects = PlayerManager()

    USERNAME_FIELD = "name"
    REQUIRED_FIELDS = []

    class Meta:
        indexes = [models.Index("created_at", name="player_created")]
        constraints = [
            models.UniqueConstraint(Lower("name"), name="player_name_any_case"),
            models.UniqueConstraint(fields=["level"], condition=~Q(level=""), name="player_level"),
            models.CheckConstraint(
                condition=Q(name__regex=f"^{rules.NAME.pattern}$"), name="player_name_form"
            ),
            models.CheckConstraint(
                condition=Q(level="") | Q(kind="bot"), name="player_level_of_bot"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class AccessToken(models.Model):
    """A personal access token. The secret was shown once; only its SHA-256 digest is kept."""

    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="tokens")
    label = models.CharField(max_length=60, blank=True)
    digest = models.BinaryField(max_length=32, unique=True)
    hint = models.CharField(
        max_length=4, help_text="The last characters of the secret, to know it by."
    )
    scopes = ArrayField(models.CharField(max_length=16))
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, help_text="To the hour.")

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.label or 'token'} …{self.hint}"


class InboxHead(models.Model):
    """The number of the latest item in a player's inbox. Its row lock puts simultaneous items in order."""

    player = models.OneToOneField(
        Player, primary_key=True, on_delete=models.CASCADE, related_name="inbox_head"
    )
    version = models.BigIntegerField()

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

    def __str__(self) -> str:
        return f"inbox item {self.version} of player {self.player_id}"


class RatingRow(models.Model):
    """A player's rating in one variant and speed. It is the sum of the ledger and may be rebuilt from it."""

    player = models.ForeignKey(
        Player, on_delete=models.CASCADE, related_name="ratings", db_index=False
    )
    key = models.CharField(max_length=45)
    mu = models.FloatField(default=rules.MU)
    sigma = models.FloatField(default=rules.SIGMA)
    games = models.IntegerField(default=0)
    eligible = models.BooleanField(
        default=True, help_text="The player is active and no bot; the database sets it."
    )
    listed = models.GeneratedField(
        expression=_all(Q(eligible=True, sigma__lt=rules.PROVISIONAL_SIGMA)),
        output_field=models.BooleanField(),
        db_persist=True,
    )
    place = models.GeneratedField(
        expression=Place(Floor(F("mu") + 0.5) * -1, F("mu") * -1, F("sigma"), F("player_id")),
        output_field=ArrayField(models.FloatField()),
        db_persist=True,
    )

    class Meta:
        verbose_name = "rating"
        constraints = [models.UniqueConstraint(fields=["player", "key"], name="rating_once")]
        indexes = [
            models.Index("key", "place", name="rating_place", condition=Q(listed=True)),
        ]

    def __str__(self) -> str:
        return f"{self.key} {rules.Rating(self.mu, self.sigma, self.games)}"


class LedgerRow(models.Model):
    """One game's effect on one rating, written once and never changed.

    `sequence` numbers a rating's changes 1, 2, 3 …; the ids put whole games in an order in which they can be replayed,
    because they are drawn while the ratings are locked. `game_id` is no foreign key: games are kept elsewhere.
    """

    game_id = models.CharField(max_length=12)
    player = models.ForeignKey(
        Player, on_delete=models.CASCADE, related_name="rating_changes", db_index=False
    )
    key = models.CharField(max_length=45)
    sequence = models.IntegerField()
    rank = models.SmallIntegerField()
    mu_before = models.FloatField()
    sigma_before = models.FloatField()
    mu_after = models.FloatField()
    sigma_after = models.FloatField()
    at = models.BigIntegerField(help_text="Milliseconds since the epoch.")

    class Meta:
        verbose_name = "rating change"
        constraints = [
            models.UniqueConstraint(fields=["game_id", "player"], name="ledger_game_once"),
            models.UniqueConstraint(fields=["player", "key", "sequence"], name="ledger_sequence"),
        ]

    def __str__(self) -> str:
        return f"{self.key} {self.change.before} → {self.change.after}"

    @property
    def change(self) -> rules.RatingChange:
        """This row as a value."""
        return rules.RatingChange(
            player_id=self.player_id,
            rank=self.rank,
            mu_before=self.mu_before,
            sigma_before=self.sigma_before,
            mu_after=self.mu_after,
            sigma_after=self.sigma_after,
        )


class ScoreBoard(models.Model):
    """A leaderboard of scores, such as `puzzle:easy:10x10:once` or `daily:2026-11-30`; made by its first score."""

    key = models.CharField(max_length=rules.SCORE_KEY_LENGTH, primary_key=True)
    frozen_at = models.BigIntegerField(
        null=True, blank=True, help_text="Milliseconds since the epoch; no score is taken after it."
    )

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
        help_text="The player is registered and active; the database sets it, until the board is frozen.",
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


class ScoreDecision(models.Model):
    """An admin took a score off a board, or put it back: who, when, why, and what it was. Never changed."""

    class Action(models.TextChoices):
        REMOVED = "removed"
        RESTORED = "restored"

    action = models.CharField(max_length=8, choices=Action)
    board = models.ForeignKey(ScoreBoard, on_delete=models.PROTECT, related_name="decisions")
    player = models.ForeignKey(
        Player, null=True, on_delete=models.SET_NULL, related_name="score_decisions"
    )
    player_name = models.CharField(max_length=24, help_text="Kept when the player is deleted.")
    by = models.ForeignKey(Player, null=True, on_delete=models.SET_NULL, related_name="+")
    by_name = models.CharField(max_length=24)
    at = models.BigIntegerField(help_text="Milliseconds since the epoch.")
    reason = models.TextField()
    score = models.BigIntegerField()
    placements = models.IntegerField()
    finished_at = models.BigIntegerField()
    source = models.CharField(max_length=40)
    rank = models.BigIntegerField(
        null=True, help_text="Before the removal, or after the restoring; none if banned."
    )

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(reason=""), name="score_decision_reason")
        ]

    def __str__(self) -> str:
        return f"{self.player_name} {self.action} on {self.board_id}"


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


class IdempotencyRecord(models.Model):
    """The answer to a creating POST that carried an `Idempotency-Key`, kept for 24 hours.

    `digest` is the SHA-256 of who asked (player or address) and the key, `request` that of method, path and body.
    A token's secret in the answer is not kept: it is derived again from the key, `salt` and the server's own secret.
    """

    digest = models.BinaryField(max_length=32, primary_key=True)
    request = models.BinaryField(max_length=32)
    salt = models.BinaryField(max_length=16)
    status = models.SmallIntegerField(default=0)
    answer = models.JSONField(null=True)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    def __str__(self) -> str:
        return f"idempotent answer of {self.created_at:%Y-%m-%d %H:%M}"


class VerifiedEmail(models.Model):
    """An address that a provider has confirmed to be the player's. By it, and only by it, sign-ins come together.

    Unique, so that it leads to one player however many sign in at once. It goes when no identity has it any more:
    providers give addresses to other people.
    """

    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="emails")
    address = models.CharField(max_length=254, unique=True, help_text="In lower case.")
    confirmed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = "verified e-mail"
        constraints = [
            models.CheckConstraint(condition=Q(address=Lower("address")), name="email_lower_case")
        ]

    def __str__(self) -> str:
        return self.address


class NameChange(models.Model):
    """A player's name gave way to another. The old one stays reserved for them: nobody can pass for them by it."""

    class Cause(models.TextChoices):
        SIGN_IN = "sign-in"
        CHOSEN = "chosen"
        OPERATOR = "operator"

    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="name_changes")
    old = models.CharField(max_length=24)
    new = models.CharField(max_length=24)
    cause = models.CharField(max_length=10, choices=Cause)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(Lower("old"), name="name_change_old")]

    def __str__(self) -> str:
        return f"{self.old} → {self.new}"

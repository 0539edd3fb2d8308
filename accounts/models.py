"""The tables of people and standing. Constraints here are the promises; services only word the refusals."""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.contrib.postgres.fields import ArrayField
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower
from django.utils import timezone

from accounts import rules


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

    class Meta:
        verbose_name = "rating"
        constraints = [models.UniqueConstraint(fields=["player", "key"], name="rating_once")]
        indexes = [
            models.Index(
                F("key"),
                F("mu").desc(),
                F("sigma"),
                F("player"),
                name="rating_leaderboard",
                condition=Q(sigma__lt=rules.PROVISIONAL_SIGMA),
            )
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

"""Players, the addresses by which they sign in, and the names they had."""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Collate, Lower
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

    class RequestsFrom(models.TextChoices):
        EVERYBODY = "everybody"
        NOBODY = "nobody"

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
    off_boards = models.BooleanField(
        default=False,
        editable=False,
        help_text="Leaderboards leave the player out, because a play ban is in force.",
    )
    created_at = models.DateTimeField(default=timezone.now)
    requests_from = models.CharField(
        max_length=10,
        choices=RequestsFrom,
        default=RequestsFrom.EVERYBODY,
        db_default=RequestsFrom.EVERYBODY,
        help_text="Who may ask the player to be friends.",
    )

    objects = PlayerManager()

    USERNAME_FIELD = "name"
    REQUIRED_FIELDS = []

    class Meta:
        permissions = [("view_dashboard", "Can view the dashboard")]
        indexes = [
            models.Index("created_at", name="player_created"),
            # For the admin's lists: names by their beginning, staff, closed accounts.
            models.Index(Collate(Lower("name"), "C"), name="player_name_begins"),
            models.Index("id", name="player_staff", condition=Q(is_staff=True)),
            models.Index("id", name="player_closed", condition=Q(is_active=False)),
            models.Index("id", name="player_off_boards", condition=Q(off_boards=True)),
        ]
        constraints = [
            models.UniqueConstraint(Lower("name"), name="player_name_any_case"),
            models.UniqueConstraint(fields=["level"], condition=~Q(level=""), name="player_level"),
            models.CheckConstraint(
                condition=Q(name__regex=f"^{rules.NAME.pattern}$"), name="player_name_form"
            ),
            models.CheckConstraint(
                condition=Q(level="") | Q(kind="bot"), name="player_level_of_bot"
            ),
            models.CheckConstraint(
                condition=Q(requests_from__in=["everybody", "nobody"]),
                name="player_requests_from",
            ),
        ]

    def __str__(self) -> str:
        return self.name


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

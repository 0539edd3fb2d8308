"""Tokens, and the answers that are given again to a repeated request."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from accounts.models.people import Player


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

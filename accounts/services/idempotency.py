"""Answering a repeated creating POST with the first answer (the `Idempotency-Key` header)."""

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.errors import IdempotencyKeyReusedError, InvalidIdempotencyKeyError
from accounts.models import IdempotencyRecord
from accounts.selectors.callers import PREFIX

KEPT = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request with an idempotency key: `secret` is the token secret that this key stands for.

    `answered` tells whether the request is a repetition; then `status` and `answer` are those of the first one.
    """

    record: IdempotencyRecord
    secret: str
    answered: bool

    def answer_with(self, status: int, answer: dict[str, Any]) -> None:
        """Keep the answer, in the transaction in which the thing itself is created."""
        self.record.status, self.record.answer = status, answer
        self.record.save(update_fields=["status", "answer"])


def begin(*, who: str, key: str, request: bytes) -> Attempt:
    """Claim the key, inside the transaction that creates the thing.

    `who` is the player or address that the key belongs to; `request` describes the whole request. A simultaneous
    repetition waits here for the first one's commit; if that fails, the repetition takes its place. Raises
    `InvalidIdempotencyKeyError`, or `IdempotencyKeyReusedError` for another request under the same key.
    """
    if not (16 <= len(key) <= 255 and key.isascii() and key.isprintable()):
        raise InvalidIdempotencyKeyError("Take a fresh UUID for each thing that you create.")
    digest = hashlib.sha256(f"{who}\n{key}".encode()).digest()
    fingerprint = hashlib.sha256(request).digest()
    IdempotencyRecord.objects.filter(pk=digest, created_at__lt=timezone.now() - KEPT).delete()
    try:
        with transaction.atomic():
            record = IdempotencyRecord.objects.create(
                digest=digest, request=fingerprint, salt=secrets.token_bytes(16)
            )
            answered = False
    except IntegrityError:
        record, answered = IdempotencyRecord.objects.get(pk=digest), True
    if bytes(record.request) != fingerprint:
        raise IdempotencyKeyReusedError("Use a new key for a new request.")
    return Attempt(record, _secret(f"{who}\n{key}", bytes(record.salt)), answered)


def _secret(key: str, salt: bytes) -> str:
    """A token secret that only this server can derive, and only when it is shown the idempotency key again."""
    mac = hmac.digest(settings.SECRET_KEY.encode(), salt + key.encode(), "sha512")
    return PREFIX + urlsafe_b64encode(mac).decode()[:40]

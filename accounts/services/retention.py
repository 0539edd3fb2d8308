"""Forgetting what nobody needs any more. docs/privacy.md says how long each thing is kept.

Every rule may be called as often as one likes, and removes in small transactions: it never holds up whoever uses the
tables meanwhile.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from importlib import import_module
from typing import Any, Final

from django.conf import settings
from django.core.management import call_command
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from oauth2_provider.models import clear_expired

from accounts import personal
from accounts.models import AccessToken, IdempotencyRecord, JobRun, Player, ReservedName
from accounts.services.idempotency import KEPT
from accounts.services.inbox import forget_inbox_items
from common.clock import now_ms

TOKENS_KEPT: Final = timedelta(days=30)
"""After a personal token ran out or was revoked: until then an export shows what it could do."""
SIGN_INS_KEPT: Final = timedelta(days=1)
"""What a sign-in that was never finished has left."""
NAMES_RESERVED: Final = timedelta(days=365)
"""How long nobody may have the name of somebody who was erased."""
JOBS_KEPT: Final = timedelta(days=90)
BATCH: Final = 500

Rule = Callable[[], int]
"""Removes what has had its time and says how many rows that were; -1 where a library does not count."""


def forget_sessions() -> int:
    """Sessions that are over, as `manage.py clearsessions` does."""
    import_module(settings.SESSION_ENGINE).SessionStore.clear_expired()
    return -1


def forget_sign_ins() -> int:
    """Sign-ins that were begun and never finished, as `manage.py clearsocial` does."""
    call_command("clearsocial", age=SIGN_INS_KEPT.days)
    return -1


def forget_app_tokens() -> int:
    """Access tokens of apps that ran out, refresh tokens a month later, codes: as `manage.py cleartokens` does."""
    clear_expired()
    return -1


def forget_tokens() -> int:
    """Personal tokens that ran out or were revoked a month ago."""
    end = timezone.now() - TOKENS_KEPT
    return _delete(AccessToken.objects.filter(Q(expires_at__lt=end) | Q(revoked_at__lt=end)))


def forget_answers() -> int:
    """The answers to requests with an `Idempotency-Key`."""
    end = timezone.now() - KEPT
    return _delete(IdempotencyRecord.objects.filter(created_at__lt=end))


def forget_names() -> int:
    """The digests of names that nobody could have for a year."""
    return _delete(ReservedName.objects.filter(at__lt=timezone.now() - NAMES_RESERVED))


def forget_jobs() -> int:
    """What was done long ago."""
    return _delete(JobRun.objects.filter(done_at__lt=timezone.now() - JOBS_KEPT))


def forget_inbox() -> int:
    """What has been read in inboxes for long, and what is very old."""
    return forget_inbox_items(now=now_ms())


def forget_guests() -> int:
    """Guests who have not been here for `KADO_GUEST_DAYS` and have played nothing: their token is lost, as a rule."""
    end = timezone.now() - timedelta(days=settings.GUEST_DAYS)
    used = AccessToken.objects.filter(player=OuterRef("pk"), last_used_at__gte=end)
    abandoned = (
        Player.objects.filter(Q(last_login=None) | Q(last_login__lt=end))
        .filter(~Exists(used), kind=Player.Kind.GUEST, is_active=True, created_at__lt=end)
        .order_by("pk")
    )
    last = deleted = 0
    while True:
        with transaction.atomic():
            # A game that such a guest begins at this moment finds at its commit that the guest is gone.
            locked = abandoned.filter(pk__gt=last).select_for_update(skip_locked=True, of=("self",))
            ids = list(locked.values_list("pk", flat=True)[:BATCH])
            if not ids:
                return deleted
            idle = set(ids) - personal.holders(ids)
            Player.objects.filter(pk__in=idle).delete()
            deleted += len(idle)
            last = ids[-1]


RULES: Final[Mapping[str, Rule]] = {
    "sessions": forget_sessions,
    "sign-ins": forget_sign_ins,
    "app-tokens": forget_app_tokens,
    "tokens": forget_tokens,
    "answers": forget_answers,
    "names": forget_names,
    "jobs": forget_jobs,
    "inbox": forget_inbox,
    "guests": forget_guests,
}
"""Each is done once a night, by `accounts.forget`."""


def _delete(rows: QuerySet[Any]) -> int:
    """Delete them, `BATCH` in a transaction; those that somebody has locked stay for the next time."""
    deleted = 0
    while True:
        with transaction.atomic():
            some = rows.select_for_update(skip_locked=True).values_list("pk", flat=True)[:BATCH]
            pks = list(some)
            rows.model._default_manager.filter(pk__in=pks).delete()
        deleted += len(pks)
        if len(pks) < BATCH:
            return deleted

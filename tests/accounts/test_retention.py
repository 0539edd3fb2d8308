"""What is forgotten and what is not: on either side of each period."""

import secrets
from datetime import datetime, timedelta

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.utils import timezone

from accounts.models import AccessToken, IdempotencyRecord, JobRun, Player, ReservedName
from accounts.services import retention
from accounts.services.idempotency import KEPT
from accounts.services.people import create_guest, create_player
from accounts.services.retention import RULES
from accounts.services.tokens import issue_token
from accounts.tasks import forget
from games.territory.services.casual import start_casual
from tests.games.puzzle import tables as runs

pytestmark = pytest.mark.django_db

SECOND = timedelta(seconds=1)


def _around(period: timedelta) -> tuple[datetime, datetime]:
    """An instant that lies longer ago than the period, and one that does not (by a minute)."""
    now = timezone.now()
    return now - period - SECOND, now - period + 60 * SECOND


def test_answers_names_and_jobs_have_their_time() -> None:
    for at in _around(KEPT):
        digest = secrets.token_bytes(32)
        IdempotencyRecord.objects.create(digest=digest, request=b"", salt=b"", created_at=at)
    for at in _around(retention.NAMES_RESERVED):
        ReservedName.objects.create(digest=secrets.token_bytes(32), at=at)
    for at in _around(retention.JOBS_KEPT):
        JobRun.objects.create(job="x", period=str(at), done_at=at)

    for rule in ("answers", "names", "jobs"):
        assert RULES[rule]() == 1
        assert RULES[rule]() == 0

    now = timezone.now()
    assert IdempotencyRecord.objects.get().created_at > now - KEPT
    assert ReservedName.objects.get().at > now - retention.NAMES_RESERVED
    assert JobRun.objects.filter(done_at__gt=now - retention.JOBS_KEPT).count() == 1


def test_tokens_that_are_good_for_nothing_go_after_a_month() -> None:
    player = create_player(name="Ada")
    old, late = _around(retention.TOKENS_KEPT)
    for field in ("expires_at", "revoked_at"):
        for at in (old, late):
            token, _ = issue_token(player_id=player.pk, scopes=["play"])
            AccessToken.objects.filter(pk=token.pk).update(**{field: at})
    issue_token(player_id=player.pk, scopes=["play"], label="lives")

    assert RULES["tokens"]() == 2
    assert AccessToken.objects.count() == 3
    assert AccessToken.objects.filter(label="lives").exists()


def test_sessions_that_are_over_go() -> None:
    now = timezone.now()
    Session.objects.create(session_key="old", session_data="", expire_date=now - SECOND)
    Session.objects.create(session_key="new", session_data="", expire_date=now + 60 * SECOND)

    RULES["sessions"]()

    assert list(Session.objects.values_list("session_key", flat=True)) == ["new"]


def test_each_rule_is_done_once_a_day_and_one_that_fails_stops_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    called: list[str] = []

    def broken() -> int:
        called.append("broken")
        raise ValueError("broken")

    def works() -> int:
        called.append("works")
        return 1

    monkeypatch.setattr("accounts.tasks.RULES", {"broken": broken, "works": works})
    forget()
    forget()

    assert called == ["broken", "works", "broken"]


def _guest(*, days: float) -> Player:
    player, _ = create_guest()
    Player.objects.filter(pk=player.pk).update(created_at=timezone.now() - timedelta(days=days))
    return player


def test_guests_who_do_not_come_back_go_unless_they_have_played() -> None:
    most = settings.GUEST_DAYS
    lost = _guest(days=most + 1)
    new, used, here, player, puzzler = (_guest(days=days) for days in (most - 1, *[most + 1] * 4))
    recently = timezone.now() - timedelta(days=most - 1)
    AccessToken.objects.filter(player=used).update(last_used_at=recently)
    Player.objects.filter(pk=here.pk).update(last_login=recently)
    start_casual(player_id=player.pk, variant="duo", levels=["", ""], now=0)
    idle = _guest(days=most + 1)
    person = create_player(name="Ada")
    Player.objects.filter(pk=person.pk).update(created_at=timezone.now() - timedelta(days=1000))
    runs.placed(runs.started(puzzler.pk), 1)
    runs.started(idle.pk)

    assert RULES["guests"]() == 2

    left = set(Player.objects.filter(kind="guest").values_list("pk", flat=True))
    assert left == {new.pk, used.pk, here.pk, player.pk, puzzler.pk}
    assert not {lost.pk, idle.pk} & left
    assert Player.objects.filter(pk=person.pk).exists()

"""Tokens: shown once, kept hashed, and at once worthless when they should be."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from accounts import selectors
from accounts.errors import InvalidTokenError, MissingScopeError, UnknownTokenError
from accounts.models import AccessToken, Player
from accounts.services.people import create_player
from accounts.services.tokens import USE_GRANULARITY_MS, issue_token, note_use, revoke_token
from accounts.signals import credential_ended
from common.clock import from_datetime, now_ms, to_datetime

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> Player:
    return create_player(name="Ada")


def test_a_token_stands_for_its_player(ada: Player, django_assert_num_queries: Any) -> None:
    expires_at = now_ms() + 60_000
    token, secret = issue_token(
        player_id=ada.pk, scopes=["play", "puzzle", "play"], expires_at=expires_at
    )
    with django_assert_num_queries(1):
        caller = selectors.authenticate(secret)
    assert caller == selectors.Caller(
        player_id=ada.pk,
        name="Ada",
        kind="registered",
        scopes=frozenset({"play", "puzzle"}),
        token_id=token.pk,
        expires_at=expires_at,
    )


def test_the_secret_is_nowhere_in_the_database(ada: Player) -> None:
    token, secret = issue_token(player_id=ada.pk, scopes=["play"])
    assert len(secret) == 45
    assert secret.startswith("kado_")
    with connection.cursor() as cursor:
        cursor.execute("SELECT t::text FROM accounts_accesstoken t")
        (row,) = cursor.fetchone()
    assert secret not in row
    assert secret[5:] not in row
    assert token.hint == secret[-4:]


def test_an_unknown_scope_is_a_mistake_of_the_caller(ada: Player) -> None:
    with pytest.raises(ValueError, match="everything"):
        issue_token(player_id=ada.pk, scopes=["everything"])


@pytest.mark.parametrize(
    "secret",
    ["", "kado_", "x" * 45, "kado_" + "x" * 40, "kado_" + "x" * 41, "kado_" + "é" * 40, "\0" * 45],
)
def test_malformed_and_unknown_secrets(ada: Player, secret: str) -> None:
    issue_token(player_id=ada.pk, scopes=["play"])
    with pytest.raises(InvalidTokenError):
        selectors.authenticate(secret)


def test_expired_revoked_and_banned_are_told_the_same(ada: Player) -> None:
    _, expired = issue_token(player_id=ada.pk, scopes=["play"], expires_at=now_ms() - 1)
    token, revoked = issue_token(player_id=ada.pk, scopes=["play"])
    revoke_token(player_id=ada.pk, token_id=token.pk)
    banned_player = create_player(name="Cheat")
    _, banned = issue_token(player_id=banned_player.pk, scopes=["play"])
    Player.objects.filter(pk=banned_player.pk).update(is_active=False)
    problems = []
    for secret in (expired, revoked, banned, "kado_" + "x" * 40):
        with pytest.raises(InvalidTokenError) as refused:
            selectors.authenticate(secret)
        problems.append(refused.value.problem())
    assert problems == [problems[0]] * 4
    assert (problems[0]["code"], problems[0]["status"]) == ("invalid-token", 401)


def test_which_tokens_are_still_live(ada: Player, django_assert_num_queries: Any) -> None:
    live, _ = issue_token(player_id=ada.pk, scopes=["play"])
    later, _ = issue_token(player_id=ada.pk, scopes=["play"], expires_at=now_ms() + 60_000)
    expired, _ = issue_token(player_id=ada.pk, scopes=["play"], expires_at=now_ms() - 1)
    revoked, _ = issue_token(player_id=ada.pk, scopes=["play"])
    revoke_token(player_id=ada.pk, token_id=revoked.pk)
    with django_assert_num_queries(1):
        ids = selectors.live_token_ids([live.pk, later.pk, expired.pk, revoked.pk, 0])
    assert ids == {live.pk, later.pk}
    assert selectors.tokens_of(ada.pk) == [live, later]


def test_revoking_is_told_once_and_after_the_commit(
    ada: Player, django_capture_on_commit_callbacks: Any
) -> None:
    heard: list[tuple[str, int]] = []

    def hear(sender: object, credential: str, player_id: int, **_: object) -> None:
        heard.append((credential, player_id))

    token, _ = issue_token(player_id=ada.pk, scopes=["play"])
    credential_ended.connect(hear)
    try:
        with django_capture_on_commit_callbacks() as callbacks:
            revoke_token(player_id=ada.pk, token_id=token.pk)
            revoke_token(player_id=ada.pk, token_id=token.pk)
        assert heard == []
        for callback in callbacks:
            callback()
    finally:
        credential_ended.disconnect(hear)
    assert heard == [(f"token:{token.pk}", ada.pk)]


def test_nobody_revokes_what_belongs_to_another(ada: Player) -> None:
    token, secret = issue_token(player_id=ada.pk, scopes=["play"])
    eve = create_player(name="Eve")
    with pytest.raises(UnknownTokenError):
        revoke_token(player_id=eve.pk, token_id=token.pk)
    assert selectors.authenticate(secret).player_id == ada.pk


def test_the_last_use_is_written_once_an_hour(ada: Player, django_assert_num_queries: Any) -> None:
    token, secret = issue_token(player_id=ada.pk, scopes=["play"])
    start = now_ms()
    note_use(selectors.authenticate(secret), now=start)
    token.refresh_from_db()
    assert token.last_used_at == to_datetime(start)
    used = selectors.authenticate(secret)
    with django_assert_num_queries(0):
        note_use(used, now=start + USE_GRANULARITY_MS - 1)
    note_use(used, now=start + USE_GRANULARITY_MS)
    token.refresh_from_db()
    assert from_datetime(token.last_used_at) == start + USE_GRANULARITY_MS


def test_a_missing_scope_is_named(ada: Player) -> None:
    _, secret = issue_token(player_id=ada.pk, scopes=["play"])
    caller = selectors.authenticate(secret)
    caller.require("play")
    with pytest.raises(MissingScopeError) as refused:
        caller.require("bot")
    assert refused.value.problem()["scope"] == "bot"


def test_expiry_is_exact(ada: Player) -> None:
    token, secret = issue_token(player_id=ada.pk, scopes=["play"], expires_at=now_ms() + 60_000)
    assert selectors.authenticate(secret).token_id == token.pk
    AccessToken.objects.update(expires_at=to_datetime(now_ms()) - timedelta(milliseconds=1))
    with pytest.raises(InvalidTokenError):
        selectors.authenticate(secret)

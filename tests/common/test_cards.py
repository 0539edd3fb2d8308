"""Cards: shown in order to those who may see them, whatever else fails; and heartbeats, which some of them show."""

import threading
import time

import pytest
import redis
from django.db import connection
from django.utils.safestring import SafeString

from accounts.presence import LEASE_MS, Presence
from accounts.services.people import create_player
from common import heartbeat
from common.cards import Card, Page, bars
from config.cards import Workers

NOW = 1_800_000_000_000


@pytest.mark.django_db
def test_a_card_that_fails_says_so_and_the_others_stand() -> None:
    page = Page()

    @page.card("Redis is away", order=2, permission="accounts.view_player")
    def _away(now: int) -> Card:
        raise redis.ConnectionError("refused")

    @page.card("A query fails", order=3, permission="accounts.view_player")
    def _query(now: int) -> Card:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 / 0")
        return Card()

    @page.card("A fault of ours", order=4, permission="accounts.view_player")
    def _fault(now: int) -> Card:
        raise KeyError("secret")

    @page.card("Well", order=1, permission="accounts.view_player")
    def _well(now: int) -> Card:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        return Card(figures=[("now", now)])

    @page.card("Last", order=5, permission="accounts.view_player")
    def _last(now: int) -> Card:
        return _well(now)

    shown = page.show(create_player(name="Boss", staff=True), NOW)
    assert [each.title for each in shown] == [
        *("Well", "Redis is away", "A query fails", "A fault of ours", "Last")
    ]
    assert [each.card.alarm for each in shown] == [False, True, True, True, False]
    assert "Redis does not answer" in shown[1].card.note
    assert "division by zero" in shown[2].card.note
    assert "secret" not in shown[3].card.note
    assert shown[4].card.figures == [("now", NOW)]
    assert page.show(create_player(name="Ada"), NOW) == []


def test_bars_are_as_tall_as_their_values_and_escape_their_label() -> None:
    picture = bars([0, 5, 10], label="<games>", height=40)
    assert isinstance(picture, SafeString)
    assert 'y="40.0" width="4" height="0.0"' in picture
    assert 'y="20.0" width="4" height="20.0"' in picture
    assert 'y="0.0" width="4" height="40.0"' in picture
    assert "<games>" not in picture
    assert "at most 10" in picture
    assert 'height="0.0"' in bars([0, 0], label="none")


def test_who_says_that_it_lives_is_listed_for_a_minute(
    redis: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    redis.delete(heartbeat.KEY)
    monkeypatch.setattr(heartbeat, "_said", float("-inf"))
    monkeypatch.setattr(heartbeat, "now_ms", lambda: NOW)
    heartbeat.beat("sweeper")
    monkeypatch.setattr(heartbeat, "now_ms", lambda: NOW + 1)
    heartbeat.beat("sweeper")  # too soon after the other: not said again
    assert heartbeat.alive(NOW + 500) == {"sweeper": [500]}
    assert heartbeat.alive(NOW + heartbeat.FORGOTTEN_MS + 1) == {}


def test_web_processes_are_known_with_their_players_while_their_lease_lasts(
    redis: redis.Redis,
) -> None:
    store = Presence(redis)
    store.enter("one", [1, 2], now=NOW)
    store.enter("two", [2], now=NOW + 1_000)
    assert store.processes(NOW + 1_000) == {"one": 2, "two": 1}
    assert store.processes_of(2, NOW + 1_000) == ["one", "two"]
    assert store.processes(NOW + LEASE_MS + 1) == {"two": 1}
    assert store.processes_of(2, NOW + LEASE_MS + 1) == ["two"]
    assert store.processes_of(3, NOW) == []


def test_nobody_waits_for_workers_to_answer() -> None:
    asked, may_answer = threading.Event(), threading.Event()

    class Slow(Workers):
        def ask(self) -> None:
            asked.set()
            may_answer.wait(30)
            with self._lock:
                self._names, self._heard = ["bots@one"], time.monotonic()

    workers = Slow()
    assert workers.known()[0] is None
    assert asked.wait(30)
    assert workers.known()[0] is None
    may_answer.set()
    deadline = time.monotonic() + 30
    while workers.known()[0] is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert workers.known()[0] == ["bots@one"]

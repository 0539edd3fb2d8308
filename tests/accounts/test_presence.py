"""Presence: live connections only, with a short grace, whatever dies."""

from collections.abc import Iterator
from typing import Any

import pytest
from redis import Redis

from accounts.presence import CHUNK, GRACE_MS, LEASE_MS, Presence, presence
from accounts.services.presence import attend
from accounts.signals import presence_changed

NOW = 1_800_000_000_000
ADA, BOB, EVE = 7, 8, 9


@pytest.fixture
def store(redis: Redis) -> Presence:
    return Presence(redis)


@pytest.fixture
def told() -> Iterator[list[str]]:
    """What the signal has said: `+7` for player 7 who came online, `-7` for one who went offline."""
    heard: list[str] = []

    def hear(online: tuple[int, ...], offline: tuple[int, ...], **_: Any) -> None:
        heard.extend([f"+{player}" for player in online] + [f"-{player}" for player in offline])

    presence_changed.connect(hear)
    presence.cache_clear()
    yield heard
    presence_changed.disconnect(hear)
    presence.cache_clear()


class Process:
    """A web process, as it speaks to the store."""

    def __init__(self, name: str) -> None:
        self.name, self.told = name, frozenset[int]()

    def says(self, *players: int, now: int) -> None:
        attend(process=self.name, before=self.told, players=frozenset(players), now=now)
        self.told = frozenset(players)


def test_whoever_connects_is_online_and_told_once(store: Presence, told: list[str]) -> None:
    one = Process("one")
    for moment in range(3):
        one.says(ADA, BOB, now=NOW + moment)
    assert store.online([ADA, BOB, EVE], NOW + 3) == {ADA, BOB}
    assert store.away_since([ADA, BOB, EVE], NOW + 3) == {EVE: 0}
    assert told == ["+7", "+8"]


def test_two_devices_at_two_processes_one_closes(store: Presence, told: list[str]) -> None:
    one, two = Process("one"), Process("two")
    one.says(ADA, now=NOW)
    two.says(ADA, now=NOW)
    one.says(now=NOW + 1)
    for later in range(0, 3 * GRACE_MS, 2_000):
        one.says(now=NOW + later)
        two.says(ADA, now=NOW + later)
        assert store.online([ADA], NOW + later) == {ADA}
        assert store.away_since([ADA], NOW + later) == {}
    assert told == ["+7"]


def test_the_last_connection_ends_and_the_grace_after_it(store: Presence, told: list[str]) -> None:
    one = Process("one")
    one.says(ADA, now=NOW)
    one.says(now=NOW + 100)
    assert store.away_since([ADA], NOW + 101) == {ADA: NOW + 100}
    one.says(now=NOW + 99 + GRACE_MS)
    assert store.online([ADA], NOW + 99 + GRACE_MS) == {ADA}
    assert told == ["+7"]
    one.says(now=NOW + 100 + GRACE_MS)
    assert store.online([ADA], NOW + 100 + GRACE_MS) == frozenset()
    assert told == ["+7", "-7"]
    assert store.away_since([ADA], NOW + 10**8) == {ADA: NOW + 100}


def test_a_flapping_line_is_no_news(store: Presence, told: list[str]) -> None:
    one, two = Process("one"), Process("two")
    moment = NOW
    for _ in range(20):
        for process in (one, two):
            process.says(ADA, now=moment)
            moment += 500
            process.says(now=moment)
            moment += GRACE_MS - 1
            assert store.online([ADA], moment) == {ADA}
    assert told == ["+7"]
    one.says(now=moment + 1)
    assert told == ["+7", "-7"]


def test_a_crashed_process_takes_its_players_along_when_its_lease_ends(
    store: Presence, told: list[str]
) -> None:
    one, two = Process("one"), Process("two")
    one.says(ADA, BOB, now=NOW)
    two.says(BOB, EVE, now=NOW)
    for later in range(0, LEASE_MS + GRACE_MS, 1_000):  # `one` says nothing any more
        two.says(BOB, EVE, now=NOW + later)
        assert store.online([ADA, BOB, EVE], NOW + later) == {ADA, BOB, EVE}
    ended = NOW + LEASE_MS
    two.says(BOB, EVE, now=ended + GRACE_MS)
    assert store.online([ADA, BOB, EVE], ended + GRACE_MS) == {BOB, EVE}
    assert store.away_since([ADA, BOB], ended + GRACE_MS) == {ADA: ended}
    assert sorted(told) == ["+7", "+8", "+9", "-7"]


def test_all_processes_crash_and_nobody_is_online(store: Presence) -> None:
    for name in ("one", "two"):
        Process(name).says(ADA, now=NOW)
    # Nobody has swept: the leases are looked at all the same.
    assert store.online([ADA], NOW + LEASE_MS + GRACE_MS - 1) == {ADA}
    assert store.online([ADA], NOW + LEASE_MS + GRACE_MS) == frozenset()
    assert store.away_since([ADA], NOW + LEASE_MS) == {ADA: NOW + LEASE_MS}


def test_a_crash_while_the_other_device_is_there(store: Presence, told: list[str]) -> None:
    one, two = Process("one"), Process("two")
    one.says(ADA, now=NOW)
    two.says(ADA, now=NOW)
    two.says(ADA, now=NOW + LEASE_MS)
    two.says(ADA, now=NOW + LEASE_MS + GRACE_MS)
    assert store.online([ADA], NOW + LEASE_MS + GRACE_MS) == {ADA}
    assert told == ["+7"]


def test_a_process_that_was_only_slow_comes_back(store: Presence, told: list[str]) -> None:
    one, two = Process("one"), Process("two")
    one.says(ADA, BOB, now=NOW)
    two.says(now=NOW + LEASE_MS + GRACE_MS)
    assert sorted(told) == ["+7", "+8", "-7", "-8"]
    one.says(ADA, BOB, now=NOW + LEASE_MS + GRACE_MS + 1)
    assert store.online([ADA, BOB], NOW + LEASE_MS + GRACE_MS + 1) == {ADA, BOB}
    assert sorted(told[4:]) == ["+7", "+8"]


def test_a_redis_that_forgets_is_told_again(store: Presence, told: list[str], redis: Redis) -> None:
    one = Process("one")
    one.says(ADA, BOB, now=NOW)
    redis.flushall()
    assert store.online([ADA], NOW + 1) == frozenset()
    one.says(ADA, BOB, now=NOW + 2)
    assert store.online([ADA, BOB], NOW + 2) == {ADA, BOB}
    assert store.held("one") == {ADA, BOB}


def test_a_word_that_was_heard_though_its_answer_was_lost_is_put_right(store: Presence) -> None:
    one = Process("one")
    store.enter("one", [ADA, BOB], now=NOW)  # and Bob left before it could be said again
    one.says(ADA, EVE, now=NOW + 1)
    assert store.held("one") == {ADA, EVE}


def test_thousands_of_players_of_a_crashed_process_are_told_once_each(
    store: Presence, told: list[str]
) -> None:
    crowd = range(1, 2 * CHUNK + 500)
    Process("one").says(*crowd, now=NOW)
    assert len(told) == len(crowd)
    del told[:]
    late = NOW + LEASE_MS + GRACE_MS
    two = Process("two")
    two.says(ADA, now=late)
    two.says(ADA, now=late)
    assert sorted(told) == sorted(f"-{player}" for player in crowd if player != ADA)
    assert store.online(crowd, late) == {ADA}
    assert len(store.away_since(crowd, late)) == len(crowd) - 1

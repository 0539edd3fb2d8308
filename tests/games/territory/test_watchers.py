"""How many look on: counts of several processes, added up while their leases last."""

import pytest
import redis as redis_py

from common import states
from common.clock import now_ms
from games.territory.watchers import LEASE_MS, report, watchers

GAME, OTHER = "Game00000001", "Game00000002"
NOW = 1_800_000_000_000


def counts(now: int) -> list[int]:
    found = watchers([GAME, OTHER], now=now)
    return [found[GAME], found[OTHER]]


def test_the_counts_of_processes_add_up(redis: "redis_py.Redis") -> None:
    assert counts(NOW) == [0, 0]
    report("one", {GAME: 3, OTHER: 1}, now=NOW)
    report("two", {GAME: 4}, now=NOW)
    assert counts(NOW) == [7, 1]
    report("two", {GAME: 2}, now=NOW)
    assert counts(NOW) == [5, 1]
    report("one", {GAME: 0, OTHER: 0}, now=NOW)
    assert counts(NOW) == [2, 0]
    report("two", {}, now=NOW)
    assert watchers([], now=NOW) == {}


def test_the_count_of_a_process_that_died_goes(redis: "redis_py.Redis") -> None:
    report("dead", {GAME: 3}, now=NOW)
    report("alive", {GAME: 2}, now=NOW + LEASE_MS - 1)
    assert counts(NOW + LEASE_MS - 1) == [5, 0]
    assert counts(NOW + LEASE_MS) == [2, 0]


def test_nothing_stays_in_redis(redis: "redis_py.Redis") -> None:
    report("one", {GAME: 3}, now=NOW)
    (key,) = redis.keys("*")
    assert 0 < redis.pttl(key) <= LEASE_MS
    report("one", {GAME: 0}, now=NOW)
    assert redis.keys("*") == []


@pytest.mark.django_db
def test_the_state_stream(redis: "redis_py.Redis") -> None:
    report("one", {GAME: 3}, now=now_ms())
    found = states.read([f"watchers:{GAME}", f"watchers:{OTHER}"])
    assert found[f"watchers:{GAME}"].text == b'{"game":"Game00000001","count":3}'
    assert found[f"watchers:{OTHER}"].text == b'{"game":"Game00000002","count":0}'

"""Limits: exact in what they let through, and right in when to come back."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis as redis_py
from redis.backoff import NoBackoff
from redis.retry import Retry

from common import limits
from common.limits import Limit, address_group, headers_of, take, take_all


def test_a_burst_and_then_one_by_one(redis: redis_py.Redis) -> None:
    limit = Limit("test", burst=3, interval_ms=60_000)
    assert [take(limit, "ada") for _ in range(3)] == [0, 0, 0]
    wait = take(limit, "ada")
    assert 59_000 < wait <= 60_000
    assert take(limit, "ada") <= wait, "a refusal costs nothing"
    assert take(limit, "ben") == 0
    assert take(Limit("other", 1, 60_000), "ada") == 0


def test_after_the_wait_it_is_free(redis: redis_py.Redis) -> None:
    limit = Limit("test", burst=1, interval_ms=1_000)
    while not (wait := take(limit, "ada")):  # twice, unless this machine is very busy
        pass
    time.sleep(wait / 1000)
    assert take(limit, "ada") == 0


def test_what_was_taken_is_forgotten(redis: redis_py.Redis) -> None:
    take(Limit("test", burst=5, interval_ms=60_000), "ada")
    (key,) = redis.keys("kado:limit:*")
    assert 0 < redis.pttl(key) <= 60_000


def test_many_at_once_get_no_more_than_the_burst(redis: redis_py.Redis) -> None:
    limit = Limit("test", burst=7, interval_ms=600_000)
    with ThreadPoolExecutor(20) as pool:
        waits = list(pool.map(lambda _: take(limit, "ada"), range(60)))
    assert waits.count(0) == 7


def test_several_limits_are_taken_from_together_or_not_at_all(redis: redis_py.Redis) -> None:
    wide, narrow = Limit("wide", burst=5, interval_ms=60_000), Limit("narrow", 2, 60_000)
    for left in (4, 3):
        taken = take_all([(wide, "ada"), (narrow, "ada")])
        assert [each.wait_ms for each in taken] == [0, 0]
        assert taken[0].remaining == left
    refused = take_all([(wide, "ada"), (narrow, "ada")])
    assert refused[0].wait_ms == 0 < refused[1].wait_ms
    assert (refused[0].remaining, refused[1].remaining) == (3, 0), "nothing was taken"
    assert take(wide, "ada") == 0


def test_headers_say_what_is_left(redis: redis_py.Redis) -> None:
    one, two = Limit("one", burst=3, interval_ms=1_500), Limit("two", 100, 10)
    headers = headers_of(take_all([(one, "ada"), (two, "ada")]))
    assert headers == {
        "RateLimit-Policy": '"one";q=3;w=5, "two";q=100;w=1',
        "RateLimit": '"one";r=2;t=2, "two";r=99;t=1',
    }
    assert headers_of([]) == {}


def test_without_redis_nobody_is_locked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = redis_py.Redis(port=1, retry=Retry(NoBackoff(), 0))
    monkeypatch.setattr(limits, "tasks_client", lambda: nowhere)
    assert take(Limit("test", burst=1, interval_ms=60_000), "ada") == 0
    assert take(Limit("test", burst=1, interval_ms=60_000), "ada") == 0


@pytest.mark.parametrize(
    ("address", "group"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("", ""),
        ("x" * 99, "x" * 64),
    ],
)
def test_whose_an_address_is(address: str, group: str) -> None:
    assert address_group(address) == group

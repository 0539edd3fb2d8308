"""The classes of waiting tasks, and the memory of attempts that never ended, in a real Valkey."""

import itertools
import time
from contextlib import suppress
from typing import Any

import pytest
import redis as redis_py
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from bots import guard
from bots.queue import HINT_LINE, LAST, MOVE_LINE, Line

MINUTE = 60_000
ADA, BEN = 1, 2


def test_moves_come_before_hints_before_anything_else() -> None:
    assert MOVE_LINE.first + 3 <= HINT_LINE.first
    assert HINT_LINE.first + 3 <= LAST <= 9


@pytest.mark.parametrize("line", [MOVE_LINE, HINT_LINE])
def test_the_first_of_everybody_then_the_further_ones(redis: Redis, line: Line) -> None:
    places = [line.join([ADA], f"game {number}", ms=MINUTE) - line.first for number in range(8)]
    assert places == [0, 1, 1, 1, 2, 2, 2, 2]
    assert line.join([BEN], "another", ms=MINUTE) == line.first
    for number in range(7):
        line.leave([ADA], f"game {number}")
    assert line.join([ADA], "game 0", ms=MINUTE) == line.first + 1
    line.leave([ADA], "game 0")
    line.leave([ADA], "game 7")
    assert line.join([ADA], "game 0", ms=MINUTE) == line.first


def test_a_game_that_waits_already_is_counted_once(redis: Redis) -> None:
    for _ in range(10):
        assert MOVE_LINE.join([ADA], "game", ms=MINUTE) == 0
    assert MOVE_LINE.join([ADA], "other", ms=MINUTE) == 1


def test_lines_do_not_mix(redis: Redis) -> None:
    for number in range(5):
        MOVE_LINE.join([ADA], f"game {number}", ms=MINUTE)
    assert HINT_LINE.join([ADA], "game 0", ms=MINUTE) == HINT_LINE.first


def test_who_plays_with_others_has_the_place_of_the_one_who_waits_for_least(redis: Redis) -> None:
    for number in range(5):
        MOVE_LINE.join([ADA], f"game {number}", ms=MINUTE)
    assert MOVE_LINE.join([ADA, BEN], "together", ms=MINUTE) == 0
    assert MOVE_LINE.join([ADA, BEN], "again", ms=MINUTE) == 1
    assert MOVE_LINE.join([], "nobody's", ms=MINUTE) == 0


def test_what_has_expired_does_not_count(redis: Redis) -> None:
    """A task that nobody takes is dropped by its worker when it expires; so is its place."""
    for number in range(5):
        MOVE_LINE.join([ADA], f"game {number}", ms=1)
    time.sleep(0.05)
    assert MOVE_LINE.join([ADA], "game 9", ms=MINUTE) == 0
    assert redis.zcard(f"bots:waiting:moves:{ADA}") == 1
    ttl: Any = redis.pttl(f"bots:waiting:moves:{ADA}")
    assert 0 < ttl <= MINUTE


# Attempts


class Died(BaseException):
    """What stands here for the end of a process: the block is not left in order."""


def die(what: str, note: str) -> list[str]:
    """An attempt that never ends; what it was told of those before it."""
    told: list[str] = []
    with suppress(Died), guard.attempt(what, note) as fatal:
        told += fatal
        raise Died
    return told


@pytest.fixture
def each_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every attempt begins as long after the one before as a dead process's task is given out again, or longer."""
    instants = itertools.count(1_000_000, guard.UNDER_WAY_MS)
    monkeypatch.setattr(guard, "now_ms", lambda: next(instants))


@pytest.mark.usefixtures("each_later")
def test_attempts_that_never_end_are_remembered(redis: Redis) -> None:
    assert die("a search", "seed 0") == []
    assert die("a search", "seed 1") == ["seed 0"]
    for _ in range(3):  # it is known now, and stays so
        with guard.attempt("a search", "a third seed") as fatal:
            assert fatal == ["seed 0", "seed 1"]
            assert len(fatal) >= guard.FATAL
    ttl: Any = redis.ttl("bots:attempts:a search")
    assert 0 < ttl <= guard.KEPT_SECONDS


@pytest.mark.usefixtures("each_later")
def test_an_attempt_that_ends_clears_those_before_it(redis: Redis) -> None:
    for _ in range(4):
        die("x", "bad")
        with guard.attempt("x", "good") as fatal:
            assert fatal == ["bad"]
    with guard.attempt("y", "") as fatal:
        assert fatal == []


def test_attempts_at_the_same_instant_do_not_count(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task that was delivered several times at once kills nobody by that."""
    monkeypatch.setattr(guard, "now_ms", lambda: 1_000_000)
    assert [die("x", str(number)) for number in range(4)] == [[]] * 4
    monkeypatch.setattr(guard, "now_ms", lambda: 1_000_000 + guard.UNDER_WAY_MS)
    with guard.attempt("x", "later") as fatal:
        assert fatal == ["0", "1", "2", "3"]


def test_without_redis_there_were_no_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = redis_py.Redis(port=1, retry=Retry(NoBackoff(), 0))
    monkeypatch.setattr(guard, "tasks_client", lambda: nowhere)
    for _ in range(4):
        with guard.attempt("x", "") as fatal:
            assert fatal == []

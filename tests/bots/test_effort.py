"""When many moves wait, searches are shortened, and the log says so."""

from typing import Any

import pytest
import redis as redis_py
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from accounts.services.people import cpu_player
from bots import queue, tasks
from bots.queue import MOVE_LINE
from config.celery import app
from games.territory import selectors
from games.territory.rules import Move, Position
from tests.games.territory.support import NO_CLOCK
from tests.games.territory.tables import registered, started


@pytest.mark.parametrize(
    ("waiting", "effort"), [(0, 1.0), (1, 1.0), (4, 1.0), (5, 0.8), (40, 0.1), (1_000, 0.05)]
)
def test_the_more_wait_the_less_each_gets(waiting: int, effort: float) -> None:
    assert tasks.effort_for(waiting) == effort


def test_what_waits_is_counted_in_the_queue_itself(redis: Redis) -> None:
    assert queue.waiting(up_to=9) == 0
    for priority, count in enumerate((7, 4, 2, 1)):
        for number in range(count):
            app.send_task("x", args=[number], queue="bots", priority=priority)
    assert [queue.waiting(up_to=priority) for priority in range(5)] == [7, 11, 13, 14, 14]


def test_without_redis_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = redis_py.Redis(port=1, retry=Retry(NoBackoff(), 0))
    monkeypatch.setattr(queue, "tasks_client", lambda: nowhere)
    assert queue.waiting(up_to=9) == 0
    MOVE_LINE.leave([1], "x")


@pytest.mark.django_db(transaction=True)
def test_a_move_is_searched_with_what_is_left(
    redis: Redis, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    efforts: list[float] = []

    def noting(level: str, position: Position, random: Any, effort: float) -> Move:
        efforts.append(effort)
        return next(iter(position.legal()))

    monkeypatch.setattr(tasks, "choose", noting)
    (person,) = registered(1)
    players = [cpu_player("starter").pk, person]
    for waiting in (0, 8):
        redis.flushall()
        for number in range(waiting):
            app.send_task("bots.choose_move", args=["x", number], queue="bots")
        game = started(
            players, control=NO_CLOCK, rated=False, matched=False, levels=["starter", ""]
        )
        caplog.clear()
        tasks.choose_move(game, 1)
        assert selectors.load_state(game).ply == 1
        assert ("budget_lowered" in caplog.text) == (waiting > 0)
    # The game that began queued its own task as well.
    assert efforts == [1.0, tasks.effort_for(9)]

"""How the queue of the bots is shared: whose task comes next. Why so: docs/adr/0017-fair-queue.md.

Moves come before hints, and hints before anything else. Within either, a player's first waiting task comes before
everybody's further ones: who has two hundred games waits for them, and nobody else does. A task's place is its
priority, of Celery on Redis: a list for each, which workers empty in this order.

Who waits for what is known from a sorted set for each player, its members gone when the task is taken or expires. If
Redis loses it, everybody is first again.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import redis
from celery import current_app

from common.clock import now_ms
from common.redis import tasks_client

QUEUE: Final = "bots"
SEVERAL: Final = (1, 4)
"""So many tasks of a player wait already where the second class begins, and the third."""
LAST: Final = 9
"""The priority of whatever is neither a move nor a hint."""
_SEPARATOR: Final = "\x06\x16"  # kombu's, between a queue's name and a priority other than 0


@dataclass(frozen=True, slots=True)
class Line:
    """Tasks of one kind. Those of one class are taken in the order in which they came."""

    name: str
    first: int
    """The priority of its first class; each further class has the next one."""

    def join(self, player_ids: Sequence[int], item: str, *, ms: int) -> int:
        """Note that something waits for these players, for so long at most; its priority.

        Who waits with others has the place of the one who waits for least. An item that waits already is not counted
        twice. Raises `redis.RedisError`.
        """
        now = now_ms()
        with tasks_client().pipeline() as pipe:
            for player_id in player_ids:
                key = self._key(player_id)
                pipe.zremrangebyscore(key, "-inf", now)
                pipe.zadd(key, {item: now + ms})
                pipe.zcard(key)
                pipe.pexpire(key, ms)
            others = [int(count) - 1 for count in pipe.execute()[2::4]]
        return self.first + sum(min(others, default=0) >= limit for limit in SEVERAL)

    def send(
        self, task: str, args: Sequence[object], player_ids: Sequence[int], item: str, *, ms: int
    ) -> None:
        """Queue a task at the place that `join` gives, by name, so that no web process imports an engine.

        It expires when the item does. Raises whatever Redis and Celery's transport raise.
        """
        priority = self.join(player_ids, item, ms=ms)
        current_app.send_task(
            task, args=list(args), queue=QUEUE, priority=priority, expires=ms / 1000
        )

    def leave(self, player_ids: Sequence[int], item: str) -> None:
        """Note that a worker has taken it. If Redis cannot be told, it is forgotten in time."""
        with suppress(redis.RedisError), tasks_client().pipeline() as pipe:
            for player_id in player_ids:
                pipe.zrem(self._key(player_id), item)
            pipe.execute()

    def _key(self, player_id: int) -> str:
        return f"bots:waiting:{self.name}:{player_id}"


MOVE_LINE: Final = Line("moves", first=0)
HINT_LINE: Final = Line("hints", first=3)


def waiting(up_to: int) -> int:
    """How many tasks wait in the lists of this priority and those before it; 0 if Redis does not say."""
    try:
        with tasks_client().pipeline(transaction=False) as pipe:
            for priority in range(up_to + 1):
                pipe.llen(list_of(priority))
            return sum(map(int, pipe.execute()))
    except redis.RedisError:
        return 0


def list_of(priority: int) -> str:
    """The Redis list of a priority."""
    return f"{QUEUE}{_SEPARATOR}{priority}" if priority else QUEUE

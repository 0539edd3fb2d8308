"""Tasks that kill their worker: how often one was begun and never ended.

A task is delivered again when its worker process dies, which is right if a machine failed, and would go on for ever if
what the task looks at is what kills.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, cast

import redis

from common.clock import now_ms
from common.redis import tasks_client

FATAL: Final = 2
"""After so many attempts that never ended, a task does something else."""
KEPT_SECONDS: Final = 3600
"""How long an attempt is remembered after the latest one."""
UNDER_WAY_MS: Final = 1000
"""An attempt that began so lately may be under way elsewhere: a task of a dead process is given out again later."""


@contextmanager
def attempt(what: str, note: str) -> Iterator[list[str]]:
    """One attempt at a task that may kill this process. Gives the notes of the earlier ones that never ended.

    ``what`` tells the task from all others; ``note`` is what repeats the attempt, such as a seed. An attempt has ended
    when the block is left without an exception; then all of them are forgotten, unless they are `FATAL` already. If
    Redis is away, there were none. Those that may still be under way do not count.

        with guard.attempt(f"analysis {game_id}", note="") as fatal:
            if len(fatal) >= guard.FATAL:
                ...  # what does not kill
    """
    key, now = f"bots:attempts:{what}", now_ms()
    raw = cast("Any", tasks_client())  # its stubs know no answers in bytes only
    earlier: list[str] = []
    with suppress(redis.RedisError):
        began = [each.decode().partition(" ") for each in raw.lrange(key, 0, -1)]
        earlier = [text for at, _, text in began if int(at) <= now - UNDER_WAY_MS]
        with raw.pipeline() as pipe:
            if len(earlier) < FATAL:
                pipe.rpush(key, f"{now} {note}")
            pipe.expire(key, KEPT_SECONDS)
            pipe.execute()
    yield earlier
    if len(earlier) < FATAL:
        with suppress(redis.RedisError):
            raw.delete(key)

"""Which background processes are alive, for operators to see: each says so in Redis every few seconds."""

import os
import socket
import time
from typing import Final, cast

import structlog
from redis.exceptions import RedisError

from common.clock import now_ms
from common.redis import client

log = structlog.get_logger(__name__)

KEY: Final = "kado:alive"
EVERY_SECONDS: Final = 2.0
FORGOTTEN_MS: Final = 60_000
"""After so long a process that says nothing is no longer listed."""

_said = float("-inf")


def beat(kind: str) -> None:
    """This process, of this kind (`sweeper`, `wave`), has done a round. Cheap to call, and never fails."""
    global _said
    if time.monotonic() - _said < EVERY_SECONDS:
        return
    _said = time.monotonic()
    now = now_ms()
    try:
        with client().pipeline(transaction=False) as pipe:
            pipe.zadd(KEY, {f"{kind} {socket.gethostname()} {os.getpid()}": now})
            pipe.zremrangebyscore(KEY, "-inf", now - FORGOTTEN_MS)
            pipe.execute()
    except RedisError as error:
        log.warning("heartbeat not heard", kind=kind, error=str(error))


def alive(now: int) -> dict[str, list[int]]:
    """For each kind how long ago (milliseconds) each of its processes was heard; the latest first."""
    heard = cast(
        "list[tuple[bytes, float]]",
        client().zrangebyscore(KEY, now - FORGOTTEN_MS, "+inf", withscores=True),
    )
    found: dict[str, list[int]] = {}
    for name, at in heard:
        found.setdefault(name.decode().partition(" ")[0], []).append(max(0, now - int(at)))
    return {kind: sorted(ages) for kind, ages in found.items()}

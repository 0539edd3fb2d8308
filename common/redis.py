"""The process's one synchronous Redis client. Redis is the fast lane: all of it may vanish at any time."""

from functools import cache
from typing import TYPE_CHECKING

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

if TYPE_CHECKING:
    from redis import Redis


@cache
def client() -> "Redis":
    """The shared client with its connection pool; answers are bytes. A command is tried twice, for two seconds each."""
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=2,
        socket_connect_timeout=2,
        retry=Retry(NoBackoff(), retries=1),  # for a connection that was cut meanwhile
    )

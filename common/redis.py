"""The process's synchronous Redis clients. Redis is the fast lane: all of it may vanish at any time."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, TypeVar

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


T = TypeVar("T")


def by_client(items: Iterable[T], *, stream: Callable[[T], str]) -> list[tuple["Redis", list[T]]]:
    """The items grouped by the Redis that has the stream of each."""
    found = list(items)
    return [(client(), found)] if found else []

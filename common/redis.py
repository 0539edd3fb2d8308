"""The process's synchronous Redis clients. Redis is the fast lane: all of it may vanish at any time.

There are two roles, which may be different servers. What is live (news, state streams, tickets, who looks on) is on the
first, which may be several: each stream has its place on one of them. Tasks and limits are on the second.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry
from redis.sentinel import Sentinel

from common.addresses import Address
from common.shards import place

if TYPE_CHECKING:
    from redis import Redis

TIMEOUT_SECONDS = 2.0

T = TypeVar("T")


@cache
def connect(address: Address) -> "Redis":
    """A client with its connection pool; answers are bytes. A command is tried twice, for two seconds each.

    Behind Sentinels every new connection asks them who the master is.
    """
    timeouts: dict[str, Any] = {
        "socket_timeout": TIMEOUT_SECONDS,
        "socket_connect_timeout": TIMEOUT_SECONDS,
        "retry": Retry(NoBackoff(), retries=1),  # for a connection that was cut meanwhile
    }
    if not address.sentinels:
        return redis.Redis.from_url(address.url, **timeouts)
    sentinels = Sentinel(  # type: ignore[no-untyped-call]
        list(address.sentinels), sentinel_kwargs={**timeouts, **address.sentinel_options}
    )
    master: Redis = sentinels.master_for(  # type: ignore[no-untyped-call]
        address.service, **timeouts, **address.credentials
    )
    return master


def client() -> "Redis":
    """The Redis that has the tickets: the first live one."""
    return connect(settings.LIVE_REDIS[0])


def tasks_client() -> "Redis":
    """The Redis of the tasks, and of what is counted against limits."""
    return connect(settings.TASKS_REDIS)


def by_client(items: Iterable[T], *, stream: Callable[[T], str]) -> list[tuple["Redis", list[T]]]:
    """The items grouped by the Redis that has the stream of each."""
    addresses = {address.name: address for address in settings.LIVE_REDIS}
    groups: dict[str, list[T]] = {}
    for item in items:
        groups.setdefault(place(stream(item), list(addresses)), []).append(item)
    return [(connect(addresses[name]), group) for name, group in groups.items()]

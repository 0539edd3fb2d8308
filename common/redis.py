"""The process's one synchronous Redis client. Redis is the fast lane: all of it may vanish at any time."""

from functools import cache
from typing import TYPE_CHECKING

import redis
from django.conf import settings

if TYPE_CHECKING:
    from redis import Redis


@cache
def client() -> "Redis":
    """The shared client with its connection pool; answers are bytes. Commands time out after two seconds."""
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2)

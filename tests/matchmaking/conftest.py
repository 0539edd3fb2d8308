"""Fixtures of the matchmaking tests."""

from collections.abc import Iterator

import pytest
from redis import Redis

from matchmaking import pools as store_module
from matchmaking import selectors
from matchmaking.pools import Pools


@pytest.fixture
def store(redis: Redis) -> Pools:
    """The store on the test run's empty Valkey."""
    redis.flushall()
    return Pools(redis)


@pytest.fixture(autouse=True)
def _read_pools_again() -> Iterator[None]:
    """No test sees the pools that another one made."""
    selectors.forget_pools()
    yield
    selectors.forget_pools()
    store_module.pools.cache_clear()

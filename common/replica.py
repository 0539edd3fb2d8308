"""Reads that may be some seconds old, from a replica of PostgreSQL where the operator has one.

A selector that allows it says so (`may_lag`): lists, leaderboards, histories. It never stands in a transaction, and
nobody uses it to see what was just written. Whether the replica is near enough is known by the positions in the
write-ahead log: it has everything up to an instant if it has replayed what the primary had written then. That needs no
clock of its own, and a replica that is cut off shows. When it lags, or fails, the primary is read instead.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

import psycopg
from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connections
from django.db.backends.utils import CursorWrapper

logger = logging.getLogger(__name__)

ALIAS = "replica"
MAX_LAG_SECONDS = 5.0
LOOK_SECONDS = 1.0
"""Between two looks at how far the replica is."""
REST_SECONDS = 5.0
"""How long a replica that has failed is left alone."""

POSITION = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"
REPLAYED = "SELECT pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')"

P = ParamSpec("P")
T = TypeVar("T")

_local = threading.local()


def alias() -> str:
    """The database that this thread reads from now."""
    return getattr(_local, "alias", "default")


def cursor() -> CursorWrapper:
    """A cursor on it."""
    return connections[alias()].cursor()


class Router:
    """Django's questions: only what `may_lag` has allowed is read from the replica, and nothing is written there."""

    def db_for_read(self, model: Any, **hints: Any) -> str:
        return alias()

    def db_for_write(self, model: Any, **hints: Any) -> str:
        return "default"

    def allow_relation(self, one: Any, other: Any, **hints: Any) -> bool:
        return True

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db != ALIAS


class Health:
    """How far the replica is, as this process knows it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._looked_at = self._rests_until = float("-inf")
        self._is_near = False
        self._marks: deque[tuple[float, int]] = deque(maxlen=32)
        self._connection: psycopg.Connection[Any] | None = None

    def is_near(self) -> bool:
        """Whether the replica can be read; looked up once a second, by one thread."""
        if self._lock.acquire(blocking=False):
            try:
                now = time.monotonic()
                if now >= self._rests_until and now - self._looked_at >= LOOK_SECONDS:
                    self._looked_at = now
                    self._look(now)
            finally:
                self._lock.release()
        return self._is_near

    def failed(self) -> None:
        """A read has failed: leave it alone for a while."""
        self._is_near = False
        self._rests_until = time.monotonic() + REST_SECONDS

    def _look(self, now: float) -> None:
        with connections["default"].cursor() as primary:
            primary.execute(POSITION)
            self._marks.append((now, int(primary.fetchone()[0])))
        try:
            replayed = self._replayed()
        except psycopg.Error as error:
            logger.warning("the replica does not answer, the primary is read: %s", error)
            with suppress(psycopg.Error):
                if self._connection:
                    self._connection.close()
            self._connection = None
            self.failed()
            return
        whole_until = max((at for at, mark in self._marks if mark <= replayed), default=None)
        was_near = self._is_near
        self._is_near = whole_until is not None and now - whole_until <= MAX_LAG_SECONDS
        if was_near and not self._is_near:
            logger.warning("the replica is more than %.0f s behind", MAX_LAG_SECONDS)

    def _replayed(self) -> int:
        """The position up to which the replica is; below all others for a server that is no replica."""
        if self._connection is None:
            self._connection = psycopg.connect(
                settings.DATABASE_REPLICA_URL, autocommit=True, connect_timeout=2
            )
        row = self._connection.execute(REPLAYED).fetchone()
        return -1 if row is None or row[0] is None else int(row[0])


@cache
def health() -> Health:
    """The process's own."""
    return Health()


def may_lag(function: Callable[P, T]) -> Callable[P, T]:
    """Let a selector read from the replica, if there is one that is near enough; else from the primary."""

    @wraps(function)
    def read(*args: P.args, **kwargs: P.kwargs) -> T:
        in_transaction = connections["default"].in_atomic_block
        if ALIAS not in settings.DATABASES or in_transaction or not health().is_near():
            return function(*args, **kwargs)
        _local.alias = ALIAS
        try:
            return function(*args, **kwargs)
        except (OperationalError, InterfaceError, psycopg.OperationalError) as error:
            logger.warning("the replica failed, the primary is read: %s", error)
            health().failed()
            with suppress(DatabaseError, psycopg.Error):
                connections[ALIAS].close()
        finally:
            del _local.alias
        return function(*args, **kwargs)

    return read

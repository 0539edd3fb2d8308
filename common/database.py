"""The two bridges between the event loop, where sockets live, and synchronous code, where the database lives.

Django has no asynchronous transactions, so a unit of work is one synchronous function on a bounded thread pool
(`in_thread`). The other way, synchronous callers (REST views, Celery tasks, commands) reach code that lives on
the loop with `wait`. See docs/adr/0004-async-boundary.md.
"""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, ParamSpec, TypeVar

import psycopg
from django.conf import settings
from django.db import OperationalError, connections

P = ParamSpec("P")
T = TypeVar("T")


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=settings.DB_THREADS, thread_name_prefix="database")


@cache
def _lane(name: str) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=4, thread_name_prefix=name)


IDLE_SECONDS = 1.0
"""A thread that was busy a moment ago keeps its connection; after this long it takes a checked one from the pool."""

_used = threading.local()


def _call(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call on this thread's connection; it goes back to the pool, which checks it, after an idle time or an error.

    That keeps the pool, and its check, off the path of threads that are busy; at rest they hold `DB_THREADS` of it.
    """
    if time.monotonic() - getattr(_used, "at", 0.0) > IDLE_SECONDS:
        connections.close_all()
    try:
        return function(*args, **kwargs)
    except (OperationalError, psycopg.OperationalError):
        drop_dead_connections()
        raise
    except BaseException:
        connections.close_all()
        raise
    finally:
        _used.at = time.monotonic()


def drop_dead_connections() -> None:
    """After a lost connection: give this thread's back and let the pool try, at once, all that lie idle.

    When PostgreSQL has restarted they are all dead, and whoever asks the pool for one meets them with growing pauses
    (1, 2, 4 … seconds) between them.
    """
    connections.close_all()
    pool = getattr(connections["default"], "pool", None)
    if pool is not None:
        with contextlib.suppress(psycopg.Error):
            pool.check()


def give_back() -> None:
    """Let the pool have this thread's connection, unless a transaction is open on it."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()


def prepared(
    statement: str, parameters: Sequence[Any], *, using: str = "default"
) -> list[tuple[Any, ...]]:
    """The rows of a statement that is run often, on this thread's connection and in its transaction.

    PostgreSQL plans it once for each connection. Django's cursors merge the parameters into the text instead, so that
    it is planned at every call, and the ORM composes the text at every call.
    """
    connections[using].ensure_connection()
    raw = connections[using].connection
    raw.prepare_threshold = 0
    with psycopg.Cursor(raw) as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetchall() if cursor.description else []


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a synchronous unit of work on the bounded pool and await its result."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_threads(), lambda: _call(function, *args, **kwargs))


def _call_and_return(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same, but the connection goes back to the pool at once."""
    try:
        return _call(function, *args, **kwargs)
    finally:
        connections.close_all()


async def aside(lane: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same on four threads that a kind of work has to itself, for work that may wait for Redis.

    A Redis that hangs would otherwise take all threads of `in_thread`, and with them the healing of every stream.
    """
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(
        _lane(lane), lambda: _call_and_return(function, *args, **kwargs)
    )


class _Home:
    """The event loop of this process: the web server's when it serves, else a private one in a daemon thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def adopt(self, loop: asyncio.AbstractEventLoop | None) -> None:
        with self._lock:
            self._loop = loop

    def loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._loop.is_closed():
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="loop", daemon=True).start()
            return self._loop


_home = _Home()
adopt_loop = _home.adopt


def wait(coroutine: Coroutine[Any, Any, T], timeout: float = 30.0) -> T:
    """Run a coroutine on the process's loop from synchronous code and return its result.

    Raises `TimeoutError` after `timeout` seconds. Never call it on the loop itself: it would wait for itself.
    Outside a transaction the caller's connection goes back to the pool meanwhile: the coroutine may need one, and
    when all are held by callers who wait, none of them goes on.
    """
    give_back()
    return asyncio.run_coroutine_threadsafe(coroutine, _home.loop()).result(timeout)

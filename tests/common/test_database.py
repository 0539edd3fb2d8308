"""The bridges between the loop and the threads: nobody waits for connections that nobody uses."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from django.conf import settings
from django.db import OperationalError, connection, connections, transaction

from common import database

pytestmark = pytest.mark.django_db(transaction=True)
POOL = settings.DATABASES["default"]["OPTIONS"]["pool"]["max_size"]


def ask(seconds: float = 0.0) -> int:
    """The server process that answers, after a while."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid() FROM pg_sleep(%s)", [seconds])
        (pid,) = cursor.fetchone()
        return int(pid)


async def burst(count: int = 20) -> None:
    """More work at once than there are threads."""
    works = [database.in_thread(ask, 0.05) for _ in range(count)]
    works += [database.aside("tasks", ask, 0.05) for _ in range(4)]
    await asyncio.gather(*works)


def test_results_and_errors_come_back() -> None:
    assert database.wait(database.in_thread(ask)) > 0
    with pytest.raises(ZeroDivisionError):
        database.wait(database.in_thread(lambda: 1 // 0))


def test_callers_that_wait_hold_no_connection() -> None:
    """Twice as many synchronous callers as connections: each has used one, and now waits for work that needs one."""

    def call(_: int) -> int:
        try:
            ask()
            return database.wait(database.in_thread(ask, 0.01))
        finally:
            connections.close_all()

    began = time.monotonic()
    with ThreadPoolExecutor(2 * POOL) as pool:
        assert all(pool.map(call, range(2 * POOL)))
    assert time.monotonic() - began < 8, "they waited for the pool's patience to end"


def test_a_caller_in_a_transaction_keeps_its_connection() -> None:
    with transaction.atomic():
        mine = ask()
        assert database.wait(database.in_thread(ask)) != mine
        assert ask() == mine


def test_after_a_burst_others_get_connections() -> None:
    """Threads that have nothing to do keep their connections; some must be left for requests."""
    database.wait(burst())
    connection.close()
    barrier = threading.Barrier(4)

    def hold(_: int) -> int:
        try:
            pid = ask()
            barrier.wait(8)
            return pid
        finally:
            connections.close_all()

    with ThreadPoolExecutor(barrier.parties) as pool:
        assert len(set(pool.map(hold, range(barrier.parties)))) == barrier.parties


def test_after_a_restart_of_the_database_one_caller_fails_and_no_more() -> None:
    """All pooled connections are dead at once: that costs one error, and no pauses."""
    database.wait(burst())
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    failures = 0
    began = time.monotonic()
    for _ in range(30):
        try:
            database.wait(database.in_thread(ask))
        except OperationalError:
            failures += 1
    assert failures <= settings.DB_THREADS
    assert time.monotonic() - began < 5


def test_a_lost_connection_is_answered_as_unavailable() -> None:
    """Prepared statements do not go through Django, and yet their errors are foreseen."""
    from config.problems import problem_of

    def ask_twice() -> None:
        database.prepared("SELECT 1", [])
        database.prepared("SELECT pg_terminate_backend(pg_backend_pid())", [])

    with pytest.raises(psycopg.OperationalError) as lost:
        database.wait(database.in_thread(ask_twice))
    assert problem_of(lost.value, "here").code == "unavailable"
    assert database.wait(database.in_thread(database.prepared, "SELECT 1", [])) == [(1,)]

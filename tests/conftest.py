"""Fixtures for all tests, on real services that are started here, before Django reads its settings."""

import os
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import django
import pytest
import redis as redis_py
from django.db import connection
from pytest_django import DjangoDbBlocker

from tests.support import services

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

services.start()
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
django.setup()
# Tests that run in parallel are run by processes that inherit this environment. With the name of the settings in it,
# pytest-django would read them there before this file has started the services of that process.
del os.environ["DJANGO_SETTINGS_MODULE"]

DATABASE_FIXTURES = {"db", "transactional_db", "live_server", "redis"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The slow ones first, so that at the end of a parallel run nobody waits for a long one that began last."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_unconfigure() -> None:
    """Stop the services, however the run went."""
    services.stop()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Before the database is dropped, the connections end that background threads (a journal's writer) keep."""
    yield
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.fixture
def redis() -> Iterator["redis_py.Redis"]:
    """A client of the test run's Valkey, which is empty when the test begins."""
    client = redis_py.Redis.from_url(services.running().redis_url)
    try:
        yield client
    finally:
        client.close()


@pytest.fixture(autouse=True)
def _empty_redis(request: pytest.FixtureRequest) -> None:
    """Nothing of one test's queues and streams reaches the next."""
    marked = request.node.get_closest_marker("django_db") is not None
    if marked or DATABASE_FIXTURES & set(request.fixturenames):
        with redis_py.Redis.from_url(services.running().redis_url) as client:
            client.flushall()


@pytest.fixture
def cluster(request: pytest.FixtureRequest) -> Iterator["Cluster"]:
    """Real processes on a scratch database and a Valkey of their own; see tests/support/cluster.py."""
    from tests.support.cluster import Cluster

    with Cluster() as processes:
        yield processes
        if (outcome := getattr(request.node, "outcome_of_call", None)) and outcome.failed:
            processes.show_logs()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let fixtures see how the test went; and in CI (`KADO_CI=1`) a test that was skipped has failed."""
    report = yield
    if report.when == "call":
        item.outcome_of_call = report  # type: ignore[attr-defined]
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("KADO_CI") == "1":
        report.outcome = "failed"
        report.longrepr = f"Skipped, and in CI nothing may be: {report.longrepr}"
    return report

"""`examples/demo.py` plays a whole game against a running service, and fails when the service does."""

import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial

import psycopg
import pytest

from config.env import PROJECT
from tests.chaos.crowd import report, started
from tests.support.cluster import Cluster
from tests.support.proc import eventually
from tests.support.process import Process

pytestmark = pytest.mark.slow
PATIENCE = 180
"""Seconds after which a demo hangs."""
FRESH_SECONDS = 1.5
"""A process knows of a changed pool within a second."""


@pytest.fixture(scope="module")
def place() -> Iterator[tuple[Cluster, Process]]:
    with Cluster() as cluster:
        web, wave, sweeper = (
            cluster.web(wait=False),
            cluster.wave(wait=False),
            cluster.sweeper(wait=False),
        )
        worker = cluster.worker("default", wait=False)
        started(web, wave, sweeper, worker)
        yield cluster, web


def demo(cluster: Cluster, web: Process) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, str(PROJECT / "examples" / "demo.py"), "--url", web.url, "--seed", "7"],
        env=cluster.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    with process:
        try:
            said, _ = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return process.returncode, said


def test_it_plays_a_whole_game(place: tuple[Cluster, Process]) -> None:
    cluster, web = place
    status, said = ended(demo(cluster, web))
    report(said)
    assert status == 0, said
    assert f"Using the service at {web.url}." in said
    assert "rating 1500? →" in said
    assert cluster.query("SELECT status, termination FROM territory_game") == [
        ("finished", "completed")
    ]
    assert cluster.query("SELECT count(*) FROM accounts_ledgerrow") == [(2,)]


def test_it_fails_where_nobody_can_be_matched(place: tuple[Cluster, Process]) -> None:
    cluster, web = place
    with psycopg.connect(cluster.database_url, autocommit=True) as connection:
        connection.execute("UPDATE matchmaking_pool SET open = false")
        time.sleep(FRESH_SECONDS)  # by then every process has looked again
        try:
            status, said = ended(demo(cluster, web))
        finally:
            connection.execute("UPDATE matchmaking_pool SET open = true")
            time.sleep(FRESH_SECONDS)
    assert status == 1
    assert "pool-closed" in said


def test_it_fails_when_the_service_dies_in_the_middle(place: tuple[Cluster, Process]) -> None:
    cluster, web = place
    status, said = ended(demo_that_loses_its_service(cluster, web))
    report(said)
    assert status == 1
    assert "demo failed" in said
    assert "Traceback" not in said


def demo_that_loses_its_service(cluster: Cluster, web: Process) -> "subprocess.Popen[str]":
    """Kill the web process in the middle of the demo's game: freeze it first, to see that the game is not over."""
    for _ in range(5):
        process = demo(cluster, web)
        assert eventually(partial(under_way, cluster, process), seconds=60)
        web.pause()
        if under_way(cluster):
            web.kill9()
            return process
        web.resume()
        ended(process)
    raise AssertionError("every game was over before its service could be killed")


def under_way(cluster: Cluster, process: "subprocess.Popen[str] | None" = None) -> bool:
    """Whether a game is being played, or its demo has ended already."""
    live = "SELECT 1 FROM territory_game WHERE status = 'started' AND version > 1"
    return bool(cluster.query(live)) or (process is not None and process.poll() is not None)

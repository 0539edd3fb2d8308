"""`manage.py wave` as a real process: it stops when asked, and may be killed at any moment."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from redis import Redis

from common.clock import now_ms
from games.territory.models import Game
from matchmaking.management.commands import wave as command
from matchmaking.pools import Pools
from matchmaking.services import waves
from matchmaking.tickets import Ticket
from tests.matchmaking.people import BLITZ, RAPID, assert_one_game_each, registered, seed, states
from tests.support.process import takes_sigterm

pytestmark = pytest.mark.django_db(transaction=True)

PROJECT = Path(__file__).resolve().parents[2]
LEASE_MS = 120_000


@pytest.fixture(autouse=True)
def _pools(store: Pools) -> None:
    seed()


@pytest.fixture
def start() -> Iterator[Callable[[], "subprocess.Popen[bytes]"]]:
    """Starts wave processes on the tests' database; they are killed at the end."""
    running: list[subprocess.Popen[bytes]] = []
    parts = connection.settings_dict
    address = f"postgresql:///{parts['NAME']}?host={parts['HOST']}&user={parts['USER']}"
    if parts["PORT"]:
        address += f"&port={parts['PORT']}"

    def begin() -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [sys.executable, "manage.py", "wave", "--interval-ms", "100"],
            cwd=PROJECT,
            env=os.environ | {"DATABASE_URL": address, "PGPASSWORD": parts["PASSWORD"]},
            stderr=subprocess.PIPE,
        )
        running.append(process)
        return process

    yield begin
    for process in running:
        process.kill()
        process.communicate()


def put(store: Pools, players: list[int], pool: str = BLITZ) -> None:
    for player in players:
        ticket = Ticket(f"t{player}", player, pool, 1500.0, 500.0, now_ms())
        store.join(ticket, lease_until=now_ms() + LEASE_MS)


def until(what: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def test_once(store: Pools) -> None:
    players = registered(4)
    put(store, players[:2])
    put(store, players[2:], RAPID)
    call_command("wave", "--once")
    assert_one_game_each(players)


def test_it_stops_when_asked(store: Pools, start: Callable[[], "subprocess.Popen[bytes]"]) -> None:
    players = registered(2)
    process = start()
    put(store, players)
    until(lambda: Game.objects.count() == 1)
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=10)
    assert process.returncode == 0
    assert b"waves end" in log


@pytest.mark.parametrize("after", [1, 7, 19])
def test_killed_and_replaced_everybody_gets_one_game_within_ten_seconds(
    store: Pools, redis: Redis, start: Callable[[], "subprocess.Popen[bytes]"], after: int
) -> None:
    players = registered(60, prefix=f"Killed{after}-")
    second = start()
    until(lambda: takes_sigterm(second))
    second.send_signal(
        signal.SIGSTOP
    )  # it stands by: how long a process takes to start is not the question
    first = start()
    put(store, players)
    until(lambda: Game.objects.count() >= after)
    first.kill()
    killed_at = time.monotonic()
    second.send_signal(signal.SIGCONT)
    until(lambda: Game.objects.count() == 30, seconds=10.0)
    until(lambda: all(states(redis, player) == [] for player in players))
    assert time.monotonic() - killed_at < 10
    assert_one_game_each(players)
    assert second.poll() is None


def backends() -> set[int]:
    """The processes of PostgreSQL that serve the tests' database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_stat_activity WHERE datname = current_database()")
        return {pid for (pid,) in cursor.fetchall()}


def test_cut_connections_are_replaced(
    store: Pools, redis: Redis, start: Callable[[], "subprocess.Popen[bytes]"]
) -> None:
    ours = backends()
    process = start()
    players = registered(6)
    for games in (1, 2, 3):
        put(store, players[2 * games - 2 : 2 * games])
        until(lambda wanted=games: Game.objects.count() == wanted)  # type: ignore[misc]
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(unnest(%s))", [list(backends() - ours)])
        redis.client_kill_filter(_type="normal", skipme=True)
    assert process.poll() is None
    assert_one_game_each(players)


def test_failures_are_waited_out(store: Pools, monkeypatch: pytest.MonkeyPatch) -> None:
    players = registered(2)
    put(store, players)
    stop = threading.Event()
    failures = iter([OperationalError("the server is starting"), ConnectionError("refused")])
    honest = command.tick

    def sometimes() -> bool:
        if error := next(failures, None):
            raise error
        honest()
        stop.set()
        return False

    monkeypatch.setattr(command, "tick", sometimes)
    command.run(stop, 0.05)
    assert_one_game_each(players)


def test_one_broken_pool_does_not_stop_the_others(
    store: Pools, monkeypatch: pytest.MonkeyPatch
) -> None:
    players = registered(2)
    put(store, players, RAPID)
    honest = waves.run_wave

    def breaking(**pool: object) -> object:
        if pool["pool"].key == BLITZ:  # type: ignore[attr-defined]
            raise RuntimeError("broken")
        return honest(**pool)  # type: ignore[arg-type]

    monkeypatch.setattr(command, "run_wave", breaking)
    command.tick()
    assert_one_game_each(players)

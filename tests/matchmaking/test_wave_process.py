"""`manage.py wave` as a real process: it stops when asked, and may be killed at any moment."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.test import Client
from redis import Redis

from accounts.services.people import create_player
from common.clock import now_ms
from games.territory.errors import EngagedError
from games.territory.models import Engagement, Game
from matchmaking.errors import AlreadyWaitingError
from matchmaking.management.commands import wave as command
from matchmaking.models import Pool
from matchmaking.pools import Pools
from matchmaking.services import waves
from matchmaking.services.tickets import join_pool
from matchmaking.tickets import Ticket
from tests.matchmaking.people import (
    BLITZ,
    CASUAL,
    FOUR,
    RAPID,
    assert_one_game_each,
    at_once,
    registered,
    seed,
    states,
)
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


@pytest.mark.parametrize(("pool", "after"), [(BLITZ, 1), (BLITZ, 19), (FOUR, 5)])
def test_killed_and_replaced_everybody_gets_one_game_within_ten_seconds(
    store: Pools,
    redis: Redis,
    start: Callable[[], "subprocess.Popen[bytes]"],
    pool: str,
    after: int,
) -> None:
    size = 4 if pool == FOUR else 2
    players = registered(60, prefix=f"Killed{size}x{after}-")
    first, second = start(), start()
    until(lambda: takes_sigterm(first) and takes_sigterm(second), seconds=60.0)
    put(store, players, pool)
    until(lambda: Game.objects.count() >= after)
    first.kill()
    killed_at = time.monotonic()
    until(lambda: Game.objects.count() == 60 // size, seconds=10.0)
    until(lambda: all(states(redis, player) == [] for player in players))
    assert time.monotonic() - killed_at < 10
    assert_one_game_each(players, size)
    assert second.poll() is None


def test_several_pools_and_several_waves_give_everybody_one_game(
    store: Pools, redis: Redis, start: Callable[[], "subprocess.Popen[bytes]"]
) -> None:
    """Two processes at three pools, while everybody tries to wait in all of them, from two devices."""
    players = registered(24, prefix="Everywhere")
    for _ in range(2):
        start()

    def work(number: int) -> None:
        keys = (BLITZ, RAPID, CASUAL)
        for player in players[number // 2 :: 2]:
            for key in keys[number % 2 :] + keys[: number % 2]:
                with suppress(EngagedError, AlreadyWaitingError):
                    join_pool(player_id=player, pool_key=key, now=now_ms())

    at_once(4, work)
    until(lambda: Engagement.objects.count() >= len(players) - 3)
    until(lambda: all(len(states(redis, player)) <= 1 for player in players))
    left = {player for player in players if states(redis, player)}
    assert len(left) <= 3, "at most one alone in each pool"
    assert_one_game_each([player for player in players if player not in left])


def test_a_pool_edited_in_the_admin_takes_effect_without_a_restart(
    store: Pools, start: Callable[[], "subprocess.Popen[bytes]"]
) -> None:
    one, two = registered(2)
    for player, mu in ((one, 1200.0), (two, 1900.0)):
        ticket = Ticket(f"t{player}", player, BLITZ, mu, 100.0, now_ms() - 3_600_000)
        store.join(ticket, lease_until=now_ms() + LEASE_MS)
    process = start()
    bystanders = registered(2, prefix="Bystander")
    put(store, bystanders, RAPID)
    until(lambda: Game.objects.count() == 1)  # a wave has gone by
    client = Client()
    client.force_login(create_player(name="Operator", staff=True, password="long enough"))
    row = Pool.objects.get(key=BLITZ)
    form = {
        "key": BLITZ, "variant": "duo", "kind": "realtime", "initial_ms": 60_000, "increment_ms": 0,
        "rated": "on", "window_limit": 800, "min_rating": "", "max_rating": "", "bots": "none", "open": "on",
    }  # fmt: skip
    assert client.post(f"/admin/matchmaking/pool/{row.pk}/change/", form).status_code == 302
    until(lambda: Game.objects.count() == 2)
    assert Game.objects.get(pool=BLITZ).initial_ms == 60_000
    assert process.poll() is None


def test_the_ticket_of_a_client_that_is_gone_ends_with_its_lease(
    store: Pools, redis: Redis, start: Callable[[], "subprocess.Popen[bytes]"]
) -> None:
    dead, alive = registered(2)
    gone = Ticket("gone", dead, BLITZ, 1500.0, 100.0, now_ms())
    store.join(gone, lease_until=now_ms() - 1)
    start()
    until(lambda: states(redis, dead) == [])
    put(store, [alive])
    bystanders = registered(2, prefix="Bystander")
    put(store, bystanders, RAPID)
    until(lambda: Game.objects.count() == 1)
    assert states(redis, alive) == [BLITZ]


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

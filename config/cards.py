"""Cards about processes and servers: workers and their queues, sweepers and waves, PostgreSQL and Redis."""

import threading
import time
from typing import Any, Final, cast

import structlog
from django.db import connection

from bots.queue import list_of
from common.cards import Card, dashboard
from common.heartbeat import alive
from common.redis import client
from config.celery import app
from games.territory.figures import events_written

log = structlog.get_logger(__name__)

DASHBOARD: Final = "accounts.view_dashboard"
PING_SECONDS: Final = 1.0
PING_EVERY: Final = 10.0
QUIET_MS: Final = 15_000
"""A sweeper or wave that says nothing for so long has stopped, or is held up."""
PRIORITIES: Final = range(10)
BOTS: Final = {0: "moves", 1: "moves", 2: "moves", 3: "hints", 4: "hints", 5: "hints"}


class Workers:
    """Which Celery workers answer. They are asked in a thread of its own, because that takes a second."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked = float("-inf")
        self._names: list[str] | None = None
        self._heard = 0.0

    def known(self) -> tuple[list[str] | None, float]:
        """Who answered last, None before the first answer, and how many seconds ago; asks anew if that is long ago."""
        with self._lock:
            if time.monotonic() - self._asked > PING_EVERY:
                self._asked = time.monotonic()
                threading.Thread(target=self.ask, name="worker-ping", daemon=True).start()
            return self._names, time.monotonic() - self._heard

    def ask(self) -> None:
        """Ask all workers, and wait for a second."""
        try:
            answers = app.control.ping(timeout=PING_SECONDS) or []
        except Exception as error:  # noqa: BLE001  # whatever Celery's transport raises
            log.warning("workers not asked", error=str(error))
            return
        with self._lock:
            self._names = sorted(name for answer in answers for name in answer)
            self._heard = time.monotonic()


workers = Workers()


@dashboard.card("Background work", order=40, permission=DASHBOARD)
def background(now: int) -> Card:
    """Celery's queues and workers, and the processes that say that they are alive."""
    names, age = workers.known()
    lengths = _lengths()
    beats = alive(now)
    rows: list[tuple[object, ...]] = [
        (f"queue {queue}", f"{length} waiting") for queue, length in lengths.items()
    ]
    for kind in sorted({"sweeper", "wave", *beats}):
        ages = beats.get(kind, [])
        said = f"{len(ages)} alive, heard {ages[0] / 1000:.0f} s ago" if ages else "none alive"
        rows.append((kind, said))
    rows += [("worker", name) for name in names or ()]
    lost = any(not beats.get(kind) or beats[kind][0] > QUIET_MS for kind in ("sweeper", "wave"))
    return Card(
        figures=[
            ("tasks waiting", sum(lengths.values())),
            ("workers", "asking …" if names is None else len(names)),
        ],
        columns=("what", "state"),
        rows=rows,
        note="" if names is None else f"Workers were asked {age:.0f} s ago.",
        alarm=lost or names == [],
    )


def _lengths() -> dict[str, int]:
    """How many tasks wait: Celery keeps a list in Redis for each queue and priority."""
    with client().pipeline(transaction=False) as pipe:
        for priority in PRIORITIES:
            pipe.llen(list_of(priority))
        pipe.llen("default")
        *bots, default = map(int, pipe.execute())
    found = {"default": default, "bots: moves": 0, "bots: hints": 0, "bots: other": 0}
    for priority, length in enumerate(bots):
        found[f"bots: {BOTS.get(priority, 'other')}"] += length
    return found


_POSTGRES = """
SELECT (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()),
    (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active'),
    current_setting('max_connections'),
    (SELECT coalesce(extract(epoch FROM max(now() - xact_start)), 0) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()),
    pg_database_size(current_database()), current_setting('server_version')
"""
LONG_TRANSACTION: Final = 60
"""Seconds. A transaction that is open for longer keeps old versions of rows from being cleared."""


@dashboard.card("PostgreSQL", order=70, permission=DASHBOARD)
def postgres(now: int) -> Card:
    """Connections, the longest transaction, size, and events of games written a second."""
    with connection.cursor() as cursor:
        cursor.execute(_POSTGRES)
        used, active, most, longest, size, version = cursor.fetchone()
    return Card(
        figures=[
            ("events of games a second", _rate(now)),
            ("connections", f"{used} of {most}"),
            ("active", active),
            ("longest transaction", f"{longest:.1f} s"),
            ("size", f"{size / 2**30:.2f} GiB"),
        ],
        note=f"Version {version}.",
        alarm=used > 0.9 * int(most) or longest > LONG_TRANSACTION,
    )


_SAMPLES: Final = "kado:dashboard:events"
_SHORTEST_MS, _LONGEST_MS = 5_000, 600_000


def _rate(now: int) -> str:
    """Between the oldest look of the last ten minutes that anybody took at the dashboard, and this one."""
    written = events_written()
    redis = client()
    with redis.pipeline() as pipe:
        pipe.zremrangebyscore(_SAMPLES, "-inf", now - _LONGEST_MS)
        pipe.zrange(_SAMPLES, 0, 0)
        pipe.zadd(_SAMPLES, {f"{now} {written}": now})
        pipe.pexpire(_SAMPLES, _LONGEST_MS)
        oldest = cast("list[bytes]", pipe.execute()[1])
    if not oldest:
        return "–"
    at, before = map(int, oldest[0].split())
    if now - at < _SHORTEST_MS or written < before:
        return "–"
    return f"{(written - before) * 1000 / (now - at):.1f}"


@dashboard.card("Redis", order=71, permission=DASHBOARD)
def redis_server(now: int) -> Card:
    """Memory, clients and commands."""
    info: dict[str, Any] = client().info()
    most = int(info.get("maxmemory", 0))
    used = int(info["used_memory"])
    return Card(
        figures=[
            ("memory", f"{used / 2**20:.0f} MiB" + (f" of {most / 2**20:.0f}" if most else "")),
            ("clients", info["connected_clients"]),
            ("commands a second", info["instantaneous_ops_per_sec"]),
            ("evicted keys", info["evicted_keys"]),
        ],
        note=f"Version {info.get('valkey_version') or info['redis_version']}, "
        f"up for {int(info['uptime_in_seconds']) // 3600} h.",
        alarm=bool(info["evicted_keys"]) or bool(most and used > 0.9 * most),
    )

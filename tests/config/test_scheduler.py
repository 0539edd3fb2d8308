"""The scheduler as real processes: two at once, killed workers, and what each thing was done how often."""

from collections import Counter
from collections.abc import Callable

import psycopg
import pytest
from django.core.management import call_command

from config.celery import app
from config.env import PROJECT
from config.schedule import SCHEDULE
from tests.support.cluster import Cluster
from tests.support.proc import eventually
from tests.support.process import Process, says, takes_sigterm

TICKING = PROJECT / "tests/support/ticking.py"


def _effects(cluster: Cluster) -> Counter[str]:
    return Counter(what for (what,) in cluster.query("SELECT what FROM effects"))


def _in_time(condition: Callable[[], object]) -> bool:
    return eventually(condition, seconds=60)


def _start(cluster: Cluster, *arguments: str, ready: Callable[[Process], bool]) -> Process:
    return cluster.run([*arguments], ready, script=TICKING)


def _worker(cluster: Cluster) -> Process:
    return _start(cluster, "worker", "--queue=default", ready=says("ready."))


def test_two_schedulers_do_each_due_thing_once_and_what_a_dead_worker_left_is_done_again(
    cluster: Cluster,
) -> None:
    with psycopg.connect(cluster.database_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE effects (what text)")
    dying = _worker(cluster)
    schedulers = [_start(cluster, "scheduler", ready=takes_sigterm) for _ in range(2)]
    redis = cluster.redis()
    assert _in_time(lambda: redis.get("nights_begun") is not None)
    dying.kill9()  # in the middle of its transaction
    assert _effects(cluster)["nightly 2026-11-30"] == 0

    _worker(cluster)
    assert _in_time(lambda: _effects(cluster)["nightly 2026-11-30"] == 1)
    assert _in_time(lambda: max(map(int, redis.hvals("ticks")), default=0) > 1)
    assert _in_time(lambda: len(_effects(cluster)) > 3)
    schedulers[0].kill9()
    before = len(_effects(cluster))
    assert _in_time(lambda: len(_effects(cluster)) > before + 1)

    assert set(_effects(cluster).values()) == {1}
    redis.close()
    assert schedulers[1].stop() == 0
    # Celery's own scheduler would have written its state into the folder that it runs in.
    assert list(PROJECT.glob("celerybeat*")) == []


def test_every_row_of_the_schedule_names_a_task_that_the_workers_know(
    capsys: pytest.CaptureFixture[str],
) -> None:
    app.loader.import_default_modules()

    assert {entry["task"] for entry in SCHEDULE.values()} <= set(app.tasks)
    call_command("scheduler", "--list")
    assert len(capsys.readouterr().out.splitlines()) == len(SCHEDULE)

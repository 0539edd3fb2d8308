"""Real processes of Kado for tests that kill, pause and restart them: several web processes, workers, waves.

A cluster has a scratch database (a copy of a migrated template, made in a moment) in the test run's PostgreSQL and a
Valkey of its own, so that Valkey can be restarted. All of it is gone when the test ends. Start processes from the
test's own thread: they die with the thread that started them.

    def test_survives(cluster):
        web = cluster.web()
        cluster.worker("bots")
        web.kill9()
        web.restart()
"""

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any, Self

import psycopg
import redis

from config.env import PROJECT
from config.postgres import Postgres
from config.processes import free_port
from config.valkey import Valkey
from tests.support import services
from tests.support.process import Process, healthy, says, takes_sigterm

LOG_LINES = 60
TEMPLATE = "kado_template"

_numbers = itertools.count(1)


class Cluster:
    """Processes around one scratch database and one Valkey; use it by the fixture `cluster`."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self.processes: list[Process] = []
        self.environ: dict[str, str] = {}

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self.folder = services.scratch_folder()
            self._postgres = _postgres()
            self.database = f"kado_cluster_{next(_numbers)}"
            template = _template()
            stack.callback(self._postgres.drop_database, self.database)
            self._postgres.create_database(self.database, template=template)
            self.valkey = Valkey(self.folder)
            stack.callback(self.valkey.kill)
            self.valkey.start()
            stack.callback(self._kill_all)
            self.environ = _environ(self.database_url, self.redis_url)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *details: object) -> None:
        self._stack.close()

    @property
    def database_url(self) -> str:
        return self._postgres.url(self.database)

    @property
    def redis_url(self) -> str:
        return self.valkey.url

    # Processes

    def web(self, port: int | None = None, *, wait: bool = True) -> Process:
        """A web process on a port of its own."""
        port = free_port() if port is None else port
        return self.run(["web", "--port", str(port)], healthy, port=port, wait=wait)

    def worker(self, queue: str, *, wait: bool = True) -> Process:
        """A Celery worker for the queue `bots` or `default`; the engine is compiled before the first one starts.

        It does not step back for others, as on a machine of its own: tests may share theirs with much else.
        """
        if queue == "bots":
            compile_engine()
        arguments = ["worker", "--queue", queue, "--nice", "0"]
        return self.run(arguments, says("ready."), name=queue, wait=wait)

    def wave(self, *arguments: str, wait: bool = True) -> Process:
        return self.run(["wave", *arguments], takes_sigterm, wait=wait)

    def sweeper(self, *arguments: str, wait: bool = True) -> Process:
        return self.run(["sweeper", *arguments], takes_sigterm, wait=wait)

    def scheduler(self, *, wait: bool = True) -> Process:
        return self.run(["scheduler"], takes_sigterm, wait=wait)

    def manage(self, *arguments: str) -> str:
        """Run a command to its end, such as `create_player`; returns what it printed."""
        outcome = subprocess.run(
            [sys.executable, str(PROJECT / "manage.py"), *arguments],
            cwd=PROJECT,
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert outcome.returncode == 0, outcome.stdout + outcome.stderr
        return outcome.stdout

    # The data behind them

    def restart_valkey(self, *, down_seconds: float = 0.0) -> None:
        """Valkey crashes and comes back empty on the same address, `down_seconds` later."""
        self.valkey.kill()
        time.sleep(down_seconds)
        self.valkey.start()

    def redis(self) -> "redis.Redis":
        """A client of the cluster's Valkey; close it."""
        return redis.Redis.from_url(self.redis_url)

    def query(self, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
        """The rows of one SQL query on the cluster's database."""
        with psycopg.connect(self.database_url) as connection:
            return connection.execute(statement.encode(), parameters).fetchall()

    def show_logs(self) -> None:
        """Print the end of every process's log; the fixture does so when the test has failed."""
        for process in self.processes:
            lines = process.log().splitlines()[-LOG_LINES:]
            sys.stdout.write("\n".join([f"---- {process.name} ----", *lines, ""]))

    def run(
        self,
        arguments: list[str],
        is_ready: Callable[[Process], bool],
        *,
        name: str = "",
        port: int | None = None,
        wait: bool = True,
        script: Path = PROJECT / "manage.py",
    ) -> Process:
        """A process of `manage.py`, or of another script."""
        name = f"{name or arguments[0]}-{len(self.processes) + 1}"
        process = Process(
            name,
            arguments,
            environ=self.environ,
            log=self.folder / f"{name}.log",
            is_ready=is_ready,
            port=port,
            script=script,
        )
        self.processes.append(process)
        return process.start(wait=wait)

    def _kill_all(self) -> None:
        for process in self.processes:
            process.kill9()


@cache
def compile_engine() -> None:
    """Once a test run: so that no test waits half a minute for its worker."""
    subprocess.run([sys.executable, "manage.py", "kernels"], cwd=PROJECT, check=True)


def _postgres() -> Postgres:
    postgres = services.running().postgres
    assert postgres is not None
    return postgres


def _environ(database_url: str, redis_url: str) -> dict[str, str]:
    return dict(os.environ) | {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "PYTHONUNBUFFERED": "1",
    }


@cache
def _template() -> str:
    """A database with everything migrated and seeded, made once a test run; copies of it are cheap."""
    _postgres().create_database(TEMPLATE)
    environ = _environ(_postgres().url(TEMPLATE), services.running().redis_url)
    command = [sys.executable, str(PROJECT / "manage.py"), "prepare", "--verbosity", "0"]
    subprocess.run(command, cwd=PROJECT, env=environ, check=True)
    return TEMPLATE

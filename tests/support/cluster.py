"""Real processes of Kado for tests that kill, pause and restart them: several web processes, workers, waves.

A cluster has a scratch database (a copy of a migrated template, made in a moment) in the test run's PostgreSQL and a
Valkey of its own, so that Valkey can be restarted. All of it is gone when the test ends.

    def test_survives(cluster):
        web = cluster.web()
        cluster.worker("bots")
        web.kill9()
        web.restart()
"""

import itertools
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any, Self

import psycopg
import redis

from config.env import PROJECT
from config.postgres import Postgres
from config.processes import dies_with_parent, free_port
from config.valkey import Valkey
from tests.support import services

READY_SECONDS = 60.0  # two busy cores start many interpreters slowly
STOP_SECONDS = 15.0
LOG_LINES = 60
TEMPLATE = "kado_template"

_numbers = itertools.count(1)


class Process:
    """One `manage.py` process, in a session of its own, with a log that stays over restarts."""

    def __init__(
        self,
        name: str,
        arguments: list[str],
        *,
        environ: dict[str, str],
        log: Path,
        is_ready: Callable[["Process"], bool],
        port: int | None = None,
    ) -> None:
        self.name = name
        self.log_file = log
        self._port = port
        self._command = [sys.executable, str(PROJECT / "manage.py"), *arguments]
        self._environ = environ
        self._is_ready = is_ready
        self._process: subprocess.Popen[bytes] | None = None
        self._said_before = 0

    @property
    def pid(self) -> int:
        assert self._process is not None, f"{self.name} was never started"
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def port(self) -> int:
        assert self._port is not None, f"{self.name} listens on no port"
        return self._port

    @property
    def url(self) -> str:
        """The base address of a web process, without a slash at its end."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def socket_url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/ws/v1"

    def log(self) -> str:
        """All it has said, over all its restarts."""
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    def said(self) -> str:
        """What it has said since its last start."""
        return self.log()[self._said_before :]

    def start(self, *, wait: bool = True) -> Self:
        """Start it; and wait until it serves, unless told otherwise."""
        assert not self.alive, f"{self.name} runs already"
        self._said_before = len(self.log())
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=PROJECT,
                env=self._environ,
                start_new_session=True,
                preexec_fn=dies_with_parent(signal.SIGKILL),
            )
        if wait:
            self.wait_until_ready()
        return self

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while not self._is_ready(self):
            assert self.alive, f"{self.name} ended while it started:\n{self.said()}"
            assert time.monotonic() < deadline, f"{self.name} does not get ready:\n{self.said()}"
            time.sleep(0.05)

    def stop(self) -> int:
        """Ask it to end in order (SIGTERM) and wait; returns its exit code."""
        assert self._process is not None
        self._process.terminate()
        try:
            return self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill9()
            raise AssertionError(f"{self.name} did not stop:\n{self.said()}") from None

    def kill9(self) -> None:
        """SIGKILL, to its children as well; returns when it is gone."""
        if self._process is not None and self._process.poll() is None:
            self._signal(signal.SIGKILL)
            self._process.wait()

    def pause(self) -> None:
        """Freeze it (SIGSTOP), as a machine that hangs."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def restart(self, *, wait: bool = True) -> Self:
        """Start it again as it was, on the same port; stops it in order first if it still runs."""
        if self.alive:
            self.stop()
        return self.start(wait=wait)

    def _signal(self, number: signal.Signals) -> None:
        os.killpg(self.pid, number)


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
        return self._run(["web", "--port", str(port)], _healthy, port=port, wait=wait)

    def worker(self, queue: str, *, wait: bool = True) -> Process:
        """A Celery worker for the queue `bots` or `default`."""
        return self._run(["worker", "--queue", queue], _says("ready."), name=queue, wait=wait)

    def wave(self, *arguments: str, wait: bool = True) -> Process:
        return self._run(["wave", *arguments], _takes_sigterm, wait=wait)

    def sweeper(self, *arguments: str, wait: bool = True) -> Process:
        return self._run(["sweeper", *arguments], _takes_sigterm, wait=wait)

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

    def _run(
        self,
        arguments: list[str],
        is_ready: Callable[[Process], bool],
        *,
        name: str = "",
        port: int | None = None,
        wait: bool = True,
    ) -> Process:
        name = f"{name or arguments[0]}-{len(self.processes) + 1}"
        process = Process(
            name,
            arguments,
            environ=self.environ,
            log=self.folder / f"{name}.log",
            is_ready=is_ready,
            port=port,
        )
        self.processes.append(process)
        return process.start(wait=wait)

    def _kill_all(self) -> None:
        for process in self.processes:
            process.kill9()


def _healthy(process: Process) -> bool:
    try:
        with urllib.request.urlopen(f"{process.url}/healthz", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _takes_sigterm(process: Process) -> bool:
    """Whether it has set up its own way to stop, which our loops do just before they begin."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) & 1 << (signal.SIGTERM - 1))


def _says(words: str) -> Callable[[Process], bool]:
    return lambda process: words in process.said()


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

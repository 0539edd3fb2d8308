"""`serve` and its supervisor, as a person uses them: real processes, real signals."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.env import PROJECT
from config.processes import free_port
from tests.support.proc import descendants, eventually, living
from tests.support.services import scratch_folder

PYTHON = [sys.executable, "-u"]

SUPERVISE = """
import os, sys
from config.supervisor import Program, Supervisor, standard_terminal
SLEEP = "import time\\nprint('up', flush=True)\\nwhile True: time.sleep(1)"
STUBBORN = "import signal\\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\\n" + SLEEP
SHORT = "print('half a', end=''); print(' line'); raise SystemExit(3)"
programs = [
    Program(name, [sys.executable, "-u", "-c", {"short": SHORT, "stubborn": STUBBORN}.get(kind, SLEEP)], int(stage))
    for name, kind, stage in (word.split(":") for word in sys.argv[1:])
]
Supervisor(programs, standard_terminal(p.name for p in programs), dict(os.environ)).run()
"""


class Running:
    """A command in a process of its own, with all that it has printed so far."""

    def __init__(self, *command: str, environ: dict[str, str] | None = None) -> None:
        names = {"DATABASE_URL", "REDIS_URL", "KADO_SECRET_KEY", "KADO_DATA"}
        inherited = {name: value for name, value in os.environ.items() if name not in names}
        self.process = subprocess.Popen(
            [*PYTHON, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=PROJECT,
            env=inherited | (environ or {}),
            start_new_session=True,
        )
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def printed(self) -> str:
        return "".join(self._lines)

    def until(self, words: str, *, times: int = 1, seconds: float = 60) -> None:
        """Wait until it has printed the words that many times."""
        assert eventually(lambda: self.printed.count(words) >= times, seconds=seconds), self.printed

    def end(self, number: signal.Signals = signal.SIGINT, *, seconds: float = 30) -> int:
        """Send a signal and wait for the end; returns the exit code."""
        self.process.send_signal(number)
        code = self.process.wait(seconds)
        self._reader.join(5)
        return code

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as stdout:
            self._lines.extend(stdout)


@pytest.fixture
def run() -> Iterator[type[Running]]:
    """Start commands by `run(...)`; what still runs when the test ends is killed."""
    started: list[Running] = []

    class Recorded(Running):
        def __init__(self, *command: str, environ: dict[str, str] | None = None) -> None:
            super().__init__(*command, environ=environ)
            started.append(self)

    yield Recorded
    for running in started:
        if running.process.poll() is None:
            running.end(signal.SIGKILL)


def get(url: str) -> int:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return int(answer.status)


# The supervisor


def test_a_program_that_dies_is_started_again_after_longer_and_longer_pauses(
    run: type[Running],
) -> None:
    supervisor = run("-c", SUPERVISE, "crasher:short:0", "steady:sleep:0")
    supervisor.until("starting it again in 2 s.")
    assert "crasher | half a line" in supervisor.printed
    assert "crasher ended (exit code 3); starting it again in 0.5 s." in supervisor.printed
    assert "crasher ended (exit code 3); starting it again in 1 s." in supervisor.printed
    assert supervisor.printed.count("steady  | up") == 1
    assert supervisor.end() == 0


def test_stages_stop_one_after_another_and_who_does_not_stop_is_killed(run: type[Running]) -> None:
    supervisor = run("-c", SUPERVISE, "web:sleep:0", "worker:stubborn:1")
    supervisor.until("| up", times=2)
    children = descendants(supervisor.process.pid)
    assert len(children) == 2
    began = time.monotonic()
    assert supervisor.end(signal.SIGTERM) == 0
    assert 4 < time.monotonic() - began < 12
    assert "worker does not stop: killing it." in supervisor.printed
    assert "web does not stop" not in supervisor.printed
    assert not living(children)


def test_a_second_ctrl_c_does_not_wait(run: type[Running]) -> None:
    supervisor = run("-c", SUPERVISE, "worker:stubborn:0")
    supervisor.until("| up")
    supervisor.process.send_signal(signal.SIGINT)
    supervisor.until("Stopping")
    began = time.monotonic()
    assert supervisor.end(signal.SIGINT) == 0
    assert time.monotonic() - began < 3


def test_programs_die_with_a_killed_supervisor(run: type[Running]) -> None:
    supervisor = run("-c", SUPERVISE, "web:sleep:0", "worker:stubborn:1")
    supervisor.until("| up", times=2)
    children = descendants(supervisor.process.pid)
    supervisor.end(signal.SIGKILL)
    assert eventually(lambda: not living(children), seconds=5)


# serve


@pytest.fixture(scope="module")
def data() -> Path:
    return scratch_folder()


def test_a_port_in_use_is_told_in_one_sentence_before_anything_starts(
    run: type[Running],
) -> None:
    data = scratch_folder()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        serve = run("manage.py", "serve", "--port", str(port), "--data", str(data))
        assert serve.process.wait(30) == 1
        assert eventually(lambda: serve.printed)
    assert f"Port {port} on 127.0.0.1 cannot be used (Address already in use)" in serve.printed
    assert len(serve.printed.splitlines()) == 1
    assert not (data / "postgres").exists()


def test_a_broken_folder_is_told_in_one_sentence(run: type[Running]) -> None:
    broken = scratch_folder()
    (broken / "postgres").mkdir()
    serve = run("manage.py", "serve", "--port", str(free_port()), "--data", str(broken))
    assert serve.process.wait(30) == 1
    assert eventually(lambda: "is not a whole PostgreSQL folder" in serve.printed)
    assert "Traceback" not in serve.printed


def test_a_command_without_services_says_what_to_do(run: type[Running]) -> None:
    command = run("manage.py", "create_player", "ann", environ={"KADO_DATA": str(scratch_folder())})
    assert command.process.wait(30) == 1
    assert eventually(lambda: "start `make serve` first or set DATABASE_URL" in command.printed)
    assert len(command.printed.splitlines()) == 1


def test_help_has_examples(run: type[Running]) -> None:
    command = run("manage.py", "serve", "--help")
    assert command.process.wait(30) == 0
    assert eventually(lambda: "python manage.py serve --port 9000 --web 4" in command.printed)


@pytest.mark.slow
def test_everything_runs_heals_and_stops(run: type[Running], data: Path) -> None:
    port = free_port()
    serve = run("manage.py", "serve", "--port", str(port), "--data", str(data))
    serve.until("Kado is ready after", seconds=120)
    serve.until("Ctrl-C stops everything.")
    assert f"http://localhost:{port}/api/v1/docs" in serve.printed
    assert get(f"http://127.0.0.1:{port}/healthz") == 200

    environ = {"KADO_DATA": str(data)}  # as in another terminal
    create = run("manage.py", "create_player", "ann", environ=environ)
    assert create.process.wait(60) == 0, create.printed
    assert eventually(lambda: "kado_" in create.printed)

    children = descendants(serve.process.pid)
    web = [pid for pid, command in children.items() if "manage.py web" in command]
    assert len(web) == 2
    os.kill(web[0], signal.SIGKILL)
    serve.until("ended (signal SIGKILL); starting it again in 0.5 s.")
    assert get(f"http://127.0.0.1:{port}/healthz") == 200  # by the other one
    assert eventually(
        lambda: (
            sum("manage.py web" in line for line in descendants(serve.process.pid).values()) == 2
        )
    )

    children = descendants(serve.process.pid)
    mode = (data / "services.json").stat().st_mode & 0o777
    assert (mode, (data / "secret-key").stat().st_mode & 0o777) == (0o600, 0o600)
    assert json.loads((data / "services.json").read_text()).keys() == {"DATABASE_URL", "REDIS_URL"}
    assert serve.end(signal.SIGINT) == 0
    assert "Stopped." in serve.printed
    assert "does not stop" not in serve.printed
    assert not living(children)
    assert not (data / "services.json").exists()


@pytest.mark.slow
def test_a_killed_serve_leaves_nothing_in_the_way(run: type[Running], data: Path) -> None:
    ports = free_port(), free_port()
    arguments = (
        "--web-ports",
        f"{ports[0]},{ports[1]}",
        "--no-bots",
        "--no-workers",
        "--data",
        str(data),
    )
    serve = run("manage.py", "serve", *arguments)
    serve.until("Kado is ready after", seconds=120)
    children = descendants(serve.process.pid)
    serve.end(signal.SIGKILL)
    again = run("manage.py", "serve", *arguments)
    again.until("Kado is ready after", seconds=120)
    assert not living(children)
    assert [get(f"http://127.0.0.1:{port}/healthz") for port in ports] == [200, 200]
    assert again.end(signal.SIGTERM) == 0

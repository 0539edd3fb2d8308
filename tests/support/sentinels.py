"""A Valkey master, its replica, and a Sentinel that lets the replica follow when the master dies."""

import contextlib
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

import redis

from config.processes import dies_with_parent, free_port
from config.valkey import HOST, _program

SERVICE = "kado"
READY_SECONDS = 20.0

SERVER = """\
bind {host}
port {port}
dir "{folder}"
save ""
appendonly no
repl-diskless-sync-delay 0
{more}
"""
SENTINEL = """\
bind {host}
port {port}
dir "{folder}"
sentinel monitor {service} {host} {master} 1
sentinel down-after-milliseconds {service} 500
sentinel failover-timeout {service} 2000
"""


class Sentinels:
    """Three processes; `url` is the address that outlasts the master."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.master, self.replica, self.sentinel = free_port(), free_port(), free_port()
        self._processes: dict[int, subprocess.Popen[bytes]] = {}

    @property
    def url(self) -> str:
        return f"redis+sentinel://{HOST}:{self.sentinel}/{SERVICE}/0"

    def __enter__(self) -> Self:
        self._server(self.master, "")
        self._server(self.replica, f"replicaof {HOST} {self.master}")
        self._until(self.replica, lambda client: client.info()["master_link_status"] == "up")
        text = SENTINEL.format(
            host=HOST, port=self.sentinel, folder=self._folder, service=SERVICE, master=self.master
        )
        self._launch(self.sentinel, text, "--sentinel")
        self._until(self.sentinel, lambda client: len(client.sentinel_slaves(SERVICE)) == 1)
        return self

    def __exit__(self, *details: object) -> None:
        for process in self._processes.values():
            process.kill()
            process.wait()

    def kill_master(self) -> None:
        """As a crash would; returns when the replica has followed."""
        self._processes[self.master].kill()
        self._processes[self.master].wait()
        self._until(self.replica, lambda client: client.info()["role"] == "master")

    def _server(self, port: int, more: str) -> None:
        text = SERVER.format(host=HOST, port=port, folder=self._folder, more=more)
        self._launch(port, text)
        self._until(port, lambda client: client.ping())

    def _launch(self, port: int, configuration: str, *arguments: str) -> None:
        file = self._folder / f"{port}.conf"  # a Sentinel writes to its own
        file.write_text(configuration)
        with (self._folder / f"{port}.log").open("wb") as log:
            self._processes[port] = subprocess.Popen(
                [_program(), file, *arguments],
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=dies_with_parent(signal.SIGKILL),
            )

    def _until(self, port: int, test: "Callable[[redis.Redis], object]") -> None:
        deadline = time.monotonic() + READY_SECONDS
        with redis.Redis(host=HOST, port=port, socket_timeout=2) as client:
            while True:
                with contextlib.suppress(redis.RedisError, KeyError):
                    if test(client):
                        return
                assert time.monotonic() < deadline, (self._folder / f"{port}.log").read_text()
                time.sleep(0.05)

"""Start and stop server processes, and read what they cost from /proc."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

START_SECONDS = 40.0
STOP_SECONDS = 10.0
_TICK = os.sysconf("SC_CLK_TCK")


class StartError(Exception):
    """A server did not come up; the message ends with the last lines of its log."""


@dataclass(slots=True)
class Parts:
    """The processes of one server by the part they play. Only what is started here is stopped here."""

    logs: Path
    parts: dict[str, list[int]] = field(default_factory=dict)
    _children: list[tuple[str, "subprocess.Popen[bytes]"]] = field(default_factory=list)

    def start(
        self,
        part: str,
        command: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        port: int | None = None,
    ) -> "subprocess.Popen[bytes]":
        """Start a process and, if it has a port, wait until it listens. Its output goes to `logs`."""
        self.logs.mkdir(parents=True, exist_ok=True)
        log = self.logs / f"{part}-{len(self._children)}.log"
        with log.open("wb") as output:
            child = subprocess.Popen(
                command, cwd=cwd, env=env, stdout=output, stderr=output, start_new_session=True
            )
        self._children.append((part, child))
        self.parts.setdefault(part, []).append(child.pid)
        if port is not None:
            self._wait_for(part, child, port, log)
        return child

    def adopt(self, part: str, pid: int) -> None:
        """Count a process that somebody else started and will stop."""
        self.parts.setdefault(part, []).append(pid)

    def cpu_seconds(self) -> dict[str, float]:
        """CPU time so far by part, with all descendants, living and reaped."""
        tree = _children_by_parent()
        return {
            part: sum(_cpu(pid) for root in roots for pid in _with_descendants(root, tree))
            for part, roots in self.parts.items()
        }

    def check(self) -> None:
        """Raise `StartError` if a process that was started here has ended."""
        for part, child in self._children:
            if child.poll() is not None:
                raise StartError(f"{part} ended with status {child.returncode}; see {self.logs}")

    def stop(self) -> None:
        """End everything started here, the last first; kill what has not ended after `STOP_SECONDS`."""
        for _, child in reversed(self._children):
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
        for _, child in reversed(self._children):
            try:
                child.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait(STOP_SECONDS)
        self._children.clear()
        self.parts.clear()

    def _wait_for(self, part: str, child: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            if child.poll() is not None:
                break
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1.0):
                return
            time.sleep(0.05)
        tail = log.read_text(errors="replace")[-1500:]
        raise StartError(f"{part} does not listen on port {port}:\n{tail}")


def _cpu(pid: int) -> float:
    """User and system seconds of a process and of its reaped children; 0 when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(int(value) for value in fields[11:15]) / _TICK


def _children_by_parent() -> dict[int, list[int]]:
    tree: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                tree.setdefault(parent, []).append(int(entry.name))
    return tree


def _with_descendants(root: int, tree: Mapping[int, Sequence[int]]) -> list[int]:
    found, queue = [], [root]
    while queue:
        pid = queue.pop()
        found.append(pid)
        queue.extend(tree.get(pid, ()))
    return found


def thread_cpu(pid: int) -> dict[int, float]:
    """CPU seconds of each thread of a process."""
    found = {}
    for entry in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            found[int(entry.name)] = sum(int(value) for value in fields[11:13]) / _TICK
    return found

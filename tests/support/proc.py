"""What the operating system says about processes."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path


def descendants(pid: int, *, mentioning: str = "") -> dict[int, str]:
    """The living children of a process, their children and so on, each with its command line.

    With `mentioning`, only those whose command line contains the text.
    """
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if fields[0] != "Z":
            parents[int(stat.parent.name)] = int(fields[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    lines = {child: command_line(child) for child in found - {pid}}
    return {child: line for child, line in lines.items() if mentioning in line}


def command_line(pid: int) -> str:
    try:
        return (
            Path(f"/proc/{pid}/cmdline")
            .read_bytes()
            .replace(b"\0", b" ")
            .decode(errors="replace")
            .strip()
        )
    except OSError:
        return ""


def living(pids: Iterable[int]) -> set[int]:
    """Those that still run; a zombie does not."""
    return {pid for pid in pids if command_line(pid)}


def eventually(condition: Callable[[], object], *, seconds: float = 20.0) -> bool:
    """Whether the condition comes true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True

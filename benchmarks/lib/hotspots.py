"""Where a process's CPU time goes: py-spy's samples of one process, grouped by the layer that each leaf belongs to."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

SAMPLES_A_SECOND = 400

GROUPS = (
    ("rules", ("games/territory/rules", "games/polyomino")),
    ("game state and services", ("games/territory",)),
    ("msgspec", ("msgspec",)),
    (
        "journal, psycopg, Django ORM",
        ("journal.py", "psycopg", "django/db", "libpq", "common/database"),
    ),
    ("feed, redis", ("common/feed", "common/streams", "common/redis", "redis/", "hiredis")),
    ("uvicorn, websockets", ("uvicorn", "websockets", "httptools")),
    ("socket consumer", ("config/socket", "config/frames", "channels", "asgiref")),
    ("asyncio, uvloop", ("asyncio", "uvloop", "libuv", "selectors.py")),
    ("threads, queues", ("threading.py", "concurrent/", "queue.py")),
    ("accounts, matchmaking", ("accounts/", "matchmaking/")),
    ("kernel and C library", ("libc", "[unknown]", "libpthread", "vdso")),
)
"""The first group with a part of its name in the leaf's file counts the sample."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Shares of all samples, the largest first: by group, by function of its own, and by function with callees."""

    samples: int
    groups: list[tuple[str, float]]
    own: list[tuple[str, float]]
    total: list[tuple[str, float]]


def command(pid: int, seconds: float, output: Path, *, native: bool) -> list[str]:
    """The py-spy command that samples `pid` for so long and writes raw stacks.

    Only the thread that holds the interpreter's lock is counted, because waiting threads are not always told from
    working ones; `native` counts all, and sees C functions too.
    """
    return [
        *(
            str(Path(sys.executable).with_name("py-spy")),
            "record",
            "--pid",
            str(pid),
            "--format",
            "raw",
        ),
        *(
            "--rate",
            str(SAMPLES_A_SECOND),
            "--duration",
            str(max(1, int(seconds))),
            "--output",
            str(output),
        ),
        *(("--native",) if native else ("--gil",)),
    ]


def record(pid: int, seconds: float, output: Path, *, native: bool = False) -> Profile | str:
    """Sample a process while it works; the reason as text if py-spy cannot."""
    try:
        outcome = subprocess.run(
            command(pid, seconds, output, native=native),
            capture_output=True,
            check=False,
            timeout=seconds + 60,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"py-spy: {error}"
    if outcome.returncode or not output.exists():
        return f"py-spy: {outcome.stderr.decode(errors='replace').strip()[-300:]}"
    return read(output.read_text().splitlines())


def read(lines: Iterable[str]) -> Profile:
    """Count py-spy's raw lines: `root;…;leaf count`, each frame `function (file:line)`."""
    groups: Counter[str] = Counter()
    own: Counter[str] = Counter()
    total: Counter[str] = Counter()
    samples = 0
    for line in lines:
        stack, _, number = line.rpartition(" ")
        if not stack or not number.isdigit():
            continue
        count = int(number)
        frames = [
            _without_line(frame) for frame in stack.split(";") if not frame.startswith("process ")
        ]
        if not frames:
            continue
        samples += count
        groups[_group(frames[-1])] += count
        own[frames[-1]] += count
        for name in set(frames):
            total[name] += count
    return Profile(
        samples, _shares(groups, samples), _shares(own, samples), _shares(total, samples)
    )


def _without_line(frame: str) -> str:
    head, colon, rest = frame.rpartition(":")
    return f"{head})" if colon and rest.rstrip(")").isdigit() else frame


def _group(frame: str) -> str:
    for name, parts in GROUPS:
        if any(part in frame for part in parts):
            return name
    return "other"


def _shares(counts: Counter[str], samples: int) -> list[tuple[str, float]]:
    return [(name, count / max(1, samples)) for name, count in counts.most_common(150)]

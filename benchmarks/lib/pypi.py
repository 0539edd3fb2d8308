"""Peers that are Python packages: installed with pinned versions into an environment in the cache folder."""

import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.lib.contender import UnavailableError
from benchmarks.lib.node import INSTALL_SECONDS, cache_folder
from benchmarks.lib.recorded import PROJECT


def install(name: str) -> tuple[Path, str]:
    """Put the packages of peers/<name>/requirements.txt into the cache; returns their Python and what runs there.

    Raises `UnavailableError` without a reachable registry, or where Python lacks `venv`.
    """
    wanted = (PROJECT / "benchmarks" / "peers" / name / "requirements.txt").read_text()
    folder = cache_folder() / f"{name}-{sys.version_info.major}.{sys.version_info.minor}"
    python, done = folder / "bin" / "python", folder / "installed.txt"
    if not done.exists() or done.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        _run(sys.executable, "-m", "venv", str(folder))
        packages = wanted.split()
        _run(
            str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages
        )
        done.write_text(wanted)
    return python, ", ".join(wanted.replace("==", " ").splitlines())


def _run(*command: str) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    except subprocess.CalledProcessError as error:
        raise UnavailableError(f"{error} {error.stderr[-300:]}") from error
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(str(error)) from error

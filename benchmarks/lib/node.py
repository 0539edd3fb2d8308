"""Peers that run on Node: installed with pinned versions into a cache folder outside the project."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from benchmarks.lib.contender import UnavailableError
from benchmarks.lib.recorded import PROJECT

INSTALL_SECONDS = 300


def cache_folder() -> Path:
    """Where packages of peers are kept between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "kado-bench"


def install(name: str) -> tuple[Path, str]:
    """Put the peer's sources and packages into the cache; returns its folder and what runs there.

    Raises `UnavailableError` without Node, npm or a reachable registry.
    """
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise UnavailableError("Node and npm are not installed")
    source, folder = PROJECT / "benchmarks" / "peers" / name, cache_folder() / name
    manifest, done = (source / "package.json").read_text(), folder / "installed.json"
    folder.mkdir(parents=True, exist_ok=True)
    for file in source.iterdir():
        if file.is_file():
            shutil.copy(file, folder / file.name)
    if not done.exists() or done.read_text() != manifest:
        command = [
            npm,
            "install",
            "--no-audit",
            "--no-fund",
            "--no-package-lock",
            "--loglevel",
            "error",
        ]
        try:
            subprocess.run(
                command, cwd=folder, check=True, capture_output=True, timeout=INSTALL_SECONDS
            )
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            output = (error.stderr or b"").decode(errors="replace")[-300:]
            raise UnavailableError(f"npm install failed: {error} {output}") from error
        done.write_text(manifest)
    wanted = json.loads(manifest)["dependencies"]
    version = subprocess.run(
        [node, "--version"], check=True, capture_output=True, text=True
    ).stdout.strip()
    return folder, ", ".join(
        [*(f"{package} {pin}" for package, pin in wanted.items()), f"Node {version}"]
    )

"""Where compiled code is kept: found again by the next process, wherever it is told to be, and never stale."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bots.engine import cache
from config.env import PROJECT


def test_the_folder_is_of_the_sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KADO_KERNELS", str(tmp_path))
    before = cache.cache_folder()
    assert before.parent == tmp_path
    changed = tmp_path / "kernel.py"
    changed.write_text("other code")
    monkeypatch.setattr(cache, "SOURCES", [changed, *cache.SOURCES[1:]])
    assert cache.cache_folder() != before


def test_without_a_word_it_is_the_users_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KADO_KERNELS", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache.cache_folder().parent == Path("/somewhere/kado/kernels")


def test_every_compiled_module_counts() -> None:
    """A module that compiles something and is not among the sources would be found stale."""
    folder = PROJECT / "bots" / "engine"
    compiling = {path.stem for path in folder.glob("*.py") if "@compiled" in path.read_text()}
    assert compiling <= set(cache.COMPILED)


def test_whoever_has_to_compile_knows_it_beforehand(tmp_path: Path) -> None:
    """So that a worker's log, and `make serve`, can say why no CPU answers yet."""
    command = [sys.executable, "-c", "from bots import engine; print(engine.COMPILES)"]
    environment = {**os.environ, "KADO_KERNELS": str(tmp_path)}
    for expected in ("True", "False"):
        outcome = subprocess.run(
            command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=True
        )
        assert outcome.stdout.strip() == expected
        (folder,) = tmp_path.iterdir()
        (folder / "search").mkdir(exist_ok=True)
        (folder / "search" / "some.nbi").touch()


@pytest.mark.slow
def test_the_command_says_where_and_the_next_process_finds_it() -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    told = ""
    for _ in range(2):
        told = subprocess.run(
            [sys.executable, "manage.py", "kernels"],
            cwd=PROJECT,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    folder, _, seconds = told.partition(": all there after ")
    assert list(Path(folder).rglob("*.nbi"))
    assert float(seconds.split()[0]) < 15

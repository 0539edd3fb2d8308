"""docs/rules.md runs as it stands, and the README's picture is what its command draws."""

import doctest
import subprocess
import sys

import pytest

from config.env import PROJECT
from tests.docs.pages import page


def test_the_tutorial_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROJECT)
    outcome = doctest.testfile(str(page("docs/rules.md").path), module_relative=False)
    assert outcome.failed == 0
    assert outcome.attempted > 30


def test_it_needs_no_installation() -> None:
    command = [sys.executable, "-S", "-m", "doctest", "docs/rules.md"]
    subprocess.run(command, cwd=PROJECT, check=True, capture_output=True)


def test_the_readmes_command_draws_the_readmes_picture() -> None:
    (block,) = [text for text in page("README.md").blocks("sh") if "board_svg" in text]
    program = block.partition("\n")[2].rpartition("END")[0]
    command = [sys.executable, "-S", "-"]
    drawn = subprocess.run(
        command, cwd=PROJECT, check=True, capture_output=True, input=program.encode()
    )
    assert drawn.stdout == (PROJECT / "docs/board.svg").read_bytes()

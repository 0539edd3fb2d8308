"""`manage.py` itself."""

import subprocess
import sys

import pytest

from config.env import PROJECT


@pytest.mark.parametrize(
    "command", [["perft", "--help"], ["show", "tests/reference/territory/games.jsonl"]]
)
def test_who_stops_reading_is_no_error_to_tell_of(command: list[str]) -> None:
    process = subprocess.Popen(
        [sys.executable, "manage.py", *command],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.close()
    _, said = process.communicate(timeout=60)
    assert "Traceback" not in said
    assert "BrokenPipe" not in said

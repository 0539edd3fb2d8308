"""The puzzle's commands in processes that know of no service, settings or addresses."""

import os
import subprocess
import sys
from pathlib import Path

from config.env import PROJECT

ENVIRONMENT = {"PATH": os.environ["PATH"], "TERM": "xterm-256color"}


def manage(*arguments: str | Path, typed: str | bytes = "") -> tuple[int, str, str]:
    """Exit status, output and errors of a command that is given this text to read."""
    ran = subprocess.run(
        [sys.executable, "manage.py", *map(str, arguments)],
        input=typed.encode() if isinstance(typed, str) else typed,
        capture_output=True,
        cwd=PROJECT,
        env=ENVIRONMENT,
        check=False,
        timeout=60,
    )
    output, errors = ran.stdout.decode(), ran.stderr.decode()
    assert "Traceback" not in errors
    return ran.returncode, output, errors

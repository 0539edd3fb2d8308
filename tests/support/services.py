"""One real PostgreSQL and one real Valkey for the whole test run, in a temporary folder.

tests/conftest.py starts them while it is imported, because their addresses must stand in the environment before
the settings are read. Addresses that the environment already holds are ignored on purpose: tests empty Redis and
drop databases.
"""

import atexit
import os
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path

from config.embedded import Services, embedded_services
from config.env import Environment

TEST_SECRET_KEY = "only-for-tests-" + "0123456789abcdef" * 3

_stack = ExitStack()
_running: Services | None = None


def running() -> Services:
    """The services of this test run."""
    assert _running is not None, "run the tests with pytest from the project's folder"
    return _running


def scratch_folder() -> Path:
    """A fresh folder outside the tree, removed at the end; PostgreSQL's own user can pass through it."""
    folder = Path(tempfile.mkdtemp(prefix="kado-test-"))
    folder.chmod(0o711)
    _stack.callback(shutil.rmtree, folder, ignore_errors=True)
    return folder


def start() -> None:
    """Start the services and put their addresses into the environment."""
    global _running
    if _running is not None:
        return
    atexit.register(stop)
    for name in Environment.VARIABLES:
        os.environ.pop(name, None)
    data = scratch_folder()
    _running = _stack.enter_context(embedded_services(data, environ={}, durable=False))
    os.environ.update(
        _running.addresses(),
        KADO_SECRET_KEY=TEST_SECRET_KEY,
        KADO_DATA=str(data),
        KADO_STAFF_SECOND_FACTOR="optional",
    )


def stop() -> None:
    """Stop them and remove every scratch folder; harmless when done twice."""
    _stack.close()

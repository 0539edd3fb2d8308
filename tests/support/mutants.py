"""The pytest plugin of `make mutants`, in place of conftest.py: no services, and every mutant seen.

mutmut imports the tests once and forks a process for each mutant.  What the rules compute only once (the pieces, the
tables of a board) would be the work of the unchanged code there, so each process imports everything anew.
"""

import importlib.util
import os
import resource
import sys

import pytest
from hypothesis import HealthCheck, Phase, settings

MEMORY_LIMIT = 2 << 30
"""Bytes: a mutant that never ends may collect cells until the machine is full."""

# The same examples for every mutant; a failing one is enough, and need not be made small.
settings.register_profile(
    "mutants",
    database=None,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("mutants")


def pytest_sessionstart() -> None:
    """Forget the modules under test, and the tests that hold parts of them."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, resource.RLIM_INFINITY))
    for name in list(sys.modules):
        if name == "games" or name.startswith(("games.", "tests.games.")):
            del sys.modules[name]


def pytest_runtest_setup(item: pytest.Function) -> None:
    """While mutmut learns which test calls what, each test makes what was made once for all."""
    if os.environ.get("MUTANT_UNDER_TEST") != "stats":
        return
    from games.territory.rules import geometry, notation

    geometry.board.cache_clear()
    notation.all_moves.cache_clear()
    for module in (sys.modules["games.polyomino"], item.module):
        assert module.__spec__ is not None
        assert module.__spec__.loader is not None
        module.__spec__.loader.exec_module(importlib.util.module_from_spec(module.__spec__))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A mutant that cannot even be imported is found out; to mutmut only failed tests say so."""
    if session.testsfailed:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED

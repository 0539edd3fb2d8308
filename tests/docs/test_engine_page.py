"""docs/engine.md: its example runs, and its levels are those that are offered."""

import doctest

from bots.levels import LEVELS
from tests.docs.pages import CODE, page

PAGE = page("docs/engine.md")


def test_the_example_runs() -> None:
    outcome = doctest.testfile(str(PAGE.path), module_relative=False)
    assert outcome.failed == 0
    assert outcome.attempted > 4


def test_the_levels_are_those_that_are_offered() -> None:
    rows = PAGE.rows("CPU players and the engine")
    assert tuple(CODE.findall(row[0])[0] for row in rows) == LEVELS

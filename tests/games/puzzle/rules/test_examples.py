"""The examples in the docstrings of the rules run as they stand."""

import doctest
import importlib

import pytest

from config.env import PROJECT

MODULES = [path.stem for path in sorted((PROJECT / "games/puzzle/rules").glob("[a-z]*.py"))]
WITHOUT = {"errors", "svg", "text"}


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_run(name: str) -> None:
    outcome = doctest.testmod(importlib.import_module(f"games.puzzle.rules.{name}"))
    assert outcome.failed == 0
    assert (outcome.attempted == 0) == (name in WITHOUT)

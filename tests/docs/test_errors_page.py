"""docs/errors.md and the classes of errors in the code are the same set."""

import importlib
import pkgutil
import re
from collections.abc import Iterator

from common.errors import KadoError
from config.env import PROJECT
from tests.docs.pages import codes, page

APPS = ("common", "config", "accounts", "games", "matchmaking", "bots", "web")
LEFT_OUT = (".migrations.", "config.asgi", "config.settings")
PAGE = page("docs/errors.md")


def _import_everything() -> None:
    for app in APPS:
        package = importlib.import_module(app)
        for module in pkgutil.walk_packages(package.__path__, f"{app}."):
            if not any(name in f"{module.name}." for name in LEFT_OUT):
                importlib.import_module(module.name)


def _classes(base: type[KadoError] = KadoError) -> Iterator[type[KadoError]]:
    yield base
    for derived in base.__subclasses__():
        yield from _classes(derived)


def _ours() -> set[type[KadoError]]:
    _import_everything()
    return {each for each in _classes() if each.__module__.partition(".")[0] in APPS}


def _described() -> dict[str, int]:
    rows = [row for row in PAGE.rows() if len(row) == 4]
    described = {codes(row)[0]: int(row[1]) for row in rows}
    assert len(described) == len(rows), "a code has two rows"
    return described


def test_every_code_is_described_with_its_status_and_no_other() -> None:
    assert _described() == {each.code: each.status for each in _ours()}


def test_no_two_classes_share_a_code_with_different_status() -> None:
    ours = _ours()
    assert len({each.code for each in ours}) == len({(each.code, each.status) for each in ours})


def test_codes_are_kebab_case_and_statuses_are_errors() -> None:
    for each in _ours():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", each.code)
        assert 400 <= each.status < 600
        assert each.title


def test_every_row_says_cause_and_cure() -> None:
    assert all(all(row) for row in PAGE.rows())


def test_every_reason_of_an_illegal_move_is_described() -> None:
    described = {codes(row)[0] for row in PAGE.rows("Reasons of an illegal move")}
    rules = PROJECT / "games/territory/rules"
    raised = re.compile(r"IllegalMoveError\(\s*\"([a-z-]+)\"")
    known = {code for path in rules.glob("*.py") for code in raised.findall(path.read_text())}
    assert described == known

"""Links lead somewhere, paths that are named exist, and so do make targets, commands and test names."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import get_commands

from config import catalogue
from config.env import PROJECT
from tests.docs.pages import CODE, Page, all_pages, page

FOLDERS = (
    *("accounts", "benchmarks", "bots", "common", "config", "docs", "examples", "games"),
    *("matchmaking", "requirements", "tests", "web"),
)
PATH = re.compile(rf"^(?:{'|'.join(FOLDERS)})/[\w./-]*$")
DOCS_PATH = re.compile(r"(?<![\w./-])docs/[\w./-]*\w")
TEST_NAME = re.compile(r"`(test_[a-z_]+)`")
NOT_OURS = {"node_modules", "__pycache__"}


@pytest.fixture(params=all_pages(), ids=lambda page: page.name)
def each(request: pytest.FixtureRequest) -> Page:
    found: Page = request.param
    return found


def test_links_lead_somewhere(each: Page) -> None:
    for link in each.links():
        if link.startswith("https://"):
            continue
        assert not link.startswith(("/", "http:")), f"{each.name}: {link} is not relative"
        target, _, anchor = link.partition("#")
        path = (each.path.parent / target).resolve() if target else each.path
        assert path.exists(), f"{each.name} links to {link}"
        if anchor:
            assert anchor in Page(path).anchors(), f"{each.name} links to {link}"


def test_paths_that_are_named_exist(each: Page) -> None:
    for text in CODE.findall(each.prose):
        if PATH.match(text):
            assert (PROJECT / text).exists(), f"{each.name} names {text}"


def test_make_targets_exist(each: Page) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (PROJECT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z-]+)", each.prose))
    for block in each.blocks("sh"):
        named |= set(re.findall(r"^make ([a-z-]+)", block, re.MULTILINE))
    assert named <= targets


def test_commands_exist(each: Page) -> None:
    named = set(re.findall(r"manage\.py ([a-z_]+)", each.text))
    assert named <= set(get_commands())


def test_tests_that_are_named_exist(each: Page) -> None:
    there = "".join(path.read_text() for path in (PROJECT / "tests").rglob("test_*.py"))
    for name in TEST_NAME.findall(each.prose):
        assert f"def {name}(" in there, f"{each.name} names {name}"


def test_shell_is_shell_and_the_python_in_it_python(each: Page) -> None:
    for block in each.blocks("sh"):
        checked = subprocess.run(
            ["bash", "-n"], input=block.encode(), capture_output=True, check=False
        )
        assert not checked.stderr, f"{each.name}: {checked.stderr.decode()}"
        for program in re.findall(
            r"python3? - <<'END'.*?\n(.*?)^END$", block, re.DOTALL | re.MULTILINE
        ):
            compile(program, each.name, "exec")


def test_the_readme_names_what_one_needs_first() -> None:
    named = page("README.md").text
    for command in ("make serve", "make test", "make demo"):
        assert command in named


def test_every_page_can_be_found_from_the_readme() -> None:
    found, new = set[Path](), [page("README.md").path]
    while new:
        here = Page(new.pop())
        found.add(here.path)
        targets = ((here.path.parent / link.partition("#")[0]).resolve() for link in here.links())
        new += [path for path in targets if path.suffix == ".md" and path not in found]
    assert {each.path for each in all_pages()} <= found


def test_pages_that_the_code_names_exist() -> None:
    missing = [
        f"{path.relative_to(PROJECT)}: {name}"
        for path in _sources()
        for name in DOCS_PATH.findall(path.read_text(errors="replace"))
        if name != catalogue.ADDRESS and not (PROJECT / name).exists()
    ]
    assert not missing


def _sources() -> Iterator[Path]:
    names = (*FOLDERS, "manage.py", "Makefile", "pyproject.toml", ".importlinter", ".ci")
    for name in names:
        top = PROJECT / name
        for path in top.rglob("*") if top.is_dir() else [top]:
            if path.suffix in {".pyc", ".jsonl"} or not path.is_file() or NOT_OURS & {*path.parts}:
                continue
            yield path

"""docs/puzzle.md runs as it stands, its tables are those of the code, and its record is a true one."""

import doctest
import hashlib
import re
import subprocess
import sys
from typing import Final

import pytest

from config.env import PROJECT
from games.puzzle.rules import BLOCKS, BOARDS, LEVELS, Rules, read_json, replay
from games.puzzle.rules.blocks import FORMS
from games.puzzle.rules.deal import WEIGHTS, draw
from tests.docs.pages import codes, page

PAGE: Final = page("docs/puzzle.md")


def test_the_tutorial_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROJECT)
    outcome = doctest.testfile(str(PAGE.path), module_relative=False)
    assert outcome.failed == 0
    assert outcome.attempted > 20


def test_it_needs_no_installation() -> None:
    command = [sys.executable, "-S", "-m", "doctest", "docs/puzzle.md"]
    subprocess.run(command, cwd=PROJECT, check=True, capture_output=True)


def test_the_boards_and_levels() -> None:
    boards, levels = [], {}
    for row in PAGE.rows("Rules"):
        name = codes(row)[0]
        if name in BOARDS:
            boards.append(name)
        elif name in LEVELS:
            levels[name] = row[1:]
    assert boards == list(BOARDS)
    assert list(levels) == list(LEVELS)
    for name, (rotation, dealing, shapes) in levels.items():
        if name != "custom":
            rules = Rules.of(name)
            assert (rotation, dealing, shapes) == (
                "on" if rules.rotation else "off",
                rules.dealing,
                rules.shapes,
            )


def test_the_table_of_shapes_is_the_generator_itself() -> None:
    rows = [row for row in PAGE.rows("The generator kado-deal-1") if len(row) == 5]
    assert [codes(row)[0] for row in rows] == list(FORMS)
    blocks = []
    for row in rows:
        shape, *weights = codes(row)[0], *map(int, row[1:4])
        for number, cells in enumerate(re.findall(r"`([^`]+)`", row[4])):
            blocks.append((f"{shape}/{number}", cells, tuple(weights)))
    assert blocks == [
        (block.text, ",".join(block.cells), tuple(each[at] for each in WEIGHTS.values()))
        for at, block in enumerate(BLOCKS)
    ]


def test_the_example_of_the_generator() -> None:
    rows = [row for row in PAGE.rows("The generator kado-deal-1") if len(row) == 4]
    assert len(rows) == 3
    for k, begins, target, block in rows:
        text = b"kado-deal-1" + bytes(32) + int(k).to_bytes(8, "big")
        number = hashlib.sha256(text).hexdigest()
        assert number.startswith(begins.strip("`"))
        assert int(number, 16) * 57600 // 2**256 == int(target)
        assert draw(bytes(32), int(k), WEIGHTS["some-big"]).text == block.strip("`")


def test_the_record_is_true() -> None:
    (text,) = PAGE.blocks("json")
    assert replay(read_json(text)).verdict == "agrees"


def test_every_code_of_the_rules_is_described() -> None:
    described = set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", PAGE.prose))
    code = "".join(path.read_text() for path in (PROJECT / "games/puzzle/rules").glob("*.py"))
    raised = re.findall(r"(?:IllegalPlacementError|UndoError|Difference)\(\s*\"([a-z-]+)\"", code)
    raised += re.findall(r"code=\"([a-z-]+)\"", code)
    raised += re.findall(r"\(\"(wrong-[a-z]+)\"", code)
    assert len(set(raised)) >= 17
    assert set(raised) <= described

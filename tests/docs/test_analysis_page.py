"""docs/analysis.md: its figures are those of the code, its example is an answer, its commands run."""

import shlex
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest

from bots.analysis import SIGNS, SIMULATIONS, THRESHOLDS, Mark
from bots.selectors import AnalysisView
from bots.services.analyses import MOST
from config.env import PROJECT
from games.territory.rules import read_sgf, write_json
from tests.docs.pages import codes, page

PAGE = page("docs/analysis.md")
FLAT = " ".join(PAGE.prose.split())


def test_the_marks() -> None:
    rows = {codes(row)[0]: row for row in PAGE.rows("What a mark says")}
    assert list(rows) == [mark.value for mark in Mark]
    for mark, least in THRESHOLDS.items():
        assert (float(rows[mark][1]), rows[mark][2]) == (least, f"`{SIGNS[mark]}`")


@pytest.mark.parametrize(
    "sentence",
    [
        f"the same seed and {SIMULATIONS:,} simulations",
        f"may wait for {MOST} analyses at a time",
    ],
)
def test_figures(sentence: str) -> None:
    assert sentence in FLAT


def test_the_example_is_an_answer() -> None:
    (block,) = PAGE.blocks("json")
    view = msgspec.json.decode(block, type=AnalysisView, strict=True)
    assert msgspec.to_builtins(view) == msgspec.json.decode(block)


def test_the_picture_is_one() -> None:
    picture = ET.parse(PROJECT / "docs" / "analysis.svg").getroot()
    assert picture.get("role") == "img"


@pytest.mark.slow
def test_the_commands_run(tmp_path: Path) -> None:
    source = PROJECT / "tests" / "reference" / "territory" / "sgf" / "duo-level6-1700.blksgf"
    (tmp_path / "game.json").write_text(write_json(read_sgf(source.read_bytes())))
    (block,) = PAGE.blocks("sh")
    for line in block.splitlines():
        command = shlex.split(line.replace("/tmp", str(tmp_path)))
        subprocess.run(
            [*command, "--simulations", "10"], cwd=PROJECT, check=True, capture_output=True
        )
    assert {path.name for path in tmp_path.iterdir()} >= {"curve.svg", "analysed.blksgf"}

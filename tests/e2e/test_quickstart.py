"""The shell of the README and of docs/http.md, run as a reader would: from nothing, with curl."""

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.docs.pages import page

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

pytestmark = pytest.mark.slow


@pytest.fixture
def host(cluster: "Cluster") -> str:
    """A service with CPU players; nothing else is needed."""
    web = cluster.web()
    cluster.worker("bots")
    return f"127.0.0.1:{web.port}"


def _run(script: str, host: str, folder: Path) -> str:
    assert script.count("localhost:8000") == 1
    outcome = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script.replace("localhost:8000", host)],
        cwd=folder, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return outcome.stdout


def _block(name: str) -> str:
    (found,) = [text for text in page(name).blocks("sh") if "localhost:8000/api/v1" in text]
    return found


def test_ten_lines_lead_from_nothing_to_a_picture(host: str, tmp_path: Path) -> None:
    script = _block("README.md")
    assert len(script.splitlines()) <= 10
    said = _run(script, host, tmp_path)
    assert said.startswith('{"version":2}')
    (answer,) = re.findall(r'"event":\{"type":"move_played","ply":1,"colour":"orange"', said)
    assert answer
    picture = (tmp_path / "board.svg").read_text()
    assert picture.startswith("<svg ")
    assert picture.count('class="piece blue"') == 1
    assert picture.count('class="piece orange"') == 1


def test_a_whole_run_in_shell(host: str, tmp_path: Path) -> None:
    begin, _, _ = _block("docs/http.md").partition("GAME=")
    (run,) = [text for text in page("docs/http.md").blocks("sh") if text.startswith("RUN=")]
    said = _run(begin + run, host, tmp_path)
    assert "'reason': 'no-block-fits'" in said.splitlines()[-1]


def test_a_whole_game_in_shell(host: str, tmp_path: Path) -> None:
    said = _run(_block("docs/http.md"), host, tmp_path)
    assert "'termination': 'completed'" in said

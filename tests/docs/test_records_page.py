"""docs/records.md: its example is a record, its tables name what there is, its commands run."""

import ast
import shlex
import subprocess
from pathlib import Path

from config.env import PROJECT
from games.territory.rules import VARIANTS, read_json, read_sgf, write_json, write_sgf
from tests.docs.pages import CODE, page

PAGE = page("docs/records.md")
MODULES = ["record.py", "record_json.py", "sgf.py", "blokus_sgf.py"]


def test_the_example_is_a_record() -> None:
    (text,) = PAGE.blocks("json")
    record = read_json(text)
    assert record.result is not None
    assert read_json(write_json(record)) == record
    assert read_sgf(write_sgf(record)).replay().outcome == record.result


def test_every_code_of_the_readers_has_a_row() -> None:
    """Those of moves are in docs/rules.md."""
    raised = set()
    for name in MODULES:
        tree = ast.parse((PROJECT / "games" / "territory" / "rules" / name).read_text())
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            given = [word.value for word in call.keywords if word.arg == "code"]
            raised |= {word.value for word in given if isinstance(word, ast.Constant)}
    documented = {CODE.findall(row[0])[0] for row in PAGE.rows("What can be wrong")}
    assert raised == documented


def test_the_games_are_named() -> None:
    (row,) = [row for row in PAGE.rows("Blokus SGF") if row[0] == "variant"]
    assert set(CODE.findall(row[1])) - {"GM"} == {on.sgf_game for on in VARIANTS.values()}


def test_the_commands_run(tmp_path: Path) -> None:
    (block,) = PAGE.blocks("sh")
    for line in block.splitlines():
        command = shlex.split(line.replace("/tmp", str(tmp_path)))
        subprocess.run(command, cwd=PROJECT, check=True, capture_output=True)
    assert read_json((tmp_path / "game.json").read_bytes()).result is not None

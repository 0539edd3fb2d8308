"""`show` and `convert` as a person uses them: where no service runs, with an exit status that tells the verdict."""

import os
import pty
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from config.env import PROJECT
from games.territory.rules import read_json, read_sgf, write_sgf

SGF = PROJECT / "tests" / "reference" / "territory" / "sgf"
HANDMADE = PROJECT / "tests" / "reference" / "territory" / "sgf_handmade"
DUO = SGF / "duo-level6-1700.blksgf"
VARIATIONS = HANDMADE / "ok_variations_comments_annotations.blksgf"


def manage(*arguments: str | Path) -> tuple[int, str, str]:
    """Exit status, output and errors of a command in a process that knows of no service, settings or addresses."""
    ran = subprocess.run(
        [sys.executable, "manage.py", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=PROJECT,
        env={"PATH": os.environ["PATH"]},
        check=False,
        timeout=60,
    )
    assert "Traceback" not in ran.stderr
    return ran.returncode, ran.stdout, ran.stderr


# show


def test_the_end_of_a_game(tmp_path: Path) -> None:
    named = tmp_path / "game.blksgf"
    named.write_text(
        DUO.read_text().replace("GM[Blokus Duo]", "GM[Blokus Duo]PB[Ada]DT[2026-11-30]")
    )
    status, output, errors = manage("show", named)
    lines = output.splitlines()
    assert (status, errors) == (0, "")
    assert lines[0] == "Block Territory · Ada (blue) – orange · 2026-11-30"
    assert lines[1].split() == list("abcdefghijklmn")
    assert lines[-3].startswith("blue 74 (out), orange 66 (out); game over")
    assert lines[-2:] == ["ply 32 of 32: blue 1 n10", "completed: 1. Ada (blue) 74, 2. orange 66"]
    assert "\x1b" not in output


def test_a_ply() -> None:
    _, output, _ = manage("show", DUO, "--ply", "1")
    assert output.splitlines()[-1] == "ply 1 of 32: blue X e8,d9,e9,f9,e10"
    assert "blue 5, orange 0; orange to move" in output
    assert "completed" not in output
    _, output, _ = manage("show", DUO, "--ply", "0", "--attach")
    assert "blue 0, orange 0; blue to move" in output
    assert output.count("+") == 1


def test_what_is_said_of_a_ply_and_who_left_stand_with_it(tmp_path: Path) -> None:
    game = tmp_path / "game.blksgf"
    game.write_text("(;GM[Blokus]P1[Ada];1[a20]C[Well begun];LEFT[2:timeout]C[Gone];3[t1])")
    output = manage("show", game, "--ply", "1")[1]
    assert output.splitlines()[-3:] == ["ply 1 of 2", "yellow left: timeout", "Gone"]
    output = manage("show", game)[1]
    assert output.splitlines()[-1] == "ply 2 of 2: red 1 t1"


def test_colours_are_for_terminals() -> None:
    def shown(**environment: str) -> bytes:
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "manage.py", "show", str(DUO)],
            stdout=theirs,
            cwd=PROJECT,
            env={"PATH": os.environ["PATH"], **environment},
        )
        os.close(theirs)
        output = b""
        try:
            while chunk := os.read(ours, 65536):
                output += chunk
        except OSError:  # the end of a terminal whose other side is closed
            pass
        os.close(ours)
        assert process.wait(30) == 0
        return output

    assert b"\x1b[" in shown(TERM="xterm-256color")
    assert b"\x1b[" not in shown(TERM="xterm-256color", NO_COLOR="1")


def test_a_picture(tmp_path: Path) -> None:
    file = tmp_path / "board.svg"
    assert manage("show", DUO, "--svg", file, "--theme", "dark") == (0, "", "")
    dark = file.read_text()
    assert ET.fromstring(dark).tag.endswith("svg")
    assert manage("show", DUO, "--svg", "-", "--theme", "dark")[1] == dark
    assert manage("show", DUO, "--svg", "-")[1] != dark
    assert [path.name for path in tmp_path.iterdir()] == ["board.svg"]


# convert


@pytest.mark.parametrize("file", [DUO, VARIATIONS, HANDMADE / "ok_setup_in_later_node.blksgf"])
def test_there_and_back(tmp_path: Path, file: Path) -> None:
    there, back = tmp_path / "game.json", tmp_path / "game.blksgf"
    status, output, errors = manage("convert", file, there)
    assert (status, errors) == (0, "")
    assert output.startswith(f"{there}: Block Territory, ")
    record = read_sgf(file.read_bytes())
    assert read_json(there.read_text()) == record
    assert manage("convert", there, back)[0] == 0
    assert back.read_text() == write_sgf(record)


def test_a_file_that_is_there_is_replaced_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "GAME.SGF"
    file.write_text(DUO.read_text())
    assert manage("convert", file, file)[0] == 0
    assert file.read_text() == write_sgf(read_sgf(DUO.read_bytes()))
    assert file.stat().st_mode & 0o777 == 0o666 & ~_umask()
    assert list(tmp_path.iterdir()) == [file]


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask


# What is refused


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("show", "nowhere.json"), "nowhere.json cannot be read: No such file or directory."),
        (("show", "."), "the name of a record ends with .blksgf, .sgf, .json"),
        (("show", "README.md"), "the name of a record ends with .blksgf, .sgf, .json"),
        (("show", DUO, "--ply", "33"), "has 32 plies: --ply is from 0 to 32."),
        (("show", DUO, "--ply", "-1"), "has 32 plies: --ply is from 0 to 32."),
        (("show", DUO, "--theme", "pink"), "invalid choice: 'pink'"),
        (("show", DUO, "--svg", "nowhere/x.svg"), "nowhere/x.svg cannot be written: No such file"),
        (("show", HANDMADE / "bad_two_trees.blksgf"), "line 2: There is a second game tree"),
        (("show", HANDMADE / "loads_illegal_overlap.blksgf"), "line 1, node 2: The cell e10 is"),
        (("convert", HANDMADE / "bad_not_a_piece.blksgf", "x.json"), "[not-a-piece]"),
        (("convert", DUO, "x.txt"), "the name of a record ends with"),
        (("convert", DUO, "nowhere/x.json"), "cannot be written: No such file or directory."),
        (("convert", DUO), "the following arguments are required: OUT"),
    ],
)
def test_a_refusal_says_why_and_changes_nothing(
    arguments: tuple[str | Path, ...], why: str
) -> None:
    before = sorted(PROJECT.iterdir())
    status, output, errors = manage(*arguments)
    assert (status, output) == (2, "")
    assert why in errors
    assert sorted(PROJECT.iterdir()) == before


@pytest.mark.parametrize("command", ["show", "convert"])
def test_help_has_examples(command: str) -> None:
    status, output, _ = manage(command, "--help")
    assert status == 0
    assert f"python manage.py {command} game" in output

"""`replay_run` as a person uses it: a verdict, an exit status, and clear words for a broken file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from games.puzzle.rules import (
    Place,
    Record,
    Result,
    Rules,
    TakeBack,
    legal,
    place,
    seed_hash,
    start,
    take_back,
    write_json,
)

from .commands import manage

SEED = bytes(32)


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    """Two placements, the second made twice."""
    rules = Rules.of("easy", "8x8", undo="once")
    run = start(rules, SEED)
    commands: list[Place | TakeBack] = []
    for number in (0, 3, 7):
        pick = legal(run)[number]
        run, placed = place(run, SEED, pick.slot, pick.rotation, pick.at)
        commands.append(Place.of(pick.slot, pick.rotation, pick.at, placed))
        if number == 3:
            run = take_back(run)
            commands.append(TakeBack())
    record = Record(
        rules,
        SEED,
        tuple(commands),
        result=Result.of(run, "abandoned"),
        seed_hash=seed_hash(SEED),
    )
    file = tmp_path / "run.json"
    file.write_text(write_json(record))
    return file


def edit(file: Path, change: Callable[[Any], object]) -> None:
    data = json.loads(file.read_text())
    change(data)
    file.write_text(json.dumps(data))


def test_a_record_that_agrees(run_file: Path) -> None:
    status, output, errors = manage("replay_run", run_file)
    assert (status, errors) == (0, "")
    assert output.startswith(
        f"{run_file}: agrees: easy on 8x8, 2 placements, 1 taken back, 0 lines"
    )
    assert output.endswith("not over\n")


def test_a_record_that_differs(run_file: Path) -> None:
    edit(run_file, lambda data: data["result"].update(score=1000))
    edit(run_file, lambda data: data["commands"][0].update(points=9))
    status, output, _ = manage("replay_run", run_file)
    assert status == 1
    first, second, third = output.splitlines()
    assert ": differs: " in first
    assert second == "  command 1: it says 9 points, and 4 follow (wrong-points)"
    assert third.startswith("  score is said to be 1000, and is ")


def test_a_placement_that_cannot_be(run_file: Path) -> None:
    edit(run_file, lambda data: data["commands"][0].update(at="h8"))
    status, output, _ = manage("replay_run", run_file)
    assert status == 1
    assert "(outside-board)" in output.splitlines()[1]
    assert ", 0 placements," in output


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "This is no JSON text: Expecting value"),
        (b"\x00\xff", "This is no JSON text"),
        (b"{}", "This is no record of schema 1, the one that is known here. [bad-schema]"),
        (b'{"schema": 1}', "generator is missing. [bad-field]"),
    ],
)
def test_a_file_that_is_no_record(tmp_path: Path, content: bytes, says: str) -> None:
    file = tmp_path / "broken.json"
    file.write_bytes(content)
    status, output, errors = manage("replay_run", file)
    assert (status, output) == (2, "")
    assert errors.startswith(f"{file}: {says}")


def test_a_seed_that_is_still_secret(run_file: Path) -> None:
    edit(run_file, lambda data: data.update(seed=None))
    status, _, errors = manage("replay_run", run_file)
    assert status == 2
    assert "it is told when the run or the day has ended. [no-seed]" in errors


def test_of_several_files_the_worst_sets_the_status(run_file: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text(run_file.read_text())
    edit(wrong, lambda data: data.update(seed_hash="0" * 64))
    assert manage("replay_run", run_file, wrong)[0] == 1
    status, output, errors = manage("replay_run", run_file, tmp_path / "none.json", wrong)
    assert status == 2
    assert output.count(": agrees: ") == output.count(": differs: ") == 1
    assert errors == f"{tmp_path / 'none.json'} cannot be read: No such file or directory.\n"
    assert manage("replay_run", tmp_path)[2] == f"{tmp_path} cannot be read: Is a directory.\n"

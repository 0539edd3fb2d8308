"""`perft` and `verify_games` as a person uses them: what they print, and the exit status as the verdict."""

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import MappingProxyType

import pytest
from django.core.management import CommandError, call_command

from config.env import PROJECT
from games.territory.management.commands import perft, verify_games
from tests.support.proc import descendants, eventually, living

OWN = PROJECT / "tests" / "reference" / "territory" / "games.jsonl"
LINES = OWN.read_text().splitlines()


def manage(*arguments: str | Path) -> subprocess.Popen[str]:
    """A command in a process of its own that knows of no service, settings or addresses."""
    return subprocess.Popen(
        [sys.executable, "manage.py", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=PROJECT,
        env={"PATH": os.environ["PATH"]},
        start_new_session=True,
    )


def ran(*arguments: str | Path) -> tuple[int, str, str]:
    """Exit status, output and errors of a command."""
    process = manage(*arguments)
    output, errors = process.communicate(timeout=60)
    return process.returncode, output, errors


def called(module: object, *arguments: str | Path) -> tuple[int, str, str]:
    """The same within this process."""
    output, errors = io.StringIO(), io.StringIO()
    status = 0
    command = module.Command()  # type: ignore[attr-defined]
    try:
        call_command(command, *map(str, arguments), "--jobs=1", stdout=output, stderr=errors)
    except SystemExit as end:
        status = int(end.code or 0)
    return status, output.getvalue(), errors.getvalue()


@pytest.fixture
def spoilt(tmp_path: Path) -> Path:
    """Three games: a true one, one with two wrong figures, and a true one after a blank line."""
    game = json.loads(LINES[1])
    game["moves"][4]["n"] += 1
    game["points"][0] += 1
    path = tmp_path / "spoilt.jsonl"
    path.write_text(f"{LINES[0]}\n{json.dumps(game)}\n\n{LINES[2]}\n")
    return path


# perft


def test_the_count_is_the_last_line_and_the_verdict_the_status() -> None:
    status, output, errors = ran("perft", "duo", "2", "--jobs", "2")
    assert (status, output) == (0, "171396\n")
    assert "This is the known count." in errors


def test_a_count_that_differs_from_the_known_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = MappingProxyType({"duo": (1, 414, 171_397)})
    monkeypatch.setattr(perft, "KNOWN_COUNTS", wrong)
    status, output, errors = called(perft, "duo", "2")
    assert (status, output) == (1, "171396\n")
    assert "the known count is 171397" in errors


def test_where_no_count_is_known_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perft, "KNOWN_COUNTS", MappingProxyType({"duo": (1,)}))
    status, output, errors = called(perft, "duo", "1")
    assert (status, output) == (0, "414\n")
    assert "No count is known" in errors


@pytest.mark.parametrize("key", ["duo", "classic-3"])
def test_the_depth_0_is_the_empty_sequence(key: str) -> None:
    assert called(perft, key, "0")[:2] == (0, "1\n")


def test_divided_by_first_piece_or_move_the_parts_add_up() -> None:
    pieces = called(perft, "junior", "2", "--divide", "piece")[1].splitlines()
    moves = called(perft, "junior", "2", "--divide")[1].splitlines()
    assert (len(pieces), len(moves)) == (12 + 1, 189 + 1)
    assert "1: 189" in pieces
    assert "V3: 2268" in pieces
    assert "1 e10: 189" in moves
    for lines in (pieces, moves):
        assert sum(int(line.rpartition(": ")[2]) for line in lines[:-1]) == 35721 == int(lines[-1])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("trigon", "2"), "invalid choice: 'trigon' (choose from"),
        (("duo", "-1"), "'-1' is not a whole number from 0."),
        (("duo", "two"), "'two' is not a whole number from 0."),
        (("duo", "2", "--jobs", "0"), "'0' is not a whole number from 1."),
        (("duo",), "required: DEPTH"),
    ],
)
def test_a_wrong_call_of_perft_is_told_in_a_sentence(arguments: tuple[str, ...], says: str) -> None:
    status, output, errors = ran("perft", *arguments)
    assert (status, output) == (2, "")
    assert says in errors.splitlines()[-1]
    with pytest.raises(CommandError):
        call_command(perft.Command(), *arguments)


# verify_games


def test_true_games_have_no_difference() -> None:
    status, output, errors = ran("verify_games", OWN, "--jobs", "2")
    positions = sum(len(json.loads(line)["moves"]) for line in LINES)
    counts = f"{len(LINES)} games, {positions:,} positions, 0 differences"
    assert (status, errors) == (0, "")
    assert output.splitlines() == [f"{OWN}: {counts}", f"total of 1 files: {counts}"]


def test_a_difference_is_shown_with_file_line_and_field_and_fails(
    spoilt: Path, tmp_path: Path
) -> None:
    true = tmp_path / "true.jsonl"
    true.write_text(LINES[0])
    status, output, errors = ran("verify_games", spoilt, true)
    assert (status, errors) == (1, "")
    name = json.loads(LINES[1])["id"]
    n = json.loads(LINES[1])["moves"][4]["n"]
    first, second, *counts = output.splitlines()
    assert first == f"{spoilt}:2: {name}: moves[4].n: recorded {n + 1}, found {n}"
    assert second.startswith(f"{spoilt}:2: {name}: points: recorded [")
    assert counts[0].startswith(f"{spoilt}: 3 games, ")
    assert [line.rpartition(", ")[2] for line in counts] == [
        "2 differences",
        "0 differences",
        "2 differences",
    ]


def test_many_differences_are_counted_and_all_are_shown_on_request(tmp_path: Path) -> None:
    game = json.loads(LINES[0])
    for turn in game["moves"]:
        turn["n"] += 1
    many = len(game["moves"])
    path = tmp_path / "many.jsonl"
    path.write_text(json.dumps(game))
    status, output, _ = called(verify_games, path)
    assert status == 1
    assert output.count("recorded") == verify_games.SHOWN < many
    assert f"… and {many - verify_games.SHOWN} more; --all shows them." in output
    status, output, _ = called(verify_games, path, "--all")
    assert status == 1
    assert output.count("recorded") == many
    assert "more" not in output


def test_what_cannot_be_read_is_named_and_the_rest_is_verified(
    spoilt: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty.jsonl").write_text("\n\n")
    lines = tmp_path / "lines.jsonl"
    illegal = json.loads(LINES[0])
    illegal["moves"][0]["m"] = "a1"
    lines.write_bytes(
        b"\n".join(
            [
                LINES[0].encode(),
                b"nonsense",
                b'{"id": 1}',
                b"\xff\xfe",
                *[json.dumps(illegal).encode()],
            ]
        )
    )
    missing = tmp_path / "missing.jsonl"
    status, output, errors = ran(
        "verify_games", lines, tmp_path / "empty.jsonl", missing, tmp_path, spoilt
    )
    assert status == 2
    assert "Traceback" not in errors
    told = errors.splitlines()
    assert len(told) == 7
    for line, begins, says in (
        (told[0], f"{lines}:2: ", "malformed"),
        (told[1], f"{lines}:3: ", "`$.id`"),
        (told[2], f"{lines}:4: ", "no record"),
        (told[3], f"{lines}:5: ", "moves[0].m: a1: Blue's first piece has to cover e10."),
        (told[4], f"{tmp_path}/empty.jsonl: ", "no game"),
        (told[5], f"{missing}: ", "No such file"),
        (told[6], f"{tmp_path}: ", "Is a directory"),
    ):
        assert line.startswith(begins)
        assert says in line
    assert f"{lines}: 1 games, " in output
    assert output.splitlines()[-1].endswith(", 2 differences, 7 unreadable")


def test_without_files_the_call_is_wrong() -> None:
    status, output, errors = ran("verify_games")
    assert (status, output) == (2, "")
    assert "required: FILE" in errors


# Both


@pytest.mark.parametrize("name", ["perft", "verify_games"])
def test_help_ends_with_examples(name: str) -> None:
    status, output, _ = ran(name, "--help")
    assert status == 0
    assert "Exit status" in output
    assert f"python manage.py {name} " in output.partition("examples:")[2]


@pytest.fixture
def counting() -> Iterator[subprocess.Popen[str]]:
    """A count that takes minutes, with two processes at work."""
    process = manage("perft", "junior", "4", "--jobs", "2")
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@pytest.mark.parametrize(
    ("send", "number"),
    [(os.killpg, signal.SIGINT), (os.kill, signal.SIGINT), (os.kill, signal.SIGTERM)],
    ids=["Ctrl-C", "interrupt", "terminate"],
)
def test_an_interrupt_ends_all_processes_and_says_nothing(
    counting: subprocess.Popen[str], send: Callable[[int, int], None], number: signal.Signals
) -> None:
    """At a terminal Ctrl-C reaches the whole group, a script's signal only the command."""
    assert eventually(lambda: len(descendants(counting.pid)) == 2)
    children = descendants(counting.pid)
    send(counting.pid, number)
    output, errors = counting.communicate(timeout=30)
    assert (counting.returncode, output, errors) == (130, "", "")
    assert eventually(lambda: not living(children), seconds=5)


def test_a_person_at_a_terminal_sees_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    from common import workers

    monkeypatch.setattr(workers, "PROGRESS_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(workers, "PROGRESS_EVERY_SECONDS", 0.0)
    for shows in (True, False):
        terminal = io.StringIO()
        monkeypatch.setattr(terminal, "isatty", lambda shows=shows: shows)
        monkeypatch.setattr(sys, "stderr", terminal)
        assert list(workers.watched(iter("abc"), 3, "games")) == list("abc")
        assert ("2 of 3 games" in terminal.getvalue()) is shows
        assert terminal.getvalue().endswith("\r\x1b[K") is shows

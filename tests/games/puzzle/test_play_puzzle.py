"""`play_puzzle` played really: by lines through a pipe, and by keys in a terminal."""

import fcntl
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from config.env import PROJECT
from games.puzzle.management.keys import HELP
from games.puzzle.rules import Rules, legal, place, read_json, replay, start

from .commands import ENVIRONMENT, manage

SEED = "00" * 32
BARS = 6236


# By lines


def test_a_run_by_lines(tmp_path: Path) -> None:
    """The first hand of this seed: a square, a corner of five, a square."""
    file = tmp_path / "run.json"
    typed = "? 1 a1\n1 a1\n2 e5 1\nu\n\nU\n9 a1\n1 a1\nq\nnever read"
    status, output, errors = manage(
        "play_puzzle", "--undo", "once", "--seed", SEED, "--save", file, typed=typed
    )
    assert (status, errors) == (0, "")
    assert "would clear nothing" in output
    assert output.count("\n+4\n") == output.count("\n+5\n") == 1
    assert "One placement of this run has been taken back already. [undo-used]" in output
    assert "'9 a1' is none of these:" in output
    assert "There is no block in this slot. [block-not-in-hand]" in output
    assert output.endswith(f"The seed was {SEED}.\n")
    assert "\x1b" not in output
    replayed = replay(read_json(file.read_text()))
    assert (replayed.verdict, replayed.run.score, replayed.run.turn) == ("agrees", 4, 3)
    assert manage("replay_run", file)[0] == 0


def test_a_preview_shows_the_lines_that_would_clear() -> None:
    """The first hand of this seed: bars of four and three, a single square."""
    typed = "1 a1\n2 e1\n? 3 h1\n3 h1\n"
    options = ("--board", "8x8", "--seed", f"{BARS:064x}")
    _, output, _ = manage("play_puzzle", *options, typed=typed)
    assert "\n  1[# # # # # # # o]1\n" in output
    assert "would clear row 1" in output
    assert "+11; cleared row 1 (×1); a new hand" in output


def test_a_run_to_its_end(tmp_path: Path) -> None:
    rules = Rules.of("hard", "8x8")
    run, lines = start(rules, bytes(32)), []
    while not run.over:
        pick = legal(run)[-1]
        run, _ = place(run, bytes(32), pick.slot, pick.rotation, pick.at)
        lines.append(f"{pick.slot + 1} {pick.at}")
    file = tmp_path / "run.json"
    options = ("--level", "hard", "--board", "8x8", "--seed", SEED, "--save", file)
    status, output, _ = manage("play_puzzle", *options, typed="\n".join([*lines, "1 a1"]))
    assert status == 0
    assert "no moves left" in output
    assert "no room" in output
    assert "[run-over]" in output
    record = read_json(file.read_text())
    assert record.result is not None
    assert (record.result.status, record.result.score) == ("over", run.score)


def test_the_same_seed_deals_the_same_and_another_does_not() -> None:
    def shown(*options: str) -> str:
        return manage("play_puzzle", *options, typed="q\n")[1].partition("\n")[2]

    assert shown("--seed", SEED) == shown("--seed", SEED)
    assert shown("--seed", "11" * 32) != shown("--seed", SEED)


@pytest.mark.parametrize("typed", [b"", b"\xff\xfe\n", b"1\n", b"1 a1 9\n", b"?\n", b"x" * 100_000])
def test_any_input_is_answered(typed: bytes) -> None:
    status, output, errors = manage("play_puzzle", "--seed", SEED, typed=typed)
    assert (status, errors) == (0, "")
    assert output.endswith(f"The seed was {SEED}.\n")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--level", "daily"), "invalid choice: 'daily'"),
        (("--level", "custom"), "The level custom wants rotation: on, off."),
        (("--level", "hard", "--rotation", "on"), "The level hard has rotation off"),
        (("--seed", "00"), "argument --seed: invalid"),
        (("--seed", "z" * 64), "argument --seed: invalid"),
        (("--save", "nowhere/run.json"), "nowhere/run.json cannot be written: No such file"),
    ],
)
def test_what_is_refused(options: tuple[str, ...], says: str) -> None:
    status, _, errors = manage("play_puzzle", *options, typed="q\n")
    assert status == 2
    assert says in errors


# By keys


class Terminal:
    """The side of a terminal at which a person sits."""

    def __init__(self, ours: int) -> None:
        self.ours = ours
        self.seen = ""

    def until(self, text: str) -> str:
        """What was drawn up to and with this text since the last time."""
        while text not in self.seen:
            ready, _, _ = select.select([self.ours], [], [], 60)
            assert ready, f"{text!r} was not drawn in a minute, but {self.seen!r}"
            try:
                more = os.read(self.ours, 65536)
            except OSError:  # the other side is closed
                more = b""
            assert more, f"{text!r} was never drawn, but {self.seen!r}"
            self.seen += more.decode().replace("\r\n", "\n")
        before, _, self.seen = self.seen.partition(text)
        return before + text

    def press(self, *keys: str) -> str:
        """Press keys, and see the frame after the last."""
        frame = ""
        for key in keys:
            os.write(self.ours, key.encode())
            frame = re.sub("\x1b\\[[0-9;?]*[A-Za-z]", "", self.until(HELP))
        return frame


def _at_a_terminal() -> None:
    """So that Ctrl-C reaches it, and is heeded: whoever runs these tests in the background ignores it."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def terminal(*options: str | Path) -> Iterator[tuple[Terminal, "subprocess.Popen[bytes]"]]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "manage.py", "play_puzzle", *map(str, options)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=PROJECT,
        env=ENVIRONMENT,
        start_new_session=True,
        preexec_fn=_at_a_terminal,
    )
    os.close(theirs)
    person = Terminal(ours)
    try:
        person.until(HELP)
        yield person, process
    finally:
        os.close(ours)
        process.kill()
        process.wait(30)


RIGHT, LEFT, UP, DOWN = "\x1b[C", "\x1b[D", "\x1b[A", "\x1b[B"


def test_a_run_by_keys(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    with terminal("--undo", "once", "--seed", SEED, "--save", file) as (person, process):
        assert "block 2 at f6" in person.press("2")
        assert "block 2 at e5" in person.press(LEFT, DOWN)
        assert "  7 . . . . . . o . . . 7\n" in person.press("x")
        assert "  7 . . . . o . . . . . 7\n" in person.press("R")
        assert "+5" in person.press(" ")
        frame = person.press("1", LEFT)
        assert "  5 . . . o x # # . . . 5\n" in frame
        assert "occupied" in person.press("\r")
        assert "There is no block in this slot." in person.press("2")
        assert "score 0\n" in person.press("u")
        assert "taken back already" in person.press("U")
        for _ in range(12):  # the edge stops it
            frame = person.press(DOWN, "\x1bOD")
        assert " at a1" in frame
        assert "+" in person.press("\n")
        os.write(person.ours, b"q")
        person.until(f"The seed was {SEED}.")
        assert process.wait(30) == 0
    replayed = replay(read_json(file.read_text()))
    assert replayed.verdict == "agrees"
    assert replayed.run.turn == 3


def test_keys_that_arrive_together_and_arrows_that_arrive_in_parts() -> None:
    with terminal("--seed", SEED) as (person, _):
        os.write(person.ours, f"1{UP}{RIGHT}".encode())
        person.until("block 1 at g7")
        for part in (b"\x1b", b"[", b"D"):
            os.write(person.ours, part)
        person.until("block 1 at f7")


def test_keys_without_a_meaning_do_nothing() -> None:
    """Among them are Delete, F3 and Ctrl with an arrow, whose bytes hold digits and letters that have one."""
    with terminal("--seed", SEED) as (person, _):
        person.press("2")
        for key in ("\x1b[3~", "\x1bOR", "\x1b[1;5C", "é", "\t", "7"):
            assert "block 2 at f6" in person.press(key)


def test_without_rotation_a_block_does_not_turn() -> None:
    with terminal("--level", "normal", "--seed", SEED) as (person, _):
        assert "1 quarter turns are not allowed here, only none." in person.press("r")


@pytest.mark.parametrize("end", [b"\x03", b"\x1c"], ids=["Ctrl-C", "a lost terminal"])
def test_however_it_ends_the_record_is_whole(tmp_path: Path, end: bytes) -> None:
    file = tmp_path / "run.json"
    with terminal("--seed", SEED, "--save", file) as (person, process):
        person.press(" ")
        if end == b"\x03":
            os.write(person.ours, end)
            person.until("The seed was")
            assert process.wait(30) == 0
    assert replay(read_json(file.read_text())).run.turn == 1


def test_colours_are_for_who_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    coloured = "\x1b[48;5;"
    with terminal("--seed", SEED) as (person, _):
        os.write(person.ours, b"1")
        assert coloured in person.until(HELP)
    monkeypatch.setitem(ENVIRONMENT, "NO_COLOR", "1")
    with terminal("--seed", SEED) as (person, _):
        os.write(person.ours, b"1")
        assert coloured not in person.until(HELP)

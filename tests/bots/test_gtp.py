"""`manage.py gtp`: the protocol within this process, and whole games as a referee plays them, between two processes."""

import os
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bots.engine import VERSION
from bots.gtp import Session
from config.env import PROJECT
from games.territory.proofs import final_score
from games.territory.rules import VARIANTS, Position, parse_move, read_sgf, variant
from tests.support.proc import eventually

SGF = PROJECT / "tests" / "reference" / "territory" / "sgf"
DUO = SGF / "duo-level6-1700.blksgf"
LEVEL = "starter"
KEPT = ("PATH", "HOME", "XDG_CACHE_HOME", "KADO_KERNELS")
"""What a process needs to know: beside the program, where the engine keeps its compiled code."""


def session(key: str = "duo", seed: int = 1) -> Session:
    return Session(variant(key), LEVEL, seed=seed)


def said(to: Session, *lines: str) -> str:
    """What the last of the commands is answered, without the sign of success; all have to succeed."""
    answer = "= \n\n"
    for line in lines:
        answer = to.answer(line)
        assert answer.startswith("= "), f"{line}: {answer}"
        assert answer.endswith("\n\n")
        assert "\n\n" not in answer[:-1]
    return answer[2:-2]


# The form of commands and answers


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("protocol_version\n", "= 2\n\n"),
        ("12 protocol_version\n", "=12 2\n\n"),
        ("0 protocol_version", "=0 2\n\n"),
        ("clear_board\n", "= \n\n"),
        ("7 clear_board\n", "=7 \n\n"),
        ("  protocol_version \t# which one?\n", "= 2\n\n"),
        ("protocol_version\r\n", "= 2\n\n"),
        ("\tproto\x00col_\x1bversion\x7f\n", "= 2\n\n"),
        ("known_command\tplay\n", "= true\n\n"),
        ("known_command savesgf2\n", "= false\n\n"),
        ("\n", ""),
        ("", ""),
        (" \t\r\n", ""),
        ("# play b e10\n", ""),
        ("nonsense\n", "? unknown command\n\n"),
        ("3 nonsense b\n", "?3 unknown command\n\n"),
        ("3\n", "?3 unknown command\n\n"),
        ("Play b e10\n", "? unknown command\n\n"),
    ],
)
def test_the_form_of_answers(line: str, answer: str) -> None:
    assert session().answer(line) == answer


def test_who_it_is() -> None:
    own = session()
    assert said(own, "name") == "Kado"
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    assert said(own, "version") == VERSION == project["version"]
    commands = said(own, "list_commands").split("\n")
    assert {
        *("protocol_version", "name", "version", "list_commands", "known_command", "quit"),
        *("set_game", "clear_board", "play", "genmove", "reg_genmove", "undo", "showboard"),
        *("all_legal", "final_score", "cputime", "loadsgf", "savesgf", "g"),
    } <= set(commands)
    assert all(said(own, f"known_command {name}") == "true" for name in commands)
    assert float(said(own, "cputime")) > 0


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("play", "usage: play COLOUR MOVE"),
        ("play b", "usage: play COLOUR MOVE"),
        ("genmove", "usage: genmove COLOUR"),
        ("genmove b w", "usage: genmove COLOUR"),
        ("p", "usage: p MOVE"),
        ("g b", "usage: g"),
        ("loadsgf", "usage: loadsgf FILE [MOVE_NUMBER]"),
        ("savesgf", "usage: savesgf FILE"),
        ("set_game", "usage: set_game GAME"),
        ("known_command", "usage: known_command COMMAND"),
        ("play green e10", "unknown colour; it may be blue, orange, 1, 2, b, w"),
        ("genmove 3", "unknown colour"),
        ("reg_genmove x", "unknown colour"),
        ("all_legal x", "unknown colour"),
        ("play b e10,", "'' is not a cell"),
        ("play b z99", "The cell z99 is outside the board."),
        ("play b e10,e12", "These cells are not the shape of a piece."),
        ("play b a1", "Blue's first piece has to cover e10."),
        ("play b " + "e10," * 99, "at most 64 characters"),
        ("play b pass", "illegal move: a colour that can place something may not pass"),
        ("play w PASS", "illegal move: a colour that can place something may not pass"),
        ("undo", "cannot undo"),
        ("get_value", "no move has been chosen in this game"),
        ("final_score", "The game is still being played."),
        ("set_game Chess", "unknown game; it may be Blokus Duo, Blokus, "),
        ("set_random_seed -1", "-1 is not a whole number"),
        ("set_random_seed " + "9" * 5000, "is not a whole number"),
        ("loadsgf nowhere.blksgf", "No such file or directory"),
        ("loadsgf tests", "Is a directory"),
        ("loadsgf manage.py", "line "),
        (f"loadsgf {DUO} x", "x is not a whole number"),
        ("savesgf nowhere/at/all.blksgf", "No such file or directory"),
        ("savesgf " + "x" * 5000, "File name too long"),
    ],
)
def test_what_is_refused_changes_nothing(
    line: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(PROJECT)
    own = session()
    answer = own.answer(f"5 {line}")
    assert answer.startswith("?5 ")
    assert answer.endswith("\n\n")
    assert says in answer
    assert own.position == Position.start(variant("duo"))
    assert said(own, "play b e10") == ""


# Moves, turns and passes


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ("duo", [("b", "w"), ("B", "W"), ("1", "2"), ("blue", "Orange")]),
        ("classic", [("1", "2", "3", "4"), ("BLUE", "yellow", "red", "green")]),
    ],
)
def test_names_of_colours(key: str, names: list[tuple[str, ...]]) -> None:
    first = variant(key).first_cells
    for each in names:
        own = session(key)
        for name, cell in zip(each, first, strict=True):
            said(own, f"play {name} {cell.upper()}")
        assert [own.position.points(colour) for colour in range(len(each))] == [1] * len(each)


@pytest.mark.parametrize("key", VARIANTS)
def test_games_are_called_as_in_records(key: str) -> None:
    own = session("classic" if key == "duo" else "duo")
    said(own, "g", f"set_game {variant(key).sgf_game.upper()}")
    assert own.position == Position.start(variant(key))


def test_a_chosen_move_is_played_or_only_told() -> None:
    own = session()
    told = said(own, "reg_genmove b")
    assert parse_move(told, variant("duo")) in own.position.legal()
    assert own.position == Position.start(variant("duo"))
    played = said(own, "genmove b")
    assert own.position == Position.start(variant("duo")).play(parse_move(played, 14))
    said(own, "p j5, k5")
    assert own.position.points(1) == 2
    assert own.position.turn == 0
    said(own, "g")
    assert own.position.turn == 1
    assert 0.0 <= float(said(own, "get_value")) <= 1.0


def test_all_legal_moves_are_listed() -> None:
    own = session("junior")
    for colour, name in enumerate("bw"):
        moves = said(own, f"all_legal {name}").split("\n")
        assert len(moves) == 189
        assert {parse_move(move, 14) for move in moves} == set(own.position.legal(colour))


def test_undo_takes_back_move_after_move() -> None:
    own = session()
    positions = []
    for _ in range(6):
        positions.append(own.position)
        said(own, "g")
    for position in reversed(positions):
        said(own, "undo")
        assert own.position == position
    assert own.answer("undo") == "? cannot undo\n\n"


def test_a_colour_that_is_not_to_move_moves_all_the_same(tmp_path: Path) -> None:
    own = session("classic")
    said(own, "play 1 a20", "play 1 b19,c19", "play 4 a1", "genmove 2", "genmove 2")
    points = [own.position.points(colour) for colour in range(4)]
    assert (points[0], points[2], points[3]) == (3, 0, 1)
    assert points[1] >= 2
    assert own.position.turn == 2
    file = tmp_path / "game.blksgf"
    said(own, f"savesgf {file}")
    assert file.read_text().count("PL[") == 4  # for each move but the first one
    other = session()
    said(other, f"loadsgf {file}")
    assert other.position == own.position
    said(own, "undo", "undo", "undo", "undo")
    assert own.position == Position.start(variant("classic")).play(parse_move("a20", 20))
    assert own.answer("play 1 b20,c20").startswith(
        "? The piece touches Blue's square a20 along an edge"
    )


def test_a_colour_that_is_out_passes_and_no_other() -> None:
    own = session()
    # Before the last move of this game Orange can place nothing any more.
    said(own, f"loadsgf {DUO} 32")
    before = own.position
    assert said(own, "genmove w") == said(own, "reg_genmove w") == "pass"
    said(own, "play w pass")
    assert said(own, "all_legal w") == ""
    assert own.answer("play b pass").startswith("? illegal move")
    assert own.answer("play w a1").startswith("? Orange is not to move")
    assert own.position == before
    assert said(own, "genmove b") != "pass"


def test_a_colour_that_nobody_has_found_to_be_out_yet_passes_too() -> None:
    own = session()
    # It is Blue's turn; only when Orange's comes do the rules look what it can place.
    said(own, f"loadsgf {DUO} 31")
    assert own.position.is_playing(1)
    assert not own.position.has_placement(1)
    assert said(own, "genmove w") == "pass"
    said(own, "play w pass")


def test_when_the_game_is_over_everybody_passes() -> None:
    own = session()
    said(own, f"loadsgf {DUO}")
    for line in ("genmove b", "genmove w", "g", "reg_genmove b"):
        assert said(own, line) == "pass"
    said(own, "play b pass", "play w pass")
    assert own.answer("p a1").startswith("? The game is over.")
    assert said(own, "final_score") == "B+8"
    said(own, "undo")
    assert own.answer("final_score").startswith("?")


# Chance


def whole_game(own: Session) -> list[str]:
    said(own, "clear_board")
    moves = []
    while (move := said(own, "g")) != "pass":
        moves.append(move)
    return moves


def test_a_seed_repeats_the_games_of_a_session_and_no_two_of_them_are_the_same() -> None:
    own, other = session(seed=5), session(seed=5)
    first, second = whole_game(own), whole_game(own)
    assert first != second
    assert [whole_game(other), whole_game(other)] == [first, second]
    assert whole_game(session(seed=6)) != first
    said(own, "set_random_seed 5")
    assert whole_game(own) == first


# Files and pictures


def test_a_record_is_loaded_up_to_a_move() -> None:
    replay = read_sgf(DUO.read_text()).replay()
    plies = [replay.positions[number] for number in replay.plies()]
    own = session("classic")
    for number in (1, 2, 17, len(plies), len(plies) + 1, 999_999):
        said(own, f"loadsgf {DUO} {number}")
        expected = plies[min(number, len(plies) + 1) - 2] if number > 1 else replay.positions[0]
        assert own.position == expected
    said(own, f"loadsgf {DUO}")
    assert own.position == replay.end


def test_what_is_saved_is_what_was_loaded_and_played(tmp_path: Path) -> None:
    handmade = (
        PROJECT / "tests/reference/territory/sgf_handmade/ok_variations_comments_annotations.blksgf"
    )
    file = tmp_path / "game.blksgf"
    own = session()
    said(own, f"loadsgf {handmade}", f"savesgf {file}")
    before, after = read_sgf(handmade.read_text()), read_sgf(file.read_text())
    line = [
        replace(before.nodes[number], parent=at - 1) for at, number in enumerate(before.main_line)
    ]
    assert after.nodes == tuple(line)
    assert len(line) < len(before.nodes)
    move = said(own, "g")
    said(own, f"savesgf {file}")
    record = read_sgf(file.read_text())
    assert record.nodes[:-1] == tuple(line)
    assert record.nodes[-1].move == parse_move(move, record.variant)
    said(own, f"loadsgf {DUO}", f"savesgf {file}")
    assert "RE[B+8]" in file.read_text()


def test_the_board_is_shown() -> None:
    own = session()
    said(own, "play b e10")
    lines = said(own, "showboard").split("\n")
    assert lines[0] == ""
    assert lines[6] == " 10 . . . .*B . . . . . . . . . 10"
    assert lines[-1] == "blue 1, orange 0; orange to move; last move e10"


# Processes


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "manage.py", "gtp", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=PROJECT,
        env={name: os.environ[name] for name in KEPT if name in os.environ},
    )


class Engine:
    """A process that a referee asks."""

    def __init__(self, *arguments: str) -> None:
        self.process = start(*arguments)

    def ask(self, command: str) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        text = ""
        while not text.endswith("\n\n"):
            line = self.process.stdout.readline()
            assert line, f"{command}: the engine has ended"
            text += line
        assert text.startswith("= "), f"{command}: {text}"
        return text[2:-2]


@pytest.fixture(scope="module")
def engines() -> Iterator[tuple[Engine, Engine]]:
    """Two engines of different levels, which end by `quit` and say nothing but answers."""
    both = Engine("--level", "starter", "--seed", "1"), Engine("--level", "beginner")
    yield both
    for engine in both:
        output, errors = engine.process.communicate("quit\n", timeout=300)
        assert (engine.process.returncode, output, errors) == (0, "= \n\n", "")


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True], ids=["turns", "every colour in turn"])
@pytest.mark.parametrize("key", VARIANTS)
def test_a_referee_plays_a_whole_game(
    key: str, *, strict: bool, engines: tuple[Engine, Engine]
) -> None:
    """As Pentobi's referee does it, which asks those who can move; and as one that lets the others pass."""
    on = variant(key)
    for engine in engines:
        engine.ask(f"set_game {on.sgf_game}")
        engine.ask("clear_board")
    position, colour, passes = Position.start(on), 0, 0
    while passes < len(on.colours) if strict else not position.is_over:
        if not strict:
            assert position.turn is not None
            colour = position.turn
        # Seat 0 is played by the first, all others by the second; a colour without a seat by any.
        own = position.seat_of(colour) or 0
        mover, other = engines if own == 0 else engines[::-1]
        name = "bw"[colour] if len(on.colours) == 2 else str(colour + 1)
        legal = position.legal(colour)
        assert len(mover.ask(f"all_legal {name}").split()) == len(legal)
        move = mover.ask(f"genmove {name}")
        other.ask(f"play {name} {move}")
        if move == "pass":
            assert not legal
            passes += 1
        else:
            position, passes = position.play(parse_move(move, on), colour), 0
        colour = (colour + 1) % len(on.colours)
    for engine in engines:
        assert engine.ask("final_score") == final_score(position)


def test_one_call_from_a_shell() -> None:
    process = start("--variant", "duo", "--level", "expert", "--simulations", "20")
    output, errors = process.communicate(
        "set_game Blokus Duo\ngenmove b\nquit\nname\n", timeout=300
    )
    assert (process.returncode, errors) == (0, "")
    first, second, third, end = output.split("\n\n")
    assert (first, third, end) == ("= ", "= ", "")
    assert parse_move(second[2:], 14) in Position.start(variant("duo")).legal()


def test_the_end_of_the_input_ends_it_quietly() -> None:
    process = start("--level", LEVEL)
    output, errors = process.communicate("1 na\rme\r\n\xff\n# no more", timeout=300)
    assert (process.returncode, output, errors) == (0, "=1 Kado\n\n? unknown command\n\n", "")


def test_an_interrupt_ends_it_quietly() -> None:
    engine = Engine("--level", LEVEL)
    engine.ask("name")
    engine.process.send_signal(signal.SIGINT)
    output, errors = engine.process.communicate(timeout=300)
    assert (engine.process.returncode, output, errors) == (130, "", "")


def test_a_referee_that_goes_away_ends_it_quietly() -> None:
    engine = Engine("--level", LEVEL)
    engine.ask("name")
    process = engine.process
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    process.stdin.write("showboard\n" * 3)
    process.stdin.flush()
    assert eventually(lambda: process.poll() is not None)
    assert (process.returncode, process.stderr.read()) == (0, "")
    process.stderr.close()
    process.stdin.close()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--variant", "trigon"), "invalid choice: 'trigon'"),
        (("--level", "genius"), "invalid choice: 'genius'"),
        (("--seconds", "0"), "'0' is not a number of seconds above 0."),
        (("--seconds", "nan"), "'nan' is not a number of seconds above 0."),
        (("--simulations", "0"), "'0' is not a whole number from 1."),
        (("--seconds", "1", "--simulations", "5"), "not allowed with argument"),
    ],
)
def test_a_wrong_call_is_told_in_a_sentence(arguments: tuple[str, ...], says: str) -> None:
    process = start(*arguments)
    output, errors = process.communicate(timeout=300)
    assert (process.returncode, output) == (2, "")
    assert says in errors.splitlines()[-1]


def test_help_ends_with_examples() -> None:
    process = start("--help")
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    assert "python manage.py gtp " in output.partition("examples:")[2]

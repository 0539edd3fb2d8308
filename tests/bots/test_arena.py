"""`manage.py arena`: fair games, figures that are right, and matches that go on after whatever ended them."""

import doctest
import io
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import msgspec
import pytest
from django.core.management import CommandError, call_command

from bots import arena
from bots.arena import ArenaError, Contestant, Game, Match, Tally, play
from bots.management.commands import arena as command
from bots.management.results import Results, ResultsError
from common import workers
from config.env import PROJECT
from games.polyomino import PIECES
from games.territory.rules import VARIANTS, Move, Position, Record, parse_move, variant
from tests.support.proc import eventually

KEPT = ("PATH", "HOME", "XDG_CACHE_HOME", "KADO_KERNELS")
"""What a process needs to know: beside the program, where the engine keeps its compiled code."""
PLAIN = Match("duo", "largest", "random", seed=1)


def manage(*arguments: str | Path) -> subprocess.Popen[str]:
    """The command in a process of its own that knows of no service, settings or addresses."""
    return subprocess.Popen(
        [sys.executable, "manage.py", "arena", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=PROJECT,
        env={name: os.environ[name] for name in KEPT if name in os.environ},
        start_new_session=True,
    )


def ran(*arguments: str | Path) -> tuple[int, str, str]:
    """Exit status, output and errors of the command."""
    process = manage(*arguments)
    output, errors = process.communicate(timeout=300)
    return process.returncode, output, errors


def games_of(file: Path) -> list[Game]:
    return [msgspec.json.decode(line, type=Game) for line in file.read_bytes().splitlines()]


def timeless(games: list[Game]) -> list[Game]:
    """The same games with how many moves each seat has thought on, but not for how long."""
    return [
        msgspec.structs.replace(
            game, seconds=tuple(tuple(0.0 for _ in seat) for seat in game.seconds)
        )
        for game in games
    ]


def a_game(*, seats: str, points: tuple[int, ...], variant: str = "duo") -> Game:
    """A result, of which only the seats and points matter."""
    match = msgspec.structs.replace(PLAIN, variant=variant)
    return Game(match, 0, tuple(seats), 0, (), points, ((0.5,),) * len(seats))  # type: ignore[arg-type]


# Who plays


@pytest.mark.parametrize(
    ("text", "defaults", "meant"),
    [
        ("expert", {}, Contestant("expert")),
        ("expert", {"seconds": 0.5}, Contestant("expert", seconds=0.5)),
        ("expert", {"simulations": 7}, Contestant("expert", simulations=7)),
        ("expert:simulations=500", {"seconds": 0.5}, Contestant("expert", simulations=500)),
        ("advanced:seconds=0.1", {"simulations": 7}, Contestant("advanced", seconds=0.1)),
        ("largest", {"seconds": 0.5}, Contestant("largest")),
        ("random", {"simulations": 7}, Contestant("random")),
    ],
)
def test_a_contestant_is_a_text(text: str, defaults: dict[str, float], meant: Contestant) -> None:
    found = Contestant.parse(text, **defaults)  # type: ignore[arg-type]
    assert found == meant
    assert Contestant.parse(str(found)) == meant


@pytest.mark.parametrize(
    "text",
    [
        *("", "genius", "Expert", "expert:", "expert:simulations", "expert:simulations=0"),
        *("expert:simulations=1.5", "expert:seconds=0", "expert:seconds=-1", "expert:seconds=nan"),
        *("expert:seconds=inf", "expert:nodes=5", "largest:seconds=1", "random:"),
        "expert:seconds=1,simulations=5",
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ArenaError, match=r"choose one of starter|a setting is :seconds=S"):
        Contestant.parse(text)


def test_the_reference_players_choose_what_they_say() -> None:
    """All sizes can be placed at first: pieces of any turn up, or only the largest."""
    position = Position.start(variant("duo"))
    sizes: dict[str, set[int]] = {}
    for name in ("random", "largest"):
        player = Contestant(name).player(seed=3)
        moves = [player.choose(position) for _ in range(300)]
        assert all(move in position.legal() for move in moves)
        assert len({move.text for move in moves}) > 100
        sizes[name] = {len(PIECES[move.piece]) for move in moves}
    assert sizes["random"] >= {3, 4, 5}
    assert sizes["largest"] == {5}
    # Where no piece of five is left, the largest are those of four.
    for move in [parse_move(text, 14) for text in ("e10", "j5")]:
        position = position.play(move)
    small = tuple(piece for piece in position.left[0] if len(PIECES[piece]) < 5)
    position = Position(
        position.variant, position.squares, (small, small), position.last, position.turn
    )
    assert len(PIECES[arena.largest_first(position, Random(1)).piece]) == 4


@pytest.mark.parametrize("name", ["beginner", "expert:simulations=5"])
def test_levels_play_and_a_seed_repeats_them(name: str) -> None:
    match = Match("duo", name, name, seed=2)
    first, second = play(match, 0), play(match, 1)
    # Both games of an opening have the same chance: the same player on both sides plays the same game.
    assert first.moves == second.moves
    assert first.seats == second.seats[::-1]
    tally = Tally()
    tally.add(first)
    tally.add(second)
    assert tally.rate == 0.5
    assert tally.margin == 0
    assert play(match, 2).moves != first.moves


# Which games


def test_the_examples_are_true() -> None:
    found = doctest.testmod(arena)
    assert found.attempted
    assert not found.failed


@pytest.mark.parametrize("key", VARIANTS)
def test_a_takes_each_seat_in_turn_from_the_same_opening(key: str) -> None:
    on = variant(key)
    match = Match(key, "largest", "random", seed=4)
    games = [play(match, number) for number in range(2 * on.seats)]
    openings = [game.moves[: game.opening] for game in games]
    for group in (range(on.seats), range(on.seats, 2 * on.seats)):
        assert [games[number].seats.index("a") for number in group] == list(range(on.seats))
        assert all(games[number].seats.count("b") == on.seats - 1 for number in group)
        assert len({openings[number] for number in group}) == 1
    assert openings[0] != openings[-1]
    for game in games:
        replay = Record.of(on, game.moves).with_result().replay()
        assert replay.outcome is not None
        assert game.points == replay.outcome.points
        assert game.opening == len(on.colours)
        first = [parse_move(text, on) for text in game.moves[: game.opening]]
        assert {len(move.cells) for move in first} == {5}
        assert sum(map(len, game.seconds)) == len(game.moves) - game.opening


def test_each_seat_has_a_seed_of_its_own_in_each_opening(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []
    new_player = Contestant.player

    def noted(contestant: Contestant, seed: int) -> arena.Chooser:
        seeds.append(seed)
        return new_player(contestant, seed)

    monkeypatch.setattr(Contestant, "player", noted)
    for number in range(3):
        play(PLAIN, number)
    assert seeds[:2] == seeds[2:4]
    assert len({*seeds[:2], *seeds[4:]}) == 4


def test_another_seed_is_another_match() -> None:
    other = msgspec.structs.replace(PLAIN, seed=2)
    assert play(PLAIN, 0).moves != play(other, 0).moves


def test_an_illegal_move_is_laid_at_the_door_of_who_chose_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def first_again(position: Position, chance: Random) -> Move:
        return parse_move("e10", position.variant)

    monkeypatch.setattr(arena, "REFERENCES", {**arena.REFERENCES, "random": first_again})
    with pytest.raises(ArenaError, match=r"^Game 1, ply 2: random plays e10: .*occupied"):
        play(PLAIN, 1)
    with pytest.raises(CommandError, match="random plays e10") as refused:
        call_command(
            command.Command(), "duo", "random", "largest", "--jobs=1", stdout=io.StringIO()
        )
    assert refused.value.returncode == 1


# What follows from them


@pytest.mark.parametrize(
    ("won", "games", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_is_the_published_one(won: int, games: int, low: float, high: float) -> None:
    """R. Newcombe, "Two-sided confidence intervals for the single proportion: comparison of seven methods", Statistics
    in Medicine 17 (1998), 857-872, has these in its table I, as method 3."""
    found = arena.wilson(won / games, games)
    assert found == pytest.approx((low, high), abs=5e-5)
    mirrored = arena.wilson(1 - won / games, games)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=5e-5)


def test_elo() -> None:
    assert arena.elo(0.5) == 0
    assert arena.elo(10 / 11) == pytest.approx(400)
    assert arena.elo(1 / 11) == pytest.approx(-400)
    assert arena.elo(0.75) == pytest.approx(190.85, abs=0.01)
    assert (arena.elo(0.0), arena.elo(1.0)) == (-math.inf, math.inf)


def test_percentile_is_the_nearest_rank() -> None:
    values = [float(value) for value in range(100, 0, -1)]
    assert arena.percentile(values, 0.95) == 95
    assert arena.percentile([3.0, 1.0, 2.0], 0.95) == 3
    assert arena.percentile([7.0], 0.01) == 7


def test_two_seats_are_counted_as_wins_draws_and_losses() -> None:
    tally = Tally()
    for seats, points in (("ab", (60, 50)), ("ba", (60, 50)), ("ab", (55, 55)), ("ba", (40, 70))):
        tally.add(a_game(seats=seats, points=points))
    assert (tally.games, tally.wins, tally.draws, tally.places) == (4, 2, 1, 2.5)
    assert tally.rate == 0.625
    assert tally.margin == 10 - 10 + 0 + 30
    lines = list(command.report(PLAIN, tally))
    assert lines == [
        "duo, 4 games of largest against random, seed 1",
        "games won, drawn, lost by largest: 2, 1, 1",
        "win rate: 62.5 % (95 % confidence: 21.9 % to 90.8 %)",
        "Elo difference: +89 (-220 to +398)",
        "points: +7.50 a game against random",
        "time a move of largest: 500 ms on average, 95 % within 500 ms",
        "time a move of random: 500 ms on average, 95 % within 500 ms",
    ]


def test_of_more_seats_first_places_are_counted() -> None:
    tally = Tally()
    for seats, points in (
        ("abbb", (80, 70, 60, 50)),  # alone
        ("babb", (80, 80, 60, 50)),  # one of two
        ("bbab", (80, 80, 80, 80)),  # one of four
        ("bbba", (80, 70, 60, 50)),  # not at all
    ):
        tally.add(a_game(seats=seats, points=points, variant="classic"))
    assert (tally.games, tally.wins, tally.draws, tally.places) == (4, 1, 2, 1.75)
    assert tally.margin == pytest.approx(20 + 50 / 3 + 0 - 20)
    lines = list(command.report(msgspec.structs.replace(PLAIN, variant="classic"), tally))
    assert lines[1] == "first places of largest in one of 4 seats: 1.75 (alone 1, shared 2)"
    assert lines[2].startswith("its part of them: 43.8 % (95 % confidence: ")
    assert lines[2].endswith("; an even share is 25.0 %")
    assert lines[3] == "points: +4.17 a game against the mean of the others"


def test_who_wins_every_game_has_no_bound_above() -> None:
    tally = Tally()
    tally.add(a_game(seats="ab", points=(60, 50)))
    assert "Elo difference: +∞ (-234 to +∞)" in command.report(PLAIN, tally)


# Results files


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Three games of the plain match."""
    path = tmp_path / "match.jsonl"
    results = Results(path, PLAIN, Game)
    for number in range(3):
        results.append(play(PLAIN, number))
    return path


def test_a_results_file_has_the_games_of_its_match(file: Path) -> None:
    found = Results(file, PLAIN, Game).entries
    assert list(found) == [0, 1, 2]
    assert list(found.values()) == games_of(file)


def test_what_is_left_of_a_line_is_forgotten(file: Path) -> None:
    text = file.read_bytes()
    for end in (text.splitlines()[2][:9], text.splitlines()[2][:-1], text.splitlines()[2]):
        file.write_bytes(text + end)
        assert list(Results(file, PLAIN, Game).entries) == [0, 1, 2]
        assert file.read_bytes() == text


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(b'"seed":1', b'"seed":2'),
        lambda text: text.replace(b'"largest"', b'"largest:"'),
        lambda text: text.replace(b'"duo"', b'"junior"'),
        lambda text: text + b"nonsense\n",
        lambda text: text + b"\n",
        lambda text: text + b"{}\n",
        lambda text: text + b"nonsense",
        lambda text: b"My diary",
        lambda text: b"\xff\xfe\n",
        lambda text: text.replace(b'"points"', b'"marks"'),
    ],
)
def test_any_other_file_is_refused_and_left_as_it_is(
    change: Callable[[bytes], bytes], file: Path
) -> None:
    text = change(file.read_bytes())
    file.write_bytes(text)
    with pytest.raises(ResultsError, match=rf"{file}:[14]: This is (no game|a game of another) "):
        Results(file, PLAIN, Game)
    assert file.read_bytes() == text


def test_a_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="cannot be used: Is a directory"):
        Results(tmp_path, PLAIN, Game)
    with pytest.raises(ResultsError, match="cannot be used: No such file"):
        Results(tmp_path / "nowhere" / "file", PLAIN, Game)
    results = Results(tmp_path / "file", PLAIN, Game)
    results.path = Path("/dev/full")
    with pytest.raises(ResultsError, match="cannot be written: No space left"):
        results.append(play(PLAIN, 0))


# The command


@pytest.mark.slow
def test_a_match_from_a_shell_is_the_same_with_any_number_of_jobs(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for path, jobs in ((one, "1"), (two, "2")):
        status, output, errors = ran(
            *("duo", "starter", "largest", "--games", "6", "--jobs", jobs, "--results", path)
        )
        assert (status, errors) == (0, "")
        lines = output.splitlines()
        assert lines[0] == "duo, 6 games of starter against largest, seed 1"
        assert [line.partition(":")[0] for line in lines[1:]] == [
            "games won, drawn, lost by starter",
            "win rate",
            "Elo difference",
            "points",
            "time a move of starter",
            "time a move of largest",
        ]
    assert [game.game for game in games_of(one)] == list(range(6))
    assert timeless(games_of(one)) == timeless(games_of(two))
    assert games_of(one)[0].seconds != games_of(two)[0].seconds


def test_what_is_there_is_not_played_again(file: Path) -> None:
    before = file.read_bytes()
    arguments = ("duo", "largest", "random", "--results", file)
    status, output, _ = ran(*arguments, "--games", "3")
    assert (status, file.read_bytes()) == (0, before)
    status, fewer, _ = ran(*arguments, "--games", "2")
    assert (status, file.read_bytes()) == (0, before)
    status, more, _ = ran(*arguments, "--games", "8")
    assert status == 0
    assert file.read_bytes().startswith(before)
    assert [game.game for game in games_of(file)] == list(range(8))
    assert [text.split()[1] for text in (fewer, output, more)] == ["2", "3", "8"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_match_goes_on_after_whatever_ended_it(number: signal.Signals, tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    arguments = ("classic", "largest", "random", "--jobs", "2", "--results", path)
    process = manage(*arguments, "--games", "10000")
    assert eventually(lambda: path.exists() and path.read_bytes().count(b"\n") >= 3)
    # At a terminal all processes get the signal, and a kill may fall on all of them too.
    os.killpg(process.pid, number)
    output, errors = process.communicate(timeout=30)
    there = path.read_bytes()
    whole = there[: there.rindex(b"\n") + 1]
    done = whole.count(b"\n")
    if number is signal.SIGKILL:
        assert (process.returncode, output, errors) == (-number, "", "")
    else:
        assert (process.returncode, errors, there) == (130, "", whole)
        assert output.startswith(f"classic, {done} games of largest against random, seed 1\n")
    path.write_bytes(whole + whole[:50])  # as if a line was being written
    status, output, errors = ran(*arguments, "--games", str(done + 3))
    assert (status, errors) == (0, "")
    assert output.startswith(f"classic, {done + 3} games of largest against random, seed 1\n")
    assert path.read_bytes().startswith(whole)
    games = games_of(path)
    assert [game.game for game in games] == list(range(done + 3))
    match = Match("classic", "largest", "random", seed=1)
    last = [play(match, number) for number in range(done, done + 3)]
    assert timeless(games[done:]) == timeless(last)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("trigon", "expert", "random"), "invalid choice: 'trigon'"),
        (("duo", "expert"), "required: B"),
        (("duo", "genius", "random"), "There is no player 'genius'; choose one of starter, "),
        (("duo", "random", "expert:simulations=0"), "a setting is :seconds=S, above 0, or"),
        (("duo", "random", "random", "--games", "0"), "'0' is not a whole number from 1."),
        (("duo", "expert", "random", "--seconds", "1", "--simulations", "2"), "not allowed with"),
        (("duo", "random", "random", "--results", "manage.py"), "manage.py:1: This is no game"),
    ],
)
def test_a_wrong_call_is_told_in_a_sentence(arguments: tuple[str, ...], says: str) -> None:
    before = (PROJECT / "manage.py").read_bytes()
    status, output, errors = ran(*arguments)
    assert (status, output) == (2, "")
    assert says in errors.splitlines()[-1]
    assert "Traceback" not in errors
    assert (PROJECT / "manage.py").read_bytes() == before


def test_a_person_sees_the_score_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "PROGRESS_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(workers, "PROGRESS_EVERY_SECONDS", 0.0)
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    arguments = ("duo", "largest", "random", "--games=4", "--jobs=1")
    call_command(command.Command(), *arguments, stdout=io.StringIO())
    tally = Tally()
    for number in range(4):
        tally.add(play(PLAIN, number))
        told = f"largest {tally.places:g} : {number + 1 - tally.places:g} random"
        assert f"{number + 1} of 4 games, 0 s, {told}\x1b[K" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_help_ends_with_examples() -> None:
    status, output, _ = ran("--help")
    assert status == 0
    assert "Exit status" in output
    assert "python manage.py arena " in output.partition("examples:")[2]

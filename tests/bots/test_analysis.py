"""What follows from searching every ply of a game: values, best moves, marks, comments, and the curve."""

import random
import re
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, given, settings

from bots import analyst
from bots.analysis import (
    DIGITS,
    SIGNS,
    SIMULATIONS,
    THRESHOLDS,
    WORD,
    Finding,
    Mark,
    Review,
    annotated,
    counts,
    mark_of,
    review,
    sentence,
    steps,
)
from bots.curve import curve_svg
from bots.engine import study
from config.env import PROJECT
from games.palette import UnknownThemeError
from games.territory.rules import (
    THEMES,
    VARIANTS,
    Position,
    Record,
    Termination,
    parse_move,
    read_json,
    read_sgf,
    variant,
    write_json,
    write_sgf,
)
from tests.games.territory.rules.records import in_file_order, records

SGF = PROJECT / "tests" / "reference" / "territory" / "sgf"
FEW = 400
"""Simulations, so that a game takes a second."""


def game(name: str) -> Record:
    return read_sgf((SGF / f"{name}.blksgf").read_bytes())


def lead(position: Position, seat: int) -> int:
    """The points that a seat of two leads by in the end if both play as well as can be: everything is tried."""
    if position.is_over:
        points = [position.points(colour) for colour in (0, 1)]
        return points[seat] - points[1 - seat]
    best = max if position.seat_to_move == seat else min
    return best(lead(position.play(move), seat) for move in position.legal())


# What is found


def test_a_win_that_was_thrown_away() -> None:
    """In this recorded game two of ten moves still win, and one of the others was made: the oracle tries everything."""
    record = game("junior-r2level1-2001")
    step = steps(record.replay())[33]
    outcomes = {move: lead(step.before.play(move), step.seat) for move in step.before.legal()}
    winning = {move for move, points in outcomes.items() if points > 0}
    assert (len(outcomes), len(winning), outcomes[step.move]) == (10, 2, -3)
    about = analyst.analyse(record, FEW)
    judged = about.plies[33]
    assert judged.best in winning
    assert (judged.mark, SIGNS[judged.mark]) == (Mark.BLUNDER, "??")
    assert judged.loss > 0.5, "the win itself is half of the value"
    assert judged.before[step.seat] > 0.5 > judged.after[step.seat]
    assert judged.loss == pytest.approx(judged.best_value - judged.after[step.seat])


def test_a_game_of_best_moves_has_no_mistakes() -> None:
    record = game("duo-r2level1-1003")
    begun = [node.move.text for node in record.nodes if node.move][:6]
    moves, position = list(begun), record.replay().positions[6]
    while not position.is_over:
        move = study(position, FEW).best
        assert move is not None
        moves.append(move.text)
        position = position.play(move)
    about = analyst.analyse(Record.of(record.variant, moves), FEW)
    assert len(about.plies) > 20
    for ply in about.plies[6:]:
        assert (ply.best, ply.loss, ply.mark) == (ply.step.move, 0.0, Mark.GOOD)


def test_the_same_is_found_again_in_any_order() -> None:
    record = game("classic_3-random-5000")
    plies = steps(record.replay())
    look = partial(analyst.look, simulations=60)
    forwards = [look(step) for step in plies]
    backwards = [look(step) for step in reversed(plies)]
    assert forwards == backwards[::-1]
    assert analyst.analyse(record, 60) == review(
        record.replay(), forwards, analyst.end_of(record.replay())
    )


@pytest.mark.parametrize("key", sorted(VARIANTS))
def test_values_of_every_variant(key: str) -> None:
    """A value a seat from 0 to 1; of two seats they add up to 1. After a move is before the next; nothing is won."""
    chance = random.Random(key)
    position, moves = Position.start(VARIANTS[key]), list[str]()
    while not position.is_over:
        largest = sorted(position.legal(), key=lambda move: -len(move.cells))[:40]
        moves.append(chance.choice(largest).text)
        position = position.play(parse_move(moves[-1], position.variant))
    about = analyst.analyse(Record.of(VARIANTS[key], moves).with_result(), 30)
    assert len(about.plies) == len(moves)
    for ply, then in zip(about.plies, about.plies[1:], strict=False):
        assert ply.after == then.before
    for ply in about.plies:
        assert ply.loss >= 0.0
        for values in (ply.before, ply.after):
            assert len(values) == position.variant.seats
            assert all(0.0 <= value <= 1.0 for value in values)
            if position.variant.seats == 2:
                assert sum(values) == pytest.approx(1.0, abs=2 * 10**-DIGITS)
    assert about.plies[-1].after == about.end
    assert len(about.curve) == len(moves) + 1


def test_the_end_is_the_result() -> None:
    record = game("duo-level6-1700")
    end = analyst.end_of(record.replay())
    # Won by 74 to 66: the win is half, and a lead of 8 points is 0.5 + 0.5 * (8/20) / (1 + 8/20) of the other half.
    assert end == (0.8214, 0.1786)
    one, two = (replace(record.nodes[10], left=((seat, Termination.RESIGNED),)) for seat in (0, 1))
    resigned = [
        Record(record.variant, (*record.nodes[:10], node)).with_result() for node in (one, two)
    ]
    assert [analyst.end_of(each.replay()) for each in resigned] == [(0.0, 1.0), (1.0, 0.0)]
    unfinished = Record(record.variant, record.nodes[:11])
    assert analyst.end_of(unfinished.replay()) is None


def test_who_leaves_between_two_plies_is_no_fault_of_the_move() -> None:
    """With four seats the others play on: the ply before is judged by the board as it left it."""
    record = game("classic-random-3000")
    nodes = list(record.nodes[:13])
    nodes[12] = replace(nodes[12], left=((3, Termination.TIMEOUT),))
    position = Record(record.variant, tuple(nodes)).replay().end
    moves = []
    for _ in range(4):
        moves.append(next(iter(position.legal())))
        nodes.append(replace(nodes[1], parent=len(nodes) - 1, colour=position.turn, move=moves[-1]))
        position = position.play(moves[-1])
    replay = Record(record.variant, tuple(nodes)).replay()
    plies = steps(replay)
    assert [step.goes_on for step in plies] == [True] * 11 + [False] + [True] * 3 + [False]
    assert not plies[11].after.gone
    assert plies[12].before.gone == {3}
    about = analyst.analyse(replay.record, 40)
    assert about.plies[11].after != about.plies[12].before
    assert about.plies[11].after[3] > 0.1 > about.plies[12].before[3]
    assert about.end is None
    assert ET.fromstring(curve_svg(about)) is not None


# What follows


def test_marks_begin_at_their_thresholds() -> None:
    assert {mark: mark_of(least) for mark, least in THRESHOLDS.items()} == {
        m: m for m in THRESHOLDS
    }
    assert [mark_of(loss).value for loss in (0.0, 0.0499, 0.0999, 0.1999, 1.0)] == [
        *("good", "good", "inaccuracy", "mistake", "blunder")
    ]


def a_review(*values: float, best: float | None = None) -> Review:
    """Of three plies after which blue has these values; blue's second move could have had `best`."""
    record = Record.of(variant("duo"), ["e10", "j5", "f8,f9"], players=("Ada & <Co>", "Ben"))
    other = parse_move("f9,g9", 14)
    both = [(value, round(1 - value, 4)) for value in values]
    findings = [
        Finding(both[0], parse_move("e10", 14)),
        Finding(both[1], parse_move("j5", 14)),
        Finding(both[2], other, best, after=both[3]),
    ]
    return review(record.replay(), findings, None)


def test_what_is_lost_is_the_best_less_what_was_made() -> None:
    ply = a_review(0.5, 0.5, 0.6, 0.45, best=0.57).plies[2]
    assert (ply.best.text, ply.best_value, ply.loss, ply.mark) == ("f9,g9", 0.57, 0.12, "mistake")
    # Made better than the search had thought: then that is the best that is known.
    ply = a_review(0.5, 0.5, 0.6, 0.7, best=0.57).plies[2]
    assert (ply.best, ply.best_value, ply.loss, ply.mark) == (ply.step.move, 0.7, 0.0, "good")
    assert sentence(ply, variant("duo")) == "Blue 0.60 → 0.70. The best move."


# In comments


def test_comments_and_marks_go_to_blksgf_and_back() -> None:
    about = a_review(0.5, 0.5, 0.6, 0.45, best=0.57)
    record = annotated(about, "Kado 9", 1234)
    assert record.nodes[0].comment == (
        "Analysis: by Kado 9, 1,234 simulations a position. Values are from 0 to 1, half winning and half the lead. "
        "Blue 1×?."
    )
    assert record.nodes[3].comment == (
        "Analysis: Blue 0.60 → 0.45. Best: 2 f9,g9 (0.57). Mistake: 0.12 lost."
    )
    assert dict(record.nodes[3].properties) == {"BM": ("1",)}
    text = write_sgf(record)
    assert "BM[1]C[Analysis: Blue 0.60 → 0.45. Best: 2 f9,g9 (0.57). Mistake: 0.12 lost.]" in text
    assert read_sgf(text) == record == read_json(write_json(record))


@pytest.mark.parametrize(
    ("best", "marks"), [(0.49, {}), (0.51, {"DO": ("",)}), (0.7, {"BM": ("2",)})]
)
def test_the_marks_of_sgf(best: float, marks: dict[str, tuple[str, ...]]) -> None:
    record = annotated(a_review(0.5, 0.5, 0.6, 0.45, best=best), "Kado 9", 1)
    assert record.nodes[3].properties == marks
    assert read_sgf(write_sgf(record)) == record


def test_what_people_have_written_stays_and_what_was_found_before_goes() -> None:
    about = a_review(0.5, 0.5, 0.6, 0.45, best=0.57)
    nodes = list(about.record.nodes)
    nodes[1] = replace(nodes[1], comment="My own\n\nthoughts", properties={"TE": ("1",)})
    nodes[3] = replace(nodes[3], comment="Hm", properties={"TE": ("1",), "N": ("x",)})
    about = replace(about, record=replace(about.record, nodes=tuple(nodes)))
    once = annotated(about, "Kado 9", 1)
    assert (
        once.nodes[1].comment == "My own\n\nthoughts\n\nAnalysis: Blue 0.50 → 0.50. The best move."
    )
    assert once.nodes[1].properties == {"TE": ("1",)}
    assert once.nodes[3].comment.startswith(f"Hm\n\n{WORD}")
    assert once.nodes[3].properties == {"N": ("x",), "BM": ("1",)}
    better = a_review(0.5, 0.5, 0.6, 0.6, best=0.57)
    again = annotated(replace(better, record=once), "Kado 10", 1)
    assert again.nodes[3].comment == "Hm\n\nAnalysis: Blue 0.60 → 0.60. The best move."
    assert again.nodes[3].properties == {"N": ("x",)}
    assert again.nodes[0].comment.count(WORD) == 1


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(record=records())
def test_any_record_can_be_annotated(record: Record) -> None:
    """Variations, set-ups, seats that leave, comments: the same comes back from both kinds of file."""
    replay = record.replay()
    plies = steps(replay)
    if not plies:
        return
    chance = random.Random(len(record.nodes))
    seats = range(record.variant.seats)
    findings = []
    for step in plies:
        assert step.before.play(step.move) == step.after
        assert step.before.turn == step.colour
        values = tuple(round(chance.random(), DIGITS) for _ in seats)
        best = chance.choice(list(step.before.legal()))
        after = None if step.goes_on else values
        findings.append(Finding(values, best, chance.random(), after))
    about = review(replay, findings, None)
    done = annotated(about, "Kado", 1)
    assert read_sgf(write_sgf(done)) == in_file_order(done)
    assert read_json(write_json(done)) == done
    assert ET.fromstring(curve_svg(about)) is not None
    total = sum(sum(counts(about, seat).values()) for seat in seats)
    assert total == sum(ply.mark is not Mark.GOOD for ply in about.plies)


# The curve


def parts(picture: str, name: str) -> list[ET.Element]:
    return [
        e for e in ET.fromstring(picture).iter() if (e.get("class") or "").split()[:1] == [name]
    ]


@pytest.mark.parametrize("theme", THEMES)
def test_a_line_for_each_seat_and_a_sign_for_each_mistake(theme: str) -> None:
    picture = curve_svg(a_review(0.5, 0.5, 0.6, 0.45, best=0.8), theme=theme)
    assert [line.get("class") for line in parts(picture, "line")] == ["line blue", "line orange"]
    (sign,) = parts(picture, "blunder")
    assert "".join(sign.itertext()) == "??"
    strokes = {path.get("stroke") for path in parts(picture, "line")[0]}
    assert THEMES[theme].fills["blue"] in strokes


def test_nothing_is_told_by_colour_alone() -> None:
    """Lines differ in their dashes and carry their colour's mark; the words say what is drawn."""
    picture = curve_svg(a_review(0.5, 0.5, 0.6, 0.45, best=0.8))
    dashes = [line[0].get("stroke-dasharray") for line in parts(picture, "line")]
    assert len(set(dashes)) == 2
    assert parts(picture, "badge")
    title, told = (
        "".join(ET.fromstring(picture).find(f"{{http://www.w3.org/2000/svg}}{tag}").itertext())  # type: ignore[union-attr]
        for tag in ("title", "desc")
    )
    assert title == "Block Territory: what each seat could expect, over 3 plies"
    assert told == (
        "Blue from 0.50 to 0.45. Orange from 0.50 to 0.55. Ply 2: blunder of blue, 0.35 lost."
    )
    assert 'role="img"' in picture
    assert "Ada &amp; &lt;Co&gt;" in picture
    assert not re.search(r"<script|\sid=|\son\w+=", picture)


def test_an_unknown_theme_is_refused() -> None:
    with pytest.raises(UnknownThemeError) as refused:
        curve_svg(a_review(0.5, 0.5, 0.6, 0.45), theme="pink")
    assert refused.value.code == "unknown-theme"


# The command


def analyse(*arguments: str | Path) -> tuple[int, str, str]:
    ran = subprocess.run(
        [sys.executable, "manage.py", "analyse", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=PROJECT,
        check=False,
        timeout=240,
    )
    assert "Traceback" not in ran.stderr
    return ran.returncode, ran.stdout, ran.stderr


@pytest.mark.slow
def test_a_file_is_analysed_without_a_service(tmp_path: Path) -> None:
    source = SGF / "duo-random-1002.blksgf"
    out, svg = tmp_path / "out.blksgf", tmp_path / "curve.svg"
    status, output, errors = analyse(
        source, "--simulations", "50", "--output", out, "--svg", svg, "--theme", "dark"
    )
    assert (status, errors) == (0, "")
    about = analyst.analyse(game("duo-random-1002"), 50)
    assert read_sgf(out.read_bytes()) == annotated(about, analyst.ENGINE, 50)
    assert svg.read_text() == curve_svg(about, theme="dark")
    assert len(output.splitlines()) == len(about.plies) + 2
    shown = subprocess.run(
        [sys.executable, "manage.py", "show", out, "--ply", "3"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert sentence(about.plies[2], about.variant) in shown
    subprocess.run(
        [sys.executable, "manage.py", "convert", out, tmp_path / "out.json"],
        cwd=PROJECT,
        check=True,
    )
    assert read_json((tmp_path / "out.json").read_bytes()) == read_sgf(out.read_bytes())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "arguments", "says"),
    [
        ("(;GM[Blokus Duo])", [], "has no moves"),
        ("nonsense", [], "bad-syntax"),
        ("(;GM[Blokus Duo];B[e10])", ["--output", "out.txt"], "ends with"),
        ("(;GM[Blokus Duo];B[e10])", ["--simulations", "0"], "whole number from 1"),
    ],
)
def test_a_wrong_call(tmp_path: Path, text: str, arguments: list[str], says: str) -> None:
    source = tmp_path / "game.blksgf"
    source.write_text(text)
    status, _, errors = analyse(source, *arguments)
    assert status == 2
    assert says in errors


def test_the_command_and_the_service_search_alike() -> None:
    from bots.management.commands.analyse import Command

    parser = Command().create_parser("manage.py", "analyse")
    assert parser.parse_args(["game.json"]).simulations == SIMULATIONS

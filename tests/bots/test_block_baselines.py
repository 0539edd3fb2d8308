"""How far players of the block puzzle get: the figures, the trials that they come from, table, picture and command."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest

from bots import baselines as data
from bots import trials
from bots.baselines import (
    LEVELS_AND_BOARDS,
    Figures,
    Scores,
    Series,
    Trial,
    Which,
    measured,
    parse,
    summed_up,
    table,
    written,
)
from bots.chart import SHAPES, chart_svg
from bots.engine.block_kinds import KIND
from bots.levels import PUZZLE_PLAYERS
from bots.management.commands import puzzle_baseline as command
from config.env import PROJECT
from games.palette import THEMES, UnknownThemeError
from games.puzzle.rules import GENERATOR, LEVELS
from tests.docs.pages import page

SERIES = Series(GENERATOR, seed=1, most=60)
SVG = "{http://www.w3.org/2000/svg}"


def trial(score: int, placements: int = 10, *, cut: bool = False, number: int = 0) -> Trial:
    return Trial(SERIES, Which("hard", "8x8", "careful", number), score, placements, cut)


# Figures


def test_figures_are_those_of_the_scores() -> None:
    found = summed_up([trial(30, 7), trial(10), trial(20, 12, cut=True), trial(50), trial(40)])
    assert found == Figures(
        "hard", "8x8", "careful", 5, 1, Scores(10, 20.0, 30.0, 40.0, 50, 30.0), longest=12
    )
    assert summed_up([trial(1), trial(2)]).score == Scores(1, 1.25, 1.5, 1.75, 2, 1.5)
    assert summed_up([trial(7)]).score == Scores(7, 7, 7, 7, 7, 7.0)


def test_what_is_written_is_read() -> None:
    figures = (summed_up([trial(1), trial(4)]), summed_up([trial(9)]))
    text = written(data.Baselines(SERIES, figures))
    assert parse(text) == data.Baselines(SERIES, figures)
    assert len(text.splitlines()) == len(figures) + 3


def test_the_players_are_those_of_the_engine() -> None:
    assert tuple(KIND) == PUZZLE_PLAYERS
    assert {level for level, _ in LEVELS_AND_BOARDS} == set(LEVELS) - {"custom"}


# What is kept


def test_all_players_are_measured_on_all_levels_and_boards() -> None:
    assert [(each.level, each.board, each.player) for each in measured().figures] == [
        (level, board, player) for level, board in LEVELS_AND_BOARDS for player in PUZZLE_PLAYERS
    ]
    assert len({each.runs for each in measured().figures}) == 1
    assert measured().series.generator == GENERATOR
    assert written(measured()) == data.FILE.read_bytes()


@pytest.mark.parametrize("player", ["simple", "careful"])
def test_what_is_kept_is_what_the_players_reach_now(player: str) -> None:
    """On the hardest level and board, where runs are short. A player that has changed is to be measured again."""
    (kept,) = (
        each
        for each in measured().figures
        if (each.level, each.board, each.player) == ("hard", "8x8", player)
    )
    played = [
        trials.play(measured().series, Which("hard", "8x8", player, number))
        for number in range(kept.runs)
    ]
    assert summed_up(played) == kept


def test_careful_is_far_above_simple_and_patient_above_careful() -> None:
    medians = {
        (each.level, each.board, each.player): each.score.median for each in measured().figures
    }
    better = 0
    for level, board in LEVELS_AND_BOARDS:
        simple, careful, patient = (medians[level, board, player] for player in PUZZLE_PLAYERS)
        assert careful > 2.5 * simple
        better += patient > careful
    assert better >= len(LEVELS_AND_BOARDS) - 1, "chance may have it otherwise once"


# Trials


def test_the_example_runs() -> None:
    found = doctest.testmod(trials)
    assert (found.failed, found.attempted) == (0, 2)


def test_a_trial_is_a_run_by_the_rules_and_the_same_again() -> None:
    which = Which("normal", "9x9", "careful", 3)
    once = trials.play(SERIES, which)
    assert once == trials.play(SERIES, which)
    run = trials.played(SERIES, which)
    assert (once.score, once.placements, once.cut) == (run.score, run.turn, not run.over)
    assert (once.cut, once.placements) == (True, 60)


def test_all_players_play_the_same_runs_and_each_number_another_one() -> None:
    which = Which("hard", "8x8", "simple", 0)
    seeds = {
        trials.seed_of(SERIES, msgspec.structs.replace(which, player=player))
        for player in PUZZLE_PLAYERS
    }
    assert len(seeds) == 1
    others = {
        trials.seed_of(msgspec.structs.replace(SERIES, seed=seed), Which(level, board, "", number))
        for seed in (1, 2)
        for level, board in LEVELS_AND_BOARDS
        for number in range(5)
    }
    assert len(others) == 2 * len(LEVELS_AND_BOARDS) * 5
    assert seeds <= others


# Table and picture


def test_the_table_has_every_figure() -> None:
    lines = list(table([summed_up([trial(1234, cut=True), trial(3000)])]))
    assert [cell.strip() for cell in lines[2].strip("|").split("|")] == [
        *("hard", "8x8", "careful", "2", "1", "1,676", "2,117", "2,558", "2,117", "10")
    ]
    assert len({len(line) for line in lines}) == 1


def test_the_page_has_the_table_and_the_pictures_that_are_kept() -> None:
    text = page("docs/puzzle-boards.md").text
    assert command.with_table(text, measured()) == text
    assert "\n".join(table(measured().figures)) in text
    assert f"cut after {measured().series.most} placements" in text
    for theme, name in command.CHARTS.items():
        assert (PROJECT / "docs" / name).read_text() == chart_svg(measured(), theme=theme)


@pytest.mark.parametrize("theme", THEMES)
def test_the_picture_says_what_the_figures_say(theme: str) -> None:
    drawn = ET.fromstring(chart_svg(measured(), theme=theme))
    texts = ["".join(each.itertext()) for each in drawn.iter(f"{SVG}text")]
    said = drawn.findtext(f"{SVG}desc") or ""
    for each in measured().figures:
        median = f"{each.score.median:,.0f}"
        assert any(text.removeprefix("≥ ") == median for text in texts)
        assert re.search(rf"{each.level} {each.board}, {each.player}: (≥ )?{median}\.", said)
    assert sum(text.startswith("≥ ") for text in texts) == sum(
        2 * each.cut >= each.runs for each in measured().figures
    )
    # Each player has a shape of its own: one in the legend, one at each median.
    paths = [each.get("d") for each in drawn.iter(f"{SVG}path")]
    assert [paths.count(shape) for shape in SHAPES] == [len(LEVELS_AND_BOARDS) + 1] * 3
    _, _, width, height = map(float, drawn.get("viewBox", "").split())
    for text in drawn.iter(f"{SVG}text"):
        assert 0 < float(text.get("x", "")) < width
        assert 0 < float(text.get("y", "")) < height


def test_a_higher_median_is_further_to_the_right() -> None:
    drawn = ET.fromstring(chart_svg(measured()))
    places: list[float] = []
    for each in drawn.iter(f"{SVG}path"):
        moved = re.fullmatch(r"translate\(([\d.]+) [\d.]+\)", each.get("transform", ""))
        if moved:
            places.append(float(moved[1]))
    medians = [each.score.median for each in measured().figures]
    by_place = sorted(zip(places[len(SHAPES) :], medians, strict=True))
    assert [median for _, median in by_place] == sorted(medians)


def test_there_is_no_other_theme() -> None:
    with pytest.raises(UnknownThemeError):
        chart_svg(measured(), theme="pink")


def test_a_new_table_takes_the_place_of_the_old_one() -> None:
    text = "# Page\n\n| level | old |\n|---|---|\n| a | b |\n\nMore.\n"
    new = command.with_table(text, data.Baselines(SERIES, (summed_up([trial(5)]),)))
    assert new == "# Page\n\n" + "\n".join(table([summed_up([trial(5)])])) + "\n\nMore.\n"


# The command


def ran(*arguments: str | Path) -> tuple[int, str, str]:
    """Exit status, output and errors of the command, in a process that knows of no services."""
    process = subprocess.run(
        [sys.executable, "manage.py", "puzzle_baseline", *map(str, arguments)],
        cwd=PROJECT,
        env={key: os.environ[key] for key in ("PATH", "HOME", "KADO_KERNELS") if key in os.environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert "Traceback" not in process.stderr
    return process.returncode, process.stdout, process.stderr


def trials_of(file: Path) -> list[Trial]:
    return [msgspec.json.decode(line, type=Trial) for line in file.read_bytes().splitlines()]


@pytest.mark.slow
def test_a_series_from_a_shell_goes_on_and_is_the_same_with_any_number_of_jobs(
    tmp_path: Path,
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    few = ("--players", "simple", "careful", "--placements", "25")
    status, output, errors = ran(*few, "--runs", "1", "--jobs", "2", "--results", one)
    assert (status, errors) == (0, "")
    assert len(output.splitlines()) == 2 + 2 * len(LEVELS_AND_BOARDS)
    first = one.read_bytes()
    status, output, errors = ran(*few, "--runs", "2", "--jobs", "1", "--results", one)
    assert (status, errors) == (0, "")
    assert one.read_bytes().startswith(first)
    assert len(trials_of(one)) == 2 * 2 * len(LEVELS_AND_BOARDS)
    status, other, _ = ran(*few, "--runs", "2", "--jobs", "2", "--results", two)
    assert (status, other) == (0, output)
    assert trials_of(one) == trials_of(two)
    for each in trials_of(one)[:4]:
        assert trials.play(each.series, each.which) == each
    status, _, errors = ran("--placements", "26", "--results", one)
    assert status == 2
    assert "This is a trial of another series" in errors


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--runs", "0"), "'0' is not a whole number from 1."),
        (("--players", "genius"), "invalid choice: 'genius'"),
        (("--players", "simple", "--write"), "--write wants the figures of all players."),
        (("--results", "manage.py"), "manage.py:1: This is no trial of a series"),
    ],
)
def test_a_wrong_call_is_told_in_a_sentence(arguments: tuple[str, ...], says: str) -> None:
    kept = data.FILE.read_bytes()
    status, output, errors = ran(*arguments)
    assert (status, output) == (2, "")
    assert says in errors.splitlines()[-1]
    assert data.FILE.read_bytes() == kept


def test_a_run_is_cut_only_where_it_could_go_on() -> None:
    """A run that ends by its last placement is not cut."""
    which, long = Which("hard", "8x8", "simple", 0), Series(GENERATOR, 1, 10_000)
    whole = trials.play(long, which)
    assert not whole.cut
    exact = trials.play(Series(GENERATOR, 1, whole.placements), which)
    assert (exact.score, exact.cut) == (whole.score, False)
    shorter = trials.play(Series(GENERATOR, 1, whole.placements - 1), which)
    assert (shorter.placements, shorter.cut) == (whole.placements - 1, True)

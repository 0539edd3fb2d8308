"""The simulator: the same seed gives the same evening, rules keep to themselves, and the figures are right."""

from io import StringIO
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from django.core.management import CommandError, call_command

from matchmaking.estimates import Estimate
from matchmaking.pairing import Rule, compatible
from matchmaking.simulation.plot import plot_svg
from matchmaking.simulation.policies import FirstCome, Group, Ours, Waves
from matchmaking.simulation.report import calibration, figures, table
from matchmaking.simulation.run import Match, Outcome, Told, simulate
from matchmaking.simulation.world import Plan, strongest_chance
from matchmaking.tickets import Ticket

SMALL = Plan(40, 0.5)


def test_the_same_seed_gives_the_same_evening() -> None:
    first, again = (simulate(SMALL, Ours(2, 500.0)) for _ in range(2))
    other = simulate(Plan(40, 0.5, seed=2), Ours(2, 500.0))
    assert first == again
    assert first.matches
    assert first.matches != other.matches


@pytest.mark.parametrize("size", [2, 3, 4])
def test_our_rule_is_kept_and_nobody_is_in_two_games(size: int) -> None:
    plan = Plan(60, 0.5, size)
    playing: set[str] = set()

    class Watched(Ours):
        def kept(self, group: Group, now: int) -> None:
            assert len({ticket.player_id for ticket in group}) == size
            assert playing.isdisjoint(ticket.id for ticket in group)
            playing.update(ticket.id for ticket in group)
            assert all(compatible(a, b, now, plan.limit) for a, b in combinations(group, 2))

        def joined(self, ticket, waiting, now):  # type: ignore[no-untyped-def]
            if group := super().joined(ticket, waiting, now):
                self.kept(group, now)
            return group

        def waved(self, waiting, now):  # type: ignore[no-untyped-def]
            groups = super().waved(waiting, now)
            for group in groups:
                self.kept(group, now)
            return groups

    outcome = simulate(plan, Watched(size, plan.limit))
    assert len(outcome.matches) > 10
    assert all(len(match.waits) == size for match in outcome.matches)


def ticket(player: int, mu: float, joined: int = 0, **rest: frozenset[int]) -> Ticket:
    return Ticket(f"t{player}", player, "simulation", mu, 100.0, joined, **rest)


def test_first_come_first_served() -> None:
    old, older, foe = (
        ticket(1, 900, 5),
        ticket(2, 2000, 3),
        ticket(3, 1500, 1, blocked=frozenset({4})),
    )
    found = FirstCome(3).joined(ticket(4, 1500, 9), [old, older, foe], 9)
    assert found is not None
    assert [each.player_id for each in found] == [4, 2, 1]
    assert FirstCome(3).joined(ticket(4, 1500, 9), [old, foe], 9) is None


def test_waves_take_the_nearest_first_and_give_the_patient_more_room() -> None:
    waves = Waves(2, 500.0)
    row = [ticket(1, 1500), ticket(2, 1560), ticket(3, 1570), ticket(4, 1800)]
    assert waves.joined(row[0], row[1:], 0) is None
    (group,) = waves.waved(row, 6_999)
    assert [each.player_id for each in group] == [2, 3]
    far = [row[0], row[3]]
    assert waves.waved(far, 4 * 7_000) == []
    assert len(waves.waved(far, 5 * 7_000)) == 1


def test_the_strongest_ones_chance() -> None:
    assert strongest_chance([(1500, 100)] * 4) == 0.25
    assert strongest_chance([(1800, 60), (1500, 60)]) > strongest_chance([(1800, 400), (1500, 400)])


def test_figures_and_table() -> None:
    outcome = Outcome(
        "rule", [Match((0, 4_000), 50.0, 0.6, 0), Match((2_000, 90_000), 150.0, 0.7, 1)], [7_000]
    )
    row = figures(30, outcome)
    assert (row.matched, row.wait_median, row.wait_p95) == (4, 4.0, 90.0)
    assert (row.gave_up, row.spread_median, row.repeats) == (0.2, 150.0, 0.5)
    assert row.chance == pytest.approx(0.65)
    assert table([row])[-1].startswith("| 30 | rule | 4 | 4.0 | 90.0 | 20.0% | 150 |")
    assert figures(30, Outcome("nobody")).matched == 0


def test_calibration_counts_what_came_true() -> None:
    said = Estimate("waits", 20, 5_000, 9_000)
    told = [Told(0, said, wait) for wait in (1_000, 5_000, 8_000, 60_000)]
    assert list(calibration(30, told)) == ["| 30 | 0 s | waits | 4 | 50% of 4 | 75% of 4 |"]


def test_estimates_come_true() -> None:
    """Of those who never give up, about half are matched within the likely wait, and nine of ten within the late."""
    plan = Plan(200, 4.0, patient=0.5)
    told = simulate(plan, Ours(2, plan.limit), estimates=True).told
    assert len(told) > 500
    likely = sum(each.actual <= (each.estimate.likely or 0) for each in told) / len(told)
    late = sum(each.actual <= (each.estimate.late or 0) for each in told) / len(told)
    assert 0.4 < likely < 0.6
    assert 0.8 < late < 0.97


def test_the_plot_shows_every_rule_and_says_it_in_words() -> None:
    rows = [figures(30, Outcome(f"<{name}>", [Match((3_000,), 50.0, 0.5, 0)])) for name in "abc"]
    root = ET.fromstring(plot_svg(rows, size=2))
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"<a>", "<b>", "<c>"} <= set(texts)
    spoken = root.find("{http://www.w3.org/2000/svg}desc")
    assert spoken is not None
    assert "30 online, <a>: 3.0 s, 50 points." in (spoken.text or "")


def test_the_command(tmp_path: Path) -> None:
    out, plot = StringIO(), tmp_path / "plot.svg"
    call_command(
        "simulate_matchmaking", "--players", "20", "40", "--hours", "0.2", "--size", "3",
        "--try", "100/5/25", "--plot", str(plot), stdout=out,
    )  # fmt: skip
    lines = out.getvalue().splitlines()
    rows = [
        line for line in lines if line.startswith(("| 20 |", "| 40 |")) and "strongest" not in line
    ]
    assert sum("first come" in row for row in rows) == 2
    assert sum("Kado at 100/5/25" in row for row in rows) == 2
    assert "games of 3" in lines[0]
    assert plot.read_text().startswith("<svg")


@pytest.mark.parametrize(
    "arguments",
    [["--players", "1"], ["--players", "x"], ["--hours", "0"], ["--try", "5/5"], ["--try", "0/1/1"], ["--size", "5"]],
)  # fmt: skip
def test_what_the_command_refuses(arguments: list[str]) -> None:
    with pytest.raises(CommandError):
        call_command("simulate_matchmaking", *arguments)


def test_another_rule_changes_the_evening() -> None:
    strict = simulate(SMALL, Ours(2, 500.0, Rule(start=10.0, rate=1.0, sigma_share=1e6)))
    wide = simulate(SMALL, Ours(2, 500.0, Rule(start=400.0)))
    assert figures(40, strict).spread_median < figures(40, wide).spread_median

"""The words of benchmarks/rules.py: its Markdown tables and what they mean."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from benchmarks.lib.rounds import exponent, ratio, spread
from benchmarks.lib.subjects import MEASURES, Plan, Subject, choices_of

PHASES = ("early", "middle", "late")


def lines_of(plan: Plan, variants: list[Subject], growing: list[Subject]) -> list[str]:
    """What was measured of ours."""
    return [
        (
            f"### {plan.rounds} rounds: median (least–most) of a round's mean, "
            f"{len(variants[0].samples):,} positions a variant, seed {plan.seed}"
        ),
        "",
        *cost_lines(variants),
        "",
        "Bars for the list of masks in duo: goal < 100 µs, first acceptable < 300 µs.",
        "",
        "### The list of masks by thirds of the game",
        "",
        *phase_lines(variants),
        "",
        "### Growth of the list with the number of legal moves (positions in three equal groups)",
        "",
        *choices_growth_lines(variants),
        "",
        "### Growth with the board: duo's colours and pieces on three sizes",
        "",
        *area_growth_lines(growing),
    ]


def cost_lines(subjects: Sequence[Subject]) -> list[str]:
    """One line a variant."""
    lines = [
        f"| variant | {' | '.join(f'{name}, µs' for name in MEASURES)} | random plies/s |",
        f"|---|{'---|' * (len(MEASURES) + 1)}",
    ]
    for subject in subjects:
        costs = " | ".join(spread(figures) for figures in subject.costs.values())
        lines.append(f"| {subject.variant.key} | {costs} | {spread(subject.plies, 0)} |")
    return lines


def phase_lines(subjects: Sequence[Subject]) -> list[str]:
    """The list by thirds of the game."""
    lines = [
        f"| variant | {' | '.join(f'{phase}: moves | µs' for phase in PHASES)} |",
        "|---|---|---|---|---|---|---|",
    ]
    for subject in subjects:
        cells = [
            f"{choices_of(group):.0f} | {spread(costs)}"
            for group, costs in zip(subject.phases, subject.phase_costs, strict=True)
        ]
        lines.append(f"| {subject.variant.key} | {' | '.join(cells)} |")
    return lines


def choices_growth_lines(subjects: Sequence[Subject]) -> list[str]:
    """The list by how many moves there are."""
    lines = [
        "| variant | few: moves | µs | some: moves | µs | many: moves | µs | exponent |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for subject in subjects:
        points = [
            (choices_of(group), median(costs))
            for group, costs in zip(subject.sizes, subject.size_costs, strict=True)
        ]
        cells = " | ".join(f"{size:.0f} | {cost:.1f}" for size, cost in points)
        lines.append(f"| {subject.variant.key} | {cells} | {exponent(points):.2f} |")
    return lines


def area_growth_lines(growing: Sequence[Subject]) -> list[str]:
    """Every measure by the area of the board."""
    areas = [subject.variant.size**2 for subject in growing]
    lines = [
        f"| cost | {' | '.join(f'{area} cells' for area in areas)} | exponent |",
        "|---|---|---|---|---|",
    ]
    rows = {f"{name}, µs": [median(each.costs[name]) for each in growing] for name in MEASURES}
    rows["random ply, µs"] = [1e6 / median(each.plies) for each in growing]
    rows["legal moves in the list"] = [choices_of(each.samples) for each in growing]
    for name, figures in rows.items():
        cells = " | ".join(f"{figure:.1f}" for figure in figures)
        lines.append(f"| {name} | {cells} | {exponent(zip(areas, figures, strict=True)):.2f} |")
    return lines


def cold_line(cold: Sequence[tuple[str, float]], plan: Plan) -> str:
    """What the first list of a process takes, and what was done before the rounds."""
    first = ", ".join(f"{key} {milliseconds:.0f} ms" for key, milliseconds in cold)
    return (
        f"The first list of a process builds the board's tables: {first}. Others are filled on demand; "
        f"{plan.warm_up} random games of each variant were played before the rounds."
    )


def duel_lines(found: Mapping[str, Any]) -> list[str]:
    """The comparison with blokus-rl, and what it means."""
    lines = [
        f"{found['positions']:,} positions of {found['games']} random classic games, {found['moves']:,} legal moves: "
        + (
            "**the two do not agree**: " + "; ".join(found["disagreements"][:5])
            if found["disagreements"]
            else "both find the same number in every position, and the same final scores."
        ),
        "",
        "| classic | list, µs | random plies/s |",
        "|---|---|---|",
        f"| Kado, pure Python | {spread(found['our_list_us'])} | {spread(found['our_plies'], 0)} |",
        (
            f"| blokus-rl, compiled core called directly | {spread(found['their_list_us'])} "
            f"| {spread(found['their_core_plies'], 0)} |"
        ),
        f"| blokus-rl, `BlokusEnv` | – | {spread(found['their_environment_plies'], 0)} |",
        "",
    ]
    ours, plies = found["our_list_us"], found["our_plies"]
    lines += [
        f"- speed of the list, Kado / blokus-rl's core: {ratio(found['their_list_us'], ours)}.",
        f"- random plies/s, Kado / blokus-rl's core: {ratio(plies, found['their_core_plies'])}.",
        (
            f"- random plies/s, Kado / `BlokusEnv`: {ratio(plies, found['their_environment_plies'])}; "
            "15,000 plies/s of blokus-rl were measured before."
        ),
        "",
        (
            "A list is made by ours in Python, as the cells of each move; by blokus-rl in Rust, as a byte for each of "
            "36,400 actions beside other planes, of which numpy takes the numbers. A random ply is a list, a choice and a "
            "move in both; ours checks the move again. Positions are given to both as they arise in the same games."
        ),
    ]
    return lines

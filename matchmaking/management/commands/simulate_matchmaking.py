"""`manage.py simulate_matchmaking`: what the matchmaking rule trades for what, against two other rules."""

from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from common.commands import ExampleCommand, replace_file
from matchmaking.pairing import RULE, Rule
from matchmaking.pairing.groups import SIZES
from matchmaking.simulation.plot import plot_svg
from matchmaking.simulation.policies import FirstCome, Ours, Policy, Waves
from matchmaking.simulation.report import CALIBRATION_HEAD, Figures, calibration, figures, table
from matchmaking.simulation.run import simulate
from matchmaking.simulation.world import Plan

MOST_PLAYERS = 100_000


class Command(ExampleCommand):
    """Simulate a pool and print waits, fairness, and how well estimates come true."""

    help = "Simulate a pool: waits, people who gave up and rating spread by our rule and by two others."
    examples = """\
  manage.py simulate_matchmaking --players 30 300 3000 --hours 2
  manage.py simulate_matchmaking --players 300 --size 4 --try 100/5/25 --plot trade-off.svg"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--players", type=_count, nargs="+", default=[300], metavar="N",
            help="people online at a time; several numbers make several simulations (default 300)",
        )  # fmt: skip
        parser.add_argument(
            "--hours", type=_hours, default=2.0, metavar="H",
            help="simulated hours after a warm-up of a quarter of an hour (default 2)",
        )  # fmt: skip
        parser.add_argument(
            "--size", type=int, choices=SIZES, default=2, help="players of a game (2)"
        )
        parser.add_argument("--seed", type=int, default=1, help="another seed, other people (1)")
        parser.add_argument(
            "--try", type=_rule, nargs="+", default=[], dest="rules", metavar="S/R/D",
            help="also our rule with other figures: start / rate / divisor of sigma, as 50/6/40",
        )  # fmt: skip
        parser.add_argument("--plot", type=Path, metavar="FILE", help="write the trade-off as SVG")

    def handle(self, *args: Any, **options: Any) -> None:
        rows: list[Figures] = []
        told: list[str] = []
        for players in options["players"]:
            plan = Plan(players, options["hours"], options["size"], seed=options["seed"])
            for policy in _policies(plan, options["rules"]):
                what = f"{players:,} online, {policy.name}"
                outcome = simulate(
                    plan,
                    policy,
                    estimates=policy.name == "Kado",
                    tick=lambda part, what=what: self._progress(what, part),  # type: ignore[misc]
                )
                rows.append(figures(players, outcome))
                told += calibration(players, outcome.told)
        self._progress("", 0)
        hours, size, seed = options["hours"], options["size"], options["seed"]
        lines = [
            f"{hours:g} simulated hours, games of {size}, seed {seed}; Kado's rule is {_said(RULE)}.",
            "",
            *table(rows),
            "",
            "Estimates, by people who never give up:",
            "",
            *CALIBRATION_HEAD,
            *told,
        ]
        self.stdout.write("\n".join(lines))
        if options["plot"]:
            replace_file(options["plot"], plot_svg(rows, size=size))

    def _progress(self, what: str, part: float) -> None:
        if self.stderr.isatty():
            line = f"{what}: {part:.0%}" if what else ""
            self.stderr.write(f"\r\033[K{line}", ending="")


def _policies(plan: Plan, rules: list[Rule]) -> list[Policy]:
    tried = [Ours(plan.size, plan.limit, rule, f"Kado at {_said(rule)}") for rule in rules]
    return [
        Ours(plan.size, plan.limit),
        FirstCome(plan.size),
        Waves(plan.size, plan.limit),
        *tried,
    ]


def _said(rule: Rule) -> str:
    return f"{rule.start:g}/{rule.rate:g}/{rule.sigma_share:g}"


def _rule(text: str) -> Rule:
    try:
        start, rate, share = (float(part) for part in text.split("/"))
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not like 50/6/40") from None
    if not (0 < start < 10_000 and 0 <= rate < 10_000 and 0 < share < 1e9):
        raise ArgumentTypeError(f"{text!r}: start and divisor above 0, rate not below")
    return Rule(start=start, rate=rate, sigma_share=share)


def _count(text: str) -> int:
    if not text.isdecimal() or not 2 <= int(text) <= MOST_PLAYERS:
        raise ArgumentTypeError(f"{text!r} is not a number of players from 2 to {MOST_PLAYERS:,}")
    return int(text)


def _hours(text: str) -> float:
    try:
        hours = float(text)
    except ValueError:
        hours = 0.0
    if not 0 < hours <= 1_000:
        raise ArgumentTypeError(f"{text!r} is not a number of hours above 0")
    return hours

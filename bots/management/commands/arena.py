"""`manage.py arena`: let two CPU players play a match."""

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

from django.core.management.base import CommandError, CommandParser

from bots.arena import (
    REFERENCES,
    ArenaError,
    Contestant,
    Game,
    Match,
    Tally,
    elo,
    percentile,
    wilson,
)
from bots.levels import LEVELS
from bots.management.budget import add_budget
from bots.management.matches import play_match
from bots.management.results import Results, ResultsError
from common.workers import ParallelCommand, whole_number
from games.territory.rules import VARIANTS

EXAMPLES = """\
  python manage.py arena duo advanced intermediate --games 50
  python manage.py arena duo expert:simulations=500 advanced --games 200 --results match.jsonl
                       again after Ctrl-C: plays only what is missing; more --games go on with the match
  python manage.py arena classic expert advanced --games 40 --seconds 0.2
                       expert in each seat in turn, advanced in the three others: an even share is 25 %
  python manage.py arena junior beginner largest --jobs 1 --seed 7
"""


class Command(ParallelCommand):
    help = (
        f"Let A play a match against B. Each is a level ({', '.join(LEVELS)}), which may have a setting, such as "
        f"expert:simulations=500 or expert:seconds=0.1, or a reference player ({', '.join(REFERENCES)}). First pieces "
        "are placed at random; A takes each seat in turn from the same opening, and B has the others, so "
        "that a multiple of the number of seats is a fair number of games. Exit status: 0 if all games were played, 1 "
        "if a player chose an illegal move, 2 for a wrong call, 130 after Ctrl-C."
    )
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "variant", metavar="VARIANT", choices=list(VARIANTS), help=", ".join(VARIANTS)
        )
        parser.add_argument("a", metavar="A", help="whose match it is")
        parser.add_argument("b", metavar="B", help="against whom")
        parser.add_argument(
            "--games", metavar="N", type=whole_number, default=100, help="(default: %(default)s)"
        )
        add_budget(parser)
        parser.add_argument(
            "--seed", metavar="N", type=int, default=1, help="of all chance (default: %(default)s)"
        )
        parser.add_argument(
            "--results",
            metavar="FILE",
            type=Path,
            help="keep each game as a line of JSON, and play only games that are not there",
        )
        super().add_arguments(parser)

    def handle(
        self,
        *args: Any,
        variant: str,
        a: str,
        b: str,
        games: int,
        seed: int,
        jobs: int,
        seconds: float | None = None,
        simulations: int | None = None,
        results: Path | None = None,
        **options: Any,
    ) -> None:
        tally = Tally()
        try:
            own, other = (
                str(Contestant.parse(each, seconds=seconds, simulations=simulations))
                for each in (a, b)
            )
            match = Match(variant, own, other, seed)
            file = Results(results, match, Game) if results else None
        except (ArenaError, ResultsError) as error:
            raise CommandError(str(error), returncode=2) from error
        try:
            play_match(match, games, tally, jobs=jobs, file=file)
        except (ArenaError, ResultsError) as error:
            raise CommandError(str(error)) from error
        finally:
            # After Ctrl-C too: what has been played is worth knowing.
            if tally.games:
                self.stdout.write("\n".join(report(match, tally)))


def report(match: Match, tally: Tally) -> Iterator[str]:
    """What has come of the games so far, in lines for a person."""
    seats = VARIANTS[match.variant].seats
    low, high = wilson(tally.rate, tally.games)
    between = f"95 % confidence: {_percent(low)} to {_percent(high)}"
    yield f"{match.variant}, {tally.games} games of {match.a} against {match.b}, seed {match.seed}"
    if seats == 2:
        losses = tally.games - tally.wins - tally.draws
        yield f"games won, drawn, lost by {match.a}: {tally.wins}, {tally.draws}, {losses}"
        yield f"win rate: {_percent(tally.rate)} ({between})"
        yield f"Elo difference: {_elo(tally.rate)} ({_elo(low)} to {_elo(high)})"
        rivals = match.b
    else:
        shared = f"alone {tally.wins}, shared {tally.draws}"
        yield f"first places of {match.a} in one of {seats} seats: {tally.places:.4g} ({shared})"
        even = _percent(1 / seats)
        yield f"its part of them: {_percent(tally.rate)} ({between}); an even share is {even}"
        rivals = "the mean of the others"
    yield f"points: {tally.margin / tally.games:+.2f} a game against {rivals}"
    yield f"time a move of {match.a}: {_times(tally.seconds['a'])}"
    yield f"time a move of {match.b}: {_times(tally.seconds['b'])}"


def _percent(rate: float) -> str:
    return f"{100 * rate:.1f} %"


def _elo(rate: float) -> str:
    return f"{elo(rate):+.0f}".replace("inf", "∞")


def _times(seconds: list[float]) -> str:
    if not seconds:
        return "no moves"
    mean, most = fmean(seconds), percentile(seconds, 0.95)
    return f"{mean * 1000:.3g} ms on average, 95 % within {most * 1000:.3g} ms"

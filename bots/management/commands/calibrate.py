"""`manage.py calibrate`: rate the levels by matches between them."""

import hashlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError, CommandParser

from bots import arena, ratings
from bots.arena import ArenaError, Contestant, Game, Match, Tally
from bots.calibration import first_place, fit, name_of
from bots.levels import LEVELS
from bots.management.budget import add_budget
from bots.management.matches import play_match
from bots.management.results import Results, ResultsError
from bots.ratings import Calibration, Pairing
from common.workers import ParallelCommand, whole_number
from games.territory.rules import VARIANTS

LADDER: Final = (LEVELS[0], "largest", *LEVELS[1:])
"""Who plays, weakest first: the levels, and a reference player between two that are too far apart to meet alone."""
SEARCHING: Final = LEVELS[-1]

EXAMPLES = """\
  python manage.py calibrate all --simulations 10000  every variant; again after Ctrl-C: plays only what is missing
  python manage.py calibrate duo --games 400 --searched 100 --simulations 2000
  python manage.py calibrate duo --games 10 --searched 2 --output /tmp/try.json
"""


class Command(ParallelCommand):
    help = (
        "Let neighbouring levels play matches, and those one further apart, and write the ratings that make the results "
        f"likeliest, {ratings.ANCHOR} at {ratings.ANCHOR_RATING:.0f}, into the file that the service shows them from. "
        "Exit status: 0 if everything was played and written, 1 if a player chose an illegal move, 2 for a wrong call, "
        "130 after Ctrl-C; what was played is kept."
    )
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "variants", metavar="VARIANT", nargs="+", choices=[*VARIANTS, "all"], help="or all"
        )
        parser.add_argument(
            "--games",
            metavar="N",
            type=whole_number,
            default=240,
            help="of each pair, at least; each seat has as many (default: %(default)s)",
        )
        parser.add_argument(
            "--searched",
            metavar="N",
            type=whole_number,
            help=f"the same for pairs with {SEARCHING}, which takes its time (default: as --games)",
        )
        add_budget(parser)
        parser.add_argument(
            "--seed", metavar="N", type=int, default=1, help="of all chance (default: %(default)s)"
        )
        parser.add_argument(
            "--results",
            metavar="FOLDER",
            type=Path,
            help="where the games are kept (default: .calibration, a folder for each state of the engine)",
        )
        parser.add_argument(
            "--output",
            metavar="FILE",
            type=Path,
            default=ratings.FILE,
            help="(default: %(default)s)",
        )
        super().add_arguments(parser)

    def handle(
        self,
        *args: Any,
        variants: list[str],
        games: int,
        searched: int | None,
        seed: int,
        jobs: int,
        output: Path,
        seconds: float | None = None,
        simulations: int | None = None,
        results: Path | None = None,
        **options: Any,
    ) -> None:
        engine = engine_state()
        folder = results or Path(".calibration") / engine
        players = [
            str(Contestant.parse(name, seconds=seconds, simulations=simulations))
            if name == SEARCHING
            else name
            for name in LADDER
        ]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.stdout.write(f"Games are kept in {folder}.")
            for variant in VARIANTS if "all" in variants else dict.fromkeys(variants):
                pairings = []
                for a, b in pairs(players):
                    wanted = searched or games if SEARCHING in (name_of(a), name_of(b)) else games
                    match = Match(variant, a, b, seed)
                    pairings.append(self._play(match, wanted, jobs, folder))
                self._conclude(variant, Calibration(engine, pairings, {}), output)
        except (ArenaError, ResultsError) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}.", returncode=2) from error

    def _play(self, match: Match, games: int, jobs: int, folder: Path) -> Pairing:
        """Play a match, or what is missing of it; each side has every seat equally often."""
        seats, tally = VARIANTS[match.variant].seats, Tally()
        games = -(-games // seats) * seats
        players = f"{match.a}-{match.b}".replace(":", "-").replace("=", "-")
        file = Results(folder / f"{match.variant}-{players}-{match.seed}.jsonl", match, Game)
        play_match(match, games, tally, jobs=jobs, file=file)
        self.stdout.write(f"{match.variant}: {match.a} against {match.b}, {games} games played")
        return Pairing(match.a, match.b, tally.games, round(tally.places, 4))

    def _conclude(self, variant: str, played: Calibration, output: Path) -> None:
        """Rate, write, and say so, with what the ratings say of each match beside what came of it."""
        seats = VARIANTS[variant].seats
        found = fit(played.pairings, seats=seats)
        for pair in played.pairings:
            a, b = found[name_of(pair.a)], found[name_of(pair.b)]
            said = 100 * first_place(a.rating, b.rating, seats=seats)
            told = f"{100 * pair.places / pair.games:.1f} % of the first places, by the ratings {said:.1f} %"
            self.stdout.write(f"{variant}: {pair.a} against {pair.b}: {told}")
        for name in LADDER:
            error = f"± {found[name].sigma:.0f}" if found[name].sigma else "by definition"
            self.stdout.write(f"{variant}: {name} {found[name].rating:.0f} {error}")
        ratings.write({variant: Calibration(played.engine, played.pairings, found)}, output)
        self.stdout.write(f"{variant}: written to {output}")


def pairs(players: list[str]) -> Iterator[tuple[str, str]]:
    """Neighbours, and those one further apart, the stronger first."""
    yield from ((b, a) for a, b in pairwise(players))
    yield from ((c, a) for a, _, c in zip(players, players[1:], players[2:], strict=False))


def engine_state() -> str:
    """What tells the states of the engine's sources apart, as far as they decide how a level plays."""
    sources = sorted(Path(arena.__file__).with_name("engine").glob("*.py"))
    playing = [path for path in sources if path.stem not in ("__init__", "cache")]
    return hashlib.sha256(b"".join(path.read_bytes() for path in playing)).hexdigest()[:12]

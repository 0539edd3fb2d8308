"""`manage.py analyse`: what the engine thinks of every move of a record."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from bots.analysis import SIGNS, SIMULATIONS, Review, annotated, counts, seat_name, sentence
from bots.curve import curve_svg
from common.commands import replace_file
from common.workers import PatientCommand, watched, whole_number
from games.palette import THEMES
from games.territory.management import files

EXAMPLES = """\
  python manage.py analyse game.blksgf                            what was good, and what was better
  python manage.py analyse game.json --output analysed.blksgf     the same in the comments, for Pentobi
  python manage.py analyse game.blksgf --svg curve.svg --theme dark --simulations 50000
"""


class Command(PatientCommand):
    help = (
        "Search every position of a record, and say of each move what its seat could expect before and after it, from 0 "
        "to 1, and which move was best. The same engine, with the same simulations, finds the same again, also as a "
        "service. Exit status: 0 if it was analysed, 2 if not, 130 after Ctrl-C."
    )
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, help="a .blksgf or .json file")
        parser.add_argument(
            "--simulations",
            metavar="N",
            type=whole_number,
            default=SIMULATIONS,
            help="games played out for each position (default: %(default)s)",
        )
        parser.add_argument(
            "--output", metavar="OUT", type=Path, help="write the record with comments into OUT"
        )
        parser.add_argument("--svg", metavar="OUT", type=Path, help="draw the curve into OUT")
        parser.add_argument(
            "--theme", choices=list(THEMES), default="light", help="of the curve (light)"
        )

    def handle(
        self,
        *args: Any,
        file: Path,
        simulations: int,
        output: Path | None = None,
        svg: Path | None = None,
        theme: str = "light",
        **options: Any,
    ) -> None:
        record = files.load(file)
        if output is not None:
            files.ending(output)  # a name that is refused is refused now
        if not list(record.replay().plies()):
            raise CommandError(f"{file} has no moves.", returncode=2)
        from bots.analyst import ENGINE, analyse
        from bots.engine import prepare

        prepare()
        about = analyse(record, simulations, partial(watched, what="plies"))
        if output is not None:
            files.save(annotated(about, ENGINE, simulations), output)
        if svg is not None:
            replace_file(svg, curve_svg(about, theme=theme))
        self.stdout.write("\n".join(report(about)))


def report(about: Review) -> Iterator[str]:
    """A line a ply, and one a seat."""
    for ply in about.plies:
        sign = SIGNS.get(ply.mark, "")
        yield f"{ply.step.ply:3} {sign:2} {ply.step.move}: {sentence(ply, about.variant)}"
    for seat in range(about.variant.seats):
        found = counts(about, seat)
        said = ", ".join(f"{number} {mark.value}" for mark, number in found.items())
        yield f"{seat_name(about.variant, seat)}: {said}"

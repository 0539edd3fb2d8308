"""`manage.py show`: look at a record in the terminal, or draw it."""

import os
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.commands import ExampleCommand, replace_file
from games.territory.management import files
from games.territory.rules import THEMES, Outcome, Record, Replay, board_svg, board_text

EXAMPLES = """\
  python manage.py show game.blksgf                                  the end of the game
  python manage.py show game.json --ply 12                           after the twelfth piece
  python manage.py show game.blksgf --svg board.svg --theme dark     a picture; --svg - prints it
  python manage.py show game.blksgf --ply 0 --attach                 where the colour to move may begin
"""


class Command(ExampleCommand):
    help = (
        "Check a record and show its board in the terminal: in colour, unless the output is no terminal or NO_COLOR is "
        "set. Exit status: 0 if it was shown, 2 if it could not be read or has no such ply."
    )
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, help="a .blksgf or .json file")
        parser.add_argument(
            "--ply",
            type=int,
            metavar="N",
            help="the board after N pieces (default: after the last)",
        )
        parser.add_argument(
            "--svg", metavar="OUT", help="draw it into this file instead, - for the output"
        )
        parser.add_argument(
            "--theme", choices=list(THEMES), default="light", help="of the picture (light)"
        )
        parser.add_argument(
            "--attach", action="store_true", help="mark where the next piece may join"
        )

    def handle(
        self,
        *args: Any,
        file: Path,
        ply: int | None = None,
        svg: str | None = None,
        theme: str = "light",
        attach: bool = False,
        **options: Any,
    ) -> None:
        record = files.load(file)
        replay = record.replay()
        plies = list(replay.plies())
        if ply is not None and not 0 <= ply <= len(plies):
            raise CommandError(
                f"{file} has {len(plies)} plies: --ply is from 0 to {len(plies)}.", returncode=2
            )
        # All that stands before the next piece belongs to this ply: comments, set-ups, seats that left.
        later = plies[len(plies) if ply is None else ply :]
        number = replay.line[replay.line.index(later[0]) - 1] if later else replay.line[-1]
        position = replay.positions[number]
        last_move = record.nodes[number].move
        colour = position.turn if attach else None
        if svg is None:
            self.stdout.write(_heading(record))
            in_colour = self.stdout.isatty() and not os.environ.get("NO_COLOR")
            text = board_text(position, colour=in_colour, last_move=last_move, attach=colour)
            self.stdout.write(text)
            self.stdout.write(_caption(replay, number, len(plies) - len(later), len(plies)))
            return
        picture = board_svg(position, theme=theme, last_move=last_move, attach=colour)
        if svg == "-":
            self.stdout.write(picture)
        else:
            replace_file(Path(svg), picture)


def _heading(record: Record) -> str:
    players = " – ".join(_seat(record, seat) for seat in range(record.variant.seats))
    return " · ".join(filter(None, [record.variant.title, players, record.date]))


def _seat(record: Record, seat: int) -> str:
    """Who plays a seat: `Ada (blue, red)`, or only the colours."""
    on = record.variant
    colours = ", ".join(on.colours[colour] for colour in on.colours_of(seat))
    who = record.players[seat] if record.players else ""
    return f"{who} ({colours})" if who else colours


def _caption(replay: Replay, number: int, ply: int, plies: int) -> str:
    """What happened last, what is said of it, and how the game ended."""
    record, node = replay.record, replay.record.nodes[number]
    lines = [f"ply {ply} of {plies}"]
    if node.move is not None and node.colour is not None:
        lines[0] += f": {record.variant.colours[node.colour]} {node.move.piece} {node.move}"
    lines += [f"{_seat(record, seat)} left: {reason.value}" for seat, reason in node.left]
    lines += [node.comment] if node.comment else []
    if replay.outcome is not None and number == replay.line[-1]:
        lines.append(_result(replay.outcome, record))
    return "\n".join(lines)


def _result(end: Outcome, record: Record) -> str:
    standing = sorted(
        (rank, f"{rank}. {_seat(record, seat)} {points}")
        for seat, (rank, points) in enumerate(zip(end.ranks, end.points, strict=True))
    )
    return f"{end.termination.value}: {', '.join(text for _, text in standing)}"

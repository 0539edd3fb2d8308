"""A position as text, in colour for a terminal or plain for a log."""

from collections.abc import Sequence
from string import ascii_lowercase
from typing import Final

from games.palette import THEMES

from .geometry import board
from .notation import Move
from .position import Position

_RESET: Final = "\x1b[0m"


def board_text(
    position: Position,
    *,
    colour: bool = True,
    last_move: Move | None = None,
    attach: int | None = None,
) -> str:
    """The board with coordinates, row 1 at the bottom, and a line of points below it.

    A covered cell shows the letter of its colour, in capitals, so that the picture can be read
    without colours; a first cell that is still free shows it in small letters.  ``colour`` adds
    codes for a terminal with 256 colours.  The cells of ``last_move`` have a ``*``, and the attach
    points of the colour ``attach`` a ``+``.
    """
    variant = position.variant
    tables = board(variant.size)
    letters = _letters(variant.colours)
    last = set() if last_move is None else set(last_move.cells)
    marks: dict[str, str] = {}
    for index, letter in enumerate(letters):
        marks[variant.first_cells[index]] = f" {letter}"
    if attach is not None:
        marks |= dict.fromkeys(position.attach_points(attach), " +")
    for index, paint in enumerate(THEMES["light"].paints(variant.colours)):
        for cell in tables.split(position.squares[index]):
            mark = f"{'*' if cell in last else ' '}{letters[index].upper()}"
            marks[cell] = f"{paint.terminal}{mark}{_RESET}" if colour else mark
    columns = ascii_lowercase[: variant.size]
    header = "   " + "".join(f" {column}" for column in columns)
    lines = [header]
    for row in range(variant.size, 0, -1):
        cells = "".join(marks.get(f"{column}{row}", " .") for column in columns)
        lines.append(f"{row:>3}{cells} {row}")
    said = "" if last_move is None else f"; last move {last_move.text}"
    lines += [header, summary(position) + said]
    return "\n".join(lines) + "\n"


def summary(position: Position) -> str:
    """The points of every colour and whose turn it is, in one line."""
    names = position.variant.colours
    points = []
    for index, name in enumerate(names):
        status = status_of(position, index)
        points.append(f"{name} {position.points(index)}{f' ({status})' if status else ''}")
    turn = "game over" if position.turn is None else f"{names[position.turn]} to move"
    return f"{', '.join(points)}; {turn}"


def status_of(position: Position, colour: int) -> str:
    """Why a colour gets no more turns: it is ``out``, or its player has ``left``; else nothing."""
    if position.variant.owners[colour] in position.gone:
        return "left"
    return "out" if colour in position.out else ""


def _letters(names: Sequence[str]) -> list[str]:
    """A letter for each colour: the first one of its name that no colour before it has."""
    letters: list[str] = []
    for index, name in enumerate(names):
        free = (letter for letter in name if letter not in letters)
        letters.append(next(free, str(index)))
    return letters

"""A position as text, in colour for a terminal or plain for a log."""

from string import ascii_lowercase
from typing import Final

from .geometry import board
from .position import Position

_RESET: Final = "\x1b[0m"
_STYLES: Final = {
    "blue": "\x1b[48;5;25;97m",
    "yellow": "\x1b[48;5;227;30m",
    "red": "\x1b[48;5;160;97m",
    "green": "\x1b[48;5;29;97m",
    "orange": "\x1b[48;5;208;30m",
}


def board_text(position: Position, *, colour: bool = True) -> str:
    """The board with coordinates, row 1 at the bottom, and a line of points below it.

    A covered cell shows the first letter of its colour, in capitals, so that the picture can be
    read without colours; a first cell that is still free shows it in small letters.  ``colour``
    adds ANSI escape codes.
    """
    variant = position.variant
    tables = board(variant.size)
    marks: dict[str, str] = {}
    for index, name in enumerate(variant.colours):
        marks[variant.first_cells[index]] = f" {name[0]}"
    for index, name in enumerate(variant.colours):
        mark = f" {name[0].upper()}"
        if colour:
            mark = f"{_STYLES[name]}{mark}{_RESET}"
        marks |= dict.fromkeys(tables.split(position.squares[index]), mark)
    columns = ascii_lowercase[: variant.size]
    letters = "   " + "".join(f" {column}" for column in columns)
    lines = [letters]
    for row in range(variant.size, 0, -1):
        cells = "".join(marks.get(f"{column}{row}", " .") for column in columns)
        lines.append(f"{row:>3}{cells} {row}")
    lines += [letters, _summary(position)]
    return "\n".join(lines) + "\n"


def _summary(position: Position) -> str:
    names = position.variant.colours
    points = ", ".join(
        f"{name} {position.points(index)}{' (out)' if index in position.out else ''}"
        for index, name in enumerate(names)
    )
    turn = "game over" if position.turn is None else f"{names[position.turn]} to move"
    return f"{points}; {turn}"

"""A run as text, in colour for a terminal or plain for a log."""

from collections.abc import Iterator
from itertools import zip_longest
from string import ascii_lowercase
from typing import Final

from games.palette import THEMES

from .blocks import Block
from .board import BoardKind, Mask
from .run import TOP_MULTIPLIER, Run, fits, would_clear

_RESET: Final = "\x1b[0m"
_FAINT: Final = "\x1b[2m"
_COVERED, _AIMED, _BLOCKED, _OUTLINE = (
    paint.terminal for paint in THEMES["light"].paints(("blue", "sky", "red", "yellow"))
)
_ROOM: Final = 18
"""The width of a block of the hand, in characters."""


def board_text(run: Run, *, colour: bool = True, aimed: Mask = 0) -> str:
    """The board with coordinates, row 1 at the bottom, and below it the hand and a line of figures.

    A covered cell is ``#``.  ``aimed`` are cells under a block that is not placed yet: ``o``, or ``x`` where something
    lies already; brackets stand around the lines that it would clear.  Blocks that fit nowhere are faint and
    said to.  ``colour`` adds codes for a terminal with 256 colours.
    """
    lines = [*_board_lines(run, aimed, colour), "", *_hand_lines(run, colour), summary(run)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def summary(run: Run) -> str:
    """Score, streak and whether the run is over, in one line."""
    parts = [f"score {run.score}"]
    if run.streak:
        multiplier = min(run.streak + 1, TOP_MULTIPLIER)
        risk = ", at risk" if run.streak_at_risk else ""
        parts.append(f"streak {run.streak} (×{multiplier} next{risk})")
    if run.over:
        parts.append("run over")
    return "; ".join(parts)


def _board_lines(run: Run, aimed: Mask, colour: bool) -> Iterator[str]:
    kind = run.rules.board
    lined = 0
    for line in would_clear(run, aimed):
        lined |= line.mask
    header = "   " + "".join(f" {column}" for column in ascii_lowercase[: kind.size])
    yield header
    for row in range(kind.size, 0, -1):
        cells = "".join(
            _edge(kind, lined, column, row, colour) + _mark(run, aimed, cell, colour)
            for column, cell in enumerate(_row(kind, row))
        )
        yield f"{row:>3}{cells}{_edge(kind, lined, kind.size, row, colour)}{row}"
        if row > 1 and kind.box and (row - 1) % kind.box == 0:
            yield "    " + "+".join(["-" * 5] * 3)
    yield header


def _row(kind: BoardKind, row: int) -> list[Mask]:
    return [kind.cells[f"{column}{row}"] for column in ascii_lowercase[: kind.size]]


def _edge(kind: BoardKind, lined: Mask, column: int, row: int, colour: bool) -> str:
    """What stands left of a cell: a bracket where the lines that would clear begin or end, or the side of a box."""
    row_bits = [0, *_row(kind, row), 0]
    before, after = (bool(lined & row_bits[at]) for at in (column, column + 1))
    if before == after:
        inside = 0 < column < kind.size
        return "|" if inside and kind.box and column % kind.box == 0 else " "
    bracket = "[" if after else "]"
    return f"{_OUTLINE}{bracket}{_RESET}" if colour else bracket


def _mark(run: Run, aimed: Mask, cell: Mask, colour: bool) -> str:
    covered, under = run.board & cell, aimed & cell
    if not covered and not under:
        return "."
    mark, style = ("x", _BLOCKED) if covered and under else ("o", _AIMED)
    if not under:
        mark, style = "#", _COVERED
    return f"{style}{mark}{_RESET}" if colour else mark


def _hand_lines(run: Run, colour: bool) -> Iterator[str]:
    """The three blocks side by side, each under its number and name."""
    pictures = [
        _block_lines(slot, block, has_room)
        for slot, (block, has_room) in enumerate(zip(run.hand, fits(run), strict=True), 1)
    ]
    faint = [colour and not has_room for has_room in fits(run)]
    for row in zip_longest(*pictures, fillvalue=""):
        texts = (text.ljust(_ROOM) for text in row)
        yield "".join(
            f"{_FAINT}{text}{_RESET}" if pale else text
            for text, pale in zip(texts, faint, strict=True)
        )


def _block_lines(slot: int, block: Block | None, has_room: bool) -> list[str]:
    if block is None:
        return [f"  {slot}  –"]
    rows = [
        "".join(" #" if (row, column) in block.form else "  " for column in range(block.width))
        for row in reversed(range(block.height))
    ]
    name = f"{slot}  {block}" if has_room else f"{slot}  {block} no room"
    return [f"  {name}", *(f"    {row}" for row in rows)]

"""A run as an SVG picture.

Pure, with neither scripts nor ids, so that many pictures fit in one page.  A cell is ten units of the view box; give
the element a width to scale it.
"""

from collections.abc import Iterable, Iterator
from html import escape
from string import ascii_lowercase
from typing import Final

from games.palette import BLACK, Paint, Theme, theme_of
from games.polyomino import Cell

from .blocks import Block
from .board import BoardKind, Line, Mask
from .run import Run, fits, would_clear
from .text import summary

CELL: Final = 10
HAND_CELL: Final = 5
"""The side of a square of the hand; five of them are the longest block."""
_LEGEND_HEIGHT: Final = 10
_FADED: Final = 0.3
_PALE: Final = 0.4


def board_svg(
    run: Run,
    *,
    aimed: Mask = 0,
    theme: str = "light",
    coordinates: bool = True,
    hand: bool = True,
) -> str:
    """The picture of a run.

    ``aimed`` are cells under a block that is not placed yet: they are pale, and the lines that it would clear have
    an outline.  ``hand`` are the blocks below the board, faded where they fit nowhere, and the score.  ``theme`` is a
    name in ``games.palette.THEMES`` (``UnknownThemeError`` if it is not).  Title and description say it in words.
    """
    look = theme_of(theme)
    kind = run.rules.board
    (blue,) = look.paints(["blue"])
    side = kind.size * CELL
    margin = CELL if coordinates else 2
    width = side + 2 * margin
    height = width + (5 * HAND_CELL + 8 + _LEGEND_HEIGHT) * hand
    lines = would_clear(run, aimed)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="{-margin} {-margin} {width} {height}">',
        f"<title>{escape(f'Block puzzle {kind.key}: {summary(run)}')}</title>",
        f"<desc>{escape(' '.join(_words(run, aimed, lines)))}</desc>",
        f'<rect x="{-margin}" y="{-margin}" width="{width}" height="{height}" fill="{look.page}"/>',
        *_grid(kind, look),
    ]
    if coordinates:
        parts += _labels(kind.size, look)
    parts += _squares("covered", _positions(kind, run.board), blue, look)
    parts += _aim(run, aimed, blue, look)
    parts += (_outline(kind, line, look) for line in lines)
    if hand:
        parts += _hand(run, blue, look, side + margin)
        parts += _figures(run, look, side + margin + 5 * HAND_CELL + 8)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _words(run: Run, aimed: Mask, lines: tuple[Line, ...]) -> Iterator[str]:
    """What is drawn besides the figures."""
    kind = run.rules.board
    yield f"Covered: {','.join(kind.split(run.board)) or 'nothing'}."
    blocks = (
        "empty" if block is None else f"{block}{'' if has_room else ' (no room)'}"
        for block, has_room in zip(run.hand, fits(run), strict=True)
    )
    yield f"Hand: {', '.join(blocks)}."
    if aimed:
        yield f"A block is held over {','.join(kind.split(aimed))}."
        yield f"It would clear: {', '.join(line.text for line in lines) or 'nothing'}."


def _grid(kind: BoardKind, look: Theme) -> Iterator[str]:
    side = kind.size * CELL
    lines = "".join(f"M0 {at}h{side}M{at} 0v{side}" for at in range(0, side + 1, CELL))
    yield f'<rect class="ground" width="{side}" height="{side}" fill="{look.ground}"/>'
    yield f'<path class="grid" d="{lines}" stroke="{look.grid}" stroke-width=".5"/>'
    if kind.box:
        bold = "".join(
            f"M0 {at}h{side}M{at} 0v{side}" for at in range(0, side + 1, kind.box * CELL)
        )
        yield f'<path class="boxes" d="{bold}" stroke="{look.ink}" stroke-width="1"/>'


def _labels(size: int, look: Theme) -> Iterator[str]:
    yield (
        '<g class="coordinates" font-family="sans-serif" font-size="5.6" text-anchor="middle" '
        f'fill="{look.ink}">'
    )
    for at in range(size):
        middle = at * CELL + 5
        yield f'<text x="{middle}" y="-3">{ascii_lowercase[at]}</text>'
        yield f'<text x="-5" y="{middle + 2}">{size - at}</text>'
    yield "</g>"


def _positions(kind: BoardKind, mask: Mask) -> Iterator[Cell]:
    """The cells of a set as 0-based (row, column) with row 0 at the top."""
    while mask:
        bit = mask & -mask
        row, column = divmod(bit.bit_length() - 1, kind.stride)
        yield kind.size - 1 - row, column
        mask ^= bit


def _squares(
    name: str, cells: Iterable[Cell], paint: Paint, look: Theme, extra: str = ""
) -> Iterator[str]:
    path = "".join(f"M{column * CELL} {row * CELL}h10v10h-10z" for row, column in cells)
    if path:
        yield (
            f'<path class="{name}" d="{path}" fill="{paint.fill}" stroke="{look.outline}" '
            f'stroke-width=".7"{extra}/>'
        )


def _aim(run: Run, aimed: Mask, blue: Paint, look: Theme) -> Iterator[str]:
    """The held block: pale where it may lie, and a cross where something is in its way."""
    kind = run.rules.board
    free = _positions(kind, aimed & ~run.board)
    pale = f' fill-opacity="{_PALE}" stroke-dasharray="2 1"'
    yield from _squares("aimed", free, blue, look, pale)
    crosses = "".join(
        f"M{column * CELL + 2.5} {row * CELL + 2.5}l5 5m0-5l-5 5"
        for row, column in _positions(kind, aimed & run.board)
    )
    if crosses:
        yield f'<path class="blocked" d="{crosses}" stroke="{blue.ink}" stroke-width="1.5"/>'


def _outline(kind: BoardKind, line: Line, look: Theme) -> str:
    """A thick yellow frame with a black edge, which shows on every ground."""
    cells = list(_positions(kind, line.mask))
    top, left = min(row for row, _ in cells), min(column for _, column in cells)
    height = max(row for row, _ in cells) - top + 1
    width = max(column for _, column in cells) - left + 1
    shape = (
        f'x="{left * CELL}" y="{top * CELL}" width="{width * CELL}" height="{height * CELL}" '
        'fill="none" stroke-linejoin="round"'
    )
    return (
        f'<g class="line"><title>{line.text}</title><rect {shape} stroke="{BLACK}" stroke-width="3.2"/>'
        f'<rect {shape} stroke="{look.fills["yellow"]}" stroke-width="2"/></g>'
    )


def _hand(run: Run, paint: Paint, look: Theme, top: int) -> Iterator[str]:
    """The blocks under their numbers, in three equal parts of the width."""
    part = run.rules.board.size * CELL / len(run.hand)
    for slot, (block, has_room) in enumerate(zip(run.hand, fits(run), strict=True)):
        left = slot * part
        yield (
            f'<text x="{left + 1:.1f}" y="{top + 5}" font-family="sans-serif" font-size="4.5" '
            f'fill="{look.ink}">{slot + 1}</text>'
        )
        if block is not None:
            faded = "" if has_room else f' opacity="{_FADED}"'
            name = "block" if has_room else "block faded"
            yield (
                f'<path class="{name}" d="{_small(block, left + (part - 5 * HAND_CELL) / 2 + 2, top)}" '
                f'fill="{paint.fill}" stroke="{look.outline}" stroke-width=".5"{faded}/>'
            )


def _small(block: Block, left: float, top: float) -> str:
    """The squares of a block in the middle of five by five."""
    x = left + (5 - block.width) * HAND_CELL / 2
    y = top + (5 + block.height) * HAND_CELL / 2
    return "".join(
        f"M{x + column * HAND_CELL:.1f} {y - row * HAND_CELL:.1f}h5v-5h-5z"
        for row, column in block.form
    )


def _figures(run: Run, look: Theme, top: int) -> Iterator[str]:
    """The score and the streak; the streak in a red dotted box while it is at risk."""
    side = run.rules.board.size * CELL
    style = f'font-family="sans-serif" font-size="6" fill="{look.ink}"'
    over = " · over" if run.over else ""
    yield f'<text class="score" x="0" y="{top + 6}" {style}>{run.score}{over}</text>'
    if run.streak:
        text = f"streak {run.streak}"
        yield f'<text class="streak" x="{side}" y="{top + 6}" text-anchor="end" {style}>{text}</text>'
    if run.streak and run.streak_at_risk:
        width = 4 + 2.9 * len(f"streak {run.streak}")
        yield (
            f'<rect class="at-risk" x="{side + 2 - width:.1f}" y="{top}" width="{width:.1f}" height="8.5" '
            f'fill="none" stroke="{look.fills["red"]}" stroke-dasharray="1 1"/>'
        )

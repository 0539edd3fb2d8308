"""The puzzle by lines of text: for pipes, logs, and terminals that cannot do more."""

import re
from collections.abc import Callable, Iterable

from games.puzzle.management.session import Session, told
from games.puzzle.rules import RulesError, board_text, preview

HELP = """\
  1 c4      place block 1, the lower left corner of its bounding box at c4
  1 c4 2    the same after two quarter turns clockwise
  ? 1 c4 2  look first: what it would cover and clear
  u         take the latest placement back
  q         quit
"""
_PLACEMENT = re.compile(r"(\?)?\s*([1-3])\s+([a-j][1-9]0?)(?:\s+([0-3]))?")


def play_lines(
    session: Session, lines: Iterable[str], write: Callable[[str], object], *, colour: bool
) -> None:
    """Play by these lines until one says `q`, or to the last."""
    write(HELP)
    write(board_text(session.run, colour=colour))
    for line in lines:
        words = line.strip().lower()
        if words == "q":
            return
        if not words:
            continue
        try:
            write(_answer(session, words, colour=colour))
        except RulesError as error:
            write(f"{error} [{error.code}]\n")


def _answer(session: Session, words: str, *, colour: bool) -> str:
    if words == "u":
        session.take_back()
        return board_text(session.run, colour=colour)
    asked = _PLACEMENT.fullmatch(words)
    if asked is None:
        return f"{words!r:.60} is none of these:\n{HELP}"
    look, slot, at, turns = asked.groups()
    placement = int(slot) - 1, int(turns or 0), at
    if look:
        plan = preview(session.run, *placement)
        lines = ", ".join(line.text for line in plan.lines) or "nothing"
        picture = board_text(session.run, colour=colour, aimed=plan.mask)
        return f"{picture}would clear {lines}\n"
    placed = session.place(*placement)
    return f"{board_text(session.run, colour=colour)}{told(placed)}\n"

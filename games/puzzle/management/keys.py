"""The puzzle by keys, on a screen that is drawn again after each."""

import os
import re
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from string import ascii_lowercase
from typing import Final

from games.puzzle.management.session import Session, told
from games.puzzle.rules import Block, RulesError, aim, board_text

HELP: Final = "1-3 block  arrows move  R turn  Space place  U undo  Q quit"
_KEY: Final = re.compile(rb"\x1b\[[0-9;]*[A-Za-z~]|\x1bO[A-Za-z]|[^\x1b]")
"""What terminals send for an arrow or another key with a name, or a single byte."""
_UNFINISHED: Final = re.compile(rb"\x1b(\[[0-9;]*|O)?\Z")
_ARROWS: Final = {
    intro + arrow: step
    for intro in (b"\x1b[", b"\x1bO")  # a terminal has two modes
    for arrow, step in ((b"A", (0, 1)), (b"B", (0, -1)), (b"C", (1, 0)), (b"D", (-1, 0)))
}
_ENTER_SCREEN, _LEAVE_SCREEN = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"


class Table:
    """The run with a block held over it."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.slot = 0
        self.rotation = 0
        self.column = self.row = session.run.rules.board.size // 2
        self.message = ""
        self._hold()

    @property
    def block(self) -> Block | None:
        """The held block as turned; `None` when the run is over."""
        block = self.session.run.hand[self.slot]
        return None if block is None else block.turned(self.rotation)

    @property
    def at(self) -> str:
        return f"{ascii_lowercase[self.column]}{self.row + 1}"

    def press(self, key: bytes) -> bool:
        """Do what a key says; false if it says to quit."""
        self.message = ""
        try:
            return self._did(key.lower() if len(key) == 1 else key)
        except RulesError as error:
            self.message = str(error)
            return True

    def _did(self, key: bytes) -> bool:
        if key == b"q":
            return False
        if key == b"u":
            self.session.take_back()
            self._hold()
        elif key in (b"1", b"2", b"3"):
            aim(self.session.run, int(key) - 1, 0, "a1")  # refused if there is none
            self._hold(int(key) - 1)
        elif key == b"r":
            aim(self.session.run, self.slot, 1, "a1")
            self.rotation = (self.rotation + 1) % 4
            self._keep_inside()
        elif key in (b" ", b"\r", b"\n"):
            self.message = told(self.session.place(self.slot, self.rotation, self.at))
            self._hold()
        elif key in _ARROWS:
            across, up = _ARROWS[key]
            self.column, self.row = self.column + across, self.row + up
            self._keep_inside()
        return True

    def _hold(self, slot: int | None = None) -> None:
        """Take up a block of the hand: this one, or the first there is from the held one on."""
        hand = self.session.run.hand
        slots = [slot] if slot is not None else [(self.slot + step) % 3 for step in range(3)]
        self.slot = next(each for each in slots if hand[each] is not None)
        self.rotation = 0
        self._keep_inside()

    def _keep_inside(self) -> None:
        """Move the block so that it lies on the board as a whole."""
        if self.block is not None:
            size = self.session.run.rules.board.size
            self.column = min(max(self.column, 0), size - self.block.width)
            self.row = min(max(self.row, 0), size - self.block.height)

    def picture(self, *, colour: bool) -> str:
        """The screen as text."""
        run = self.session.run
        aimed = 0 if run.over else aim(run, self.slot, self.rotation, self.at)[1]
        held = "no moves left" if run.over else f"block {self.slot + 1} at {self.at}"
        board = board_text(run, colour=colour, aimed=aimed)
        return f"{board}{held}\n{self.message}\n{HELP}"


def play_keys(
    session: Session, keyboard: int, write: Callable[[str], object], *, colour: bool
) -> None:
    """Play by the keys of this terminal until `Q`, Ctrl-C or its end."""
    table = Table(session)
    with _screen(keyboard, write):
        write(_frame(table, colour=colour))
        for key in _keys(keyboard):
            if not table.press(key):
                break
            write(_frame(table, colour=colour))
    write(board_text(session.run, colour=colour))


def _frame(table: Table, *, colour: bool) -> str:
    """Drawn over what was there, each line to its end, so that nothing flickers; 24 lines at most."""
    return "\x1b[H" + table.picture(colour=colour).replace("\n", "\x1b[K\n") + "\x1b[K\x1b[J"


def _keys(keyboard: int) -> Iterator[bytes]:
    unread = b""
    while True:
        try:
            more = os.read(keyboard, 1024)
        except (OSError, KeyboardInterrupt):  # the terminal is gone, or somebody wants to be
            return
        if not more:
            return
        unread += more
        # The bytes of one key need not arrive together.
        unfinished = _UNFINISHED.search(unread)
        end = unfinished.start() if unfinished else len(unread)
        whole, unread = unread[:end], unread[end:]
        yield from _KEY.findall(whole)


@contextmanager
def _screen(keyboard: int, write: Callable[[str], object]) -> Iterator[None]:
    """A screen of its own, where keys arrive at once and are not shown; all as it was afterwards."""
    before = termios.tcgetattr(keyboard)
    write(_ENTER_SCREEN)
    try:
        tty.setcbreak(keyboard)
        yield
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)
        write(_LEAVE_SCREEN)

"""The rules of rooms and challenges: their codes, what a game may be played by, who begins. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, TypeVar

from games.territory.events import UndoRule
from games.territory.rules import ClockError, TimeControl, TimeKind
from matchmaking.errors import WrongSettingsError

T = TypeVar("T")
DAY_MS: Final = 24 * 60 * 60 * 1000

ALPHABET: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Without 0 and O, 1 and I, which are read for each other."""
CODE_LENGTH: Final = 6
"""32^6: with ten thousand rooms open, one guess in 100,000 finds one."""

INITIAL_MS: Final = (10_000, 3 * 60 * 60 * 1000)
INCREMENT_MS: Final = (0, 3 * 60 * 1000)
DAYS: Final = (1, 14)
"""The least and the most that people may agree on: for a realtime game, its increment, a move by correspondence."""


def new_code(random: Random) -> str:
    """A code to be told by mouth."""
    return "".join(random.choices(ALPHABET, k=CODE_LENGTH))


def read_code(text: str) -> str | None:
    """The code that somebody has typed, in whatever case; None for what no code looks like."""
    code = text.upper()
    return code if len(code) == CODE_LENGTH and set(code) <= set(ALPHABET) else None


@dataclass(frozen=True, slots=True)
class Terms:
    """What a game is to be played by."""

    variant: str
    time_control: TimeControl
    rated: bool
    undo: UndoRule
    spectators: bool

    def check(self) -> None:
        """Raises `WrongSettingsError` for what people may not agree on; the variant is looked at elsewhere."""
        control = self.time_control
        least, most = INITIAL_MS
        if control.kind is TimeKind.REALTIME:
            if not least <= control.initial_ms <= most:
                _refuse("time_control", f"`initial_ms` is from {least:,} to {most:,}.")
            if not INCREMENT_MS[0] <= control.increment_ms <= INCREMENT_MS[1]:
                _refuse("time_control", f"`increment_ms` is from 0 to {INCREMENT_MS[1]:,}.")
        if control.kind is TimeKind.CORRESPONDENCE:
            days, rest = divmod(control.initial_ms, DAY_MS)
            if rest or not DAYS[0] <= days <= DAYS[1]:
                _refuse("time_control", f"A move has {DAYS[0]} to {DAYS[1]} whole days.")
        if self.rated and control.kind is TimeKind.NONE:
            _refuse("rated", "A rated game has a clock.")
        if self.rated and self.undo == "free":
            _refuse("undo", "In a rated game moves are taken back by agreement only.")


def time_control(kind: str, initial_ms: int, increment_ms: int) -> TimeControl:
    """The time control of these values. Raises `WrongSettingsError` for those that do not go together."""
    try:
        return TimeControl(TimeKind(kind), initial_ms, increment_ms)
    except ClockError as error:
        raise WrongSettingsError(fields={"time_control": [str(error)]}) from None


def _refuse(field: str, why: str) -> None:
    raise WrongSettingsError(why, fields={field: [why]})


def may_be_rated(kinds: Sequence[str]) -> bool:
    """Whether a game of players of these kinds, one for each seat, counts: people who have signed in, two at least."""
    return len(kinds) >= 2 and set(kinds) == {"registered"}


def rotated(seats: Sequence[T]) -> list[T]:
    """The seats of a rematch: whoever moved second moves first, and whoever began moves last."""
    return [*seats[1:], *seats[:1]]

"""Clocks as values.  Time is an argument: integer milliseconds since the epoch.

A move that arrives at ``now < deadline`` is in time, one at ``now >= deadline`` is late.

>>> clock = Clock.start(TimeControl.realtime(120_000, 3_000), seats=2, now=1_000_000)
>>> clock.deadline
1120000
>>> clock = clock.press(now=1_010_000, next_seat=1)
>>> clock.remaining(0, now=1_500_000), clock.remaining(1, now=1_020_000)
(113000, 110000)
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from .errors import ClockError

DAY_MS: Final = 24 * 60 * 60 * 1000
_BLITZ_BELOW_MS: Final = 5 * 60 * 1000
_EXPECTED_MOVES: Final = 30


class TimeKind(StrEnum):
    """The kinds of time control."""

    REALTIME = "realtime"
    CORRESPONDENCE = "correspondence"
    NONE = "none"


class Speed(StrEnum):
    """The class of a time control, which with the variant keys a rating."""

    BLITZ = "blitz"
    RAPID = "rapid"
    CORRESPONDENCE = "correspondence"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class TimeControl:
    """How much time the seats of a game have.

    ``realtime``: ``initial_ms`` for the whole game, and ``increment_ms`` more after each move.
    ``correspondence``: ``initial_ms`` anew for every move.  ``none``: no clock runs.
    """

    kind: TimeKind
    initial_ms: int = 0
    increment_ms: int = 0

    def __post_init__(self) -> None:
        if self.kind is TimeKind.NONE:
            fits = self.initial_ms == self.increment_ms == 0
        elif self.kind is TimeKind.CORRESPONDENCE:
            fits = self.initial_ms > 0 and self.increment_ms == 0
        else:
            fits = self.initial_ms > 0 and self.increment_ms >= 0
        if not fits:
            raise ClockError(
                f"A {self.kind} time control cannot have {self.initial_ms} ms "
                f"and an increment of {self.increment_ms} ms.",
                code="bad-time-control",
            )

    @classmethod
    def realtime(cls, initial_ms: int, increment_ms: int = 0) -> "TimeControl":
        """So much for the game, and an increment after each move."""
        return cls(TimeKind.REALTIME, initial_ms, increment_ms)

    @classmethod
    def correspondence(cls, days: int) -> "TimeControl":
        """So many days for each move."""
        return cls(TimeKind.CORRESPONDENCE, days * DAY_MS)

    @classmethod
    def none(cls) -> "TimeControl":
        """As long as anybody likes."""
        return cls(TimeKind.NONE)

    @property
    def speed(self) -> Speed:
        """Blitz if a game of 30 moves a seat gives each of them less than five minutes."""
        if self.kind is not TimeKind.REALTIME:
            return Speed(self.kind.value)
        expected = self.initial_ms + _EXPECTED_MOVES * self.increment_ms
        return Speed.BLITZ if expected < _BLITZ_BELOW_MS else Speed.RAPID


@dataclass(frozen=True, slots=True)
class Clock:
    """The time of every seat; that of at most one of them runs."""

    control: TimeControl
    left_ms: tuple[int, ...]
    """What each seat had left when its clock last stood still."""
    running: int | None = None
    """The seat whose time runs."""
    since: int | None = None
    """The instant since which it runs."""

    @classmethod
    def start(cls, control: TimeControl, seats: int, now: int, seat: int | None = 0) -> "Clock":
        """Full time for all; the clock of ``seat`` runs, or none yet if it is ``None``."""
        clock = cls(control, (control.initial_ms,) * seats)
        return clock if seat is None else clock.run(seat, now)

    def remaining(self, seat: int, now: int) -> int | None:
        """Milliseconds that a seat has left, never below 0; ``None`` without a time control."""
        if self.control.kind is TimeKind.NONE:
            return None
        left = self.left_ms[seat]
        if seat == self.running and self.since is not None:
            # A clock of another machine may be a little behind: time never runs backwards.
            left -= max(0, now - self.since)
        return max(0, left)

    @property
    def deadline(self) -> int | None:
        """The first instant at which the running seat is too late; ``None`` if no time runs."""
        if self.running is None or self.since is None or self.control.kind is TimeKind.NONE:
            return None
        return self.since + self.left_ms[self.running]

    def flagged(self, now: int) -> bool:
        """Whether the running seat's time is used up."""
        deadline = self.deadline
        return deadline is not None and now >= deadline

    def press(self, now: int, next_seat: int | None, lag_ms: int = 0) -> "Clock":
        """The running seat has moved: take its time, add the increment, run ``next_seat``.

        ``next_seat`` may be the same seat again, or ``None`` when the game is over.  ``lag_ms`` of
        the time that has passed is not the mover's, for the move was that long on its way; the
        next seat's time runs from ``now`` all the same.  Raises ``ClockError`` with the code
        ``clock-standing`` or ``too-late``.
        """
        seat = self.running
        if seat is None:
            raise ClockError("No clock is running.", code="clock-standing")
        if self.flagged(now - lag_ms):
            raise ClockError("The time was used up before this move.", code="too-late")
        clock = self.stop(now - lag_ms)
        if self.control.kind is TimeKind.CORRESPONDENCE:
            clock = clock._with(seat, self.control.initial_ms)
        else:
            clock = clock._with(seat, clock.left_ms[seat] + self.control.increment_ms)
        return clock if next_seat is None else clock.run(next_seat, now)

    def stop(self, now: int) -> "Clock":
        """No clock runs; the time that the running seat has used is taken, and nothing added."""
        if self.running is None:
            return self
        left = self.remaining(self.running, now)
        return Clock(self.control, self.left_ms) if left is None else self._with(self.running, left)

    def run(self, seat: int, now: int) -> "Clock":
        """The clock of another seat runs from now on; one that ran is stopped first."""
        return Clock(self.control, self.stop(now).left_ms, seat, now)

    def paused(self, now: int) -> "Clock":
        """It is still the running seat's turn, but its time stands until ``run``."""
        return Clock(self.control, self.stop(now).left_ms, self.running)

    def extended(self, by_ms: int) -> "Clock":
        """So much more time for every seat, such as after an outage."""
        if self.control.kind is TimeKind.NONE:
            return self
        left_ms = tuple(left + by_ms for left in self.left_ms)
        return Clock(self.control, left_ms, self.running, self.since)

    def _with(self, seat: int, left: int) -> "Clock":
        """No clock runs, and the seat has so much left."""
        return Clock(self.control, (*self.left_ms[:seat], left, *self.left_ms[seat + 1 :]))

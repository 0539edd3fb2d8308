"""What a game was for each of its players, and what many games come to. PURE: no Django.

Counted is a game that was played to an end, for a player who had one seat in it. Of an aborted game nothing counts,
nor of one in which somebody held several seats: they would win and lose at once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from games.territory.rules import Variant


class Result(StrEnum):
    """What a game was for a player. `open`: it goes on, or is not settled yet."""

    OPEN = "open"
    WON = "won"
    DRAWN = "drawn"
    LOST = "lost"
    SEVERAL = "several"
    """The player held several seats."""
    ABORTED = "aborted"


COUNTED = frozenset({Result.WON, Result.DRAWN, Result.LOST})


@dataclass(frozen=True, slots=True)
class Chair:
    """A seat of a game: `level` of a CPU, points and rank once there are some."""

    player: int
    level: str = ""
    points: int | None = None
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Played:
    """What a game was for one player; `levels` are those of the CPUs among the others."""

    result: Result
    points: int | None = None
    perfect: bool = False
    levels: tuple[str, ...] = ()

    @property
    def counted(self) -> bool:
        return self.result in COUNTED


def is_perfect(on: Variant, seat: int, points: int) -> bool:
    """Whether every piece of the seat's colours was placed: without one of them it never comes to as much."""
    return points >= len(on.colours_of(seat)) * (on.hand_cells + on.all_placed_bonus)


def played(on: Variant, chairs: Sequence[Chair], *, status: str) -> Mapping[int, Played]:
    """What a game was for each of its players; `status` is the game's, and it has results once it is settled."""
    found: dict[int, Played] = {}
    for seat, chair in enumerate(chairs):
        levels = tuple(
            sorted({each.level for each in chairs if each.level and each.player != chair.player})
        )
        if status == "started" or (status == "finished" and chair.rank is None):
            found[chair.player] = Played(Result.OPEN, levels=levels)
        elif status == "aborted":
            found[chair.player] = Played(Result.ABORTED, levels=levels)
        elif chair.player in found:
            found[chair.player] = Played(Result.SEVERAL, levels=levels)
        else:
            points = chair.points or 0
            perfect = is_perfect(on, seat, points)
            found[chair.player] = Played(_result(chair, chairs), points, perfect, levels)
    return found


def _result(chair: Chair, chairs: Sequence[Chair]) -> Result:
    if chair.rank != 1:
        return Result.LOST
    return Result.WON if [each.rank for each in chairs].count(1) == 1 else Result.DRAWN


@dataclass(slots=True)
class Tally:
    """Games counted, in the order of their ends; `streak` are the wins since the last game that was none."""

    games: int = 0
    won: int = 0
    drawn: int = 0
    lost: int = 0
    points: int = 0
    best_points: int | None = None
    perfect: int = 0
    streak: int = 0
    longest_streak: int = 0
    last: tuple[datetime, str] | None = None
    """When the latest of them ended, and its id."""

    def add(self, result: str, points: int, *, perfect: bool, ended: tuple[datetime, str]) -> bool:
        """Count one more game. False: one that ended later was counted before, so the streaks are not right now."""
        in_order = self.last is None or self.last < ended
        self.games += 1
        self.won += result == Result.WON
        self.drawn += result == Result.DRAWN
        self.lost += result == Result.LOST
        self.points += points
        self.best_points = points if self.best_points is None else max(self.best_points, points)
        self.perfect += perfect
        self.streak = self.streak + 1 if result == Result.WON else 0
        self.longest_streak = max(self.longest_streak, self.streak)
        if in_order:
            self.last = ended
        return in_order


def keys_of(variant: str, key: str, levels: Iterable[str]) -> list[tuple[str, str]]:
    """What a counted game counts for: the variant, variant and speed, the variant against each level of CPU."""
    return [(variant, ""), (key, ""), *((variant, level) for level in levels)]

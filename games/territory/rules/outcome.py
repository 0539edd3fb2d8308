"""How a game ended: points, ranks and termination, from the last position and the seats that left.

>>> from .position import Position
>>> from .variant import variant
>>> end = outcome(Position.start(variant("duo")), [(0, Termination.RESIGNED)])
>>> end.termination.value, end.ranks, end.penalty_points
('resigned', (2, 1), (-89, -89))
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from .errors import GameNotOverError, RulesError
from .position import Position


class Termination(StrEnum):
    """What ended a game, or a seat's part in it."""

    COMPLETED = "completed"
    RESIGNED = "resigned"
    TIMEOUT = "timeout"
    ABANDONED = "abandoned"
    DRAWN = "drawn"
    """The seat went away, and the only other one claimed a draw."""
    REPLACED = "replaced"
    """The seat went away, and a CPU plays on with its colours."""
    ABORTED = "aborted"


Leavers = tuple[tuple[int, Termination], ...]
"""The seats that stopped playing, in the order in which they did, and why."""


def with_leaver(leavers: Leavers, seat: int, reason: Termination) -> Leavers:
    """One more leaver. A seat that a CPU plays for keeps its place in the order: it stopped playing earlier."""
    if any(seat == left for left, _ in leavers):
        return tuple((left, reason if left == seat else why) for left, why in leavers)
    return (*leavers, (seat, reason))


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a finished game, one entry for each seat."""

    termination: Termination
    points: tuple[int, ...]
    """Covered cells and bonuses of the seat's colours; a shared colour counts for nobody."""
    penalty_points: tuple[int, ...]
    """The classic view: the same minus all cells of the seat's pieces, 89 for one colour."""
    ranks: tuple[int, ...]
    """1 for the best; equal seats share a rank, and the next rank is as much higher (1, 1, 3)."""
    terminations: tuple[Termination, ...]
    """How each seat's part ended."""

    @property
    def winners(self) -> tuple[int, ...]:
        """The seats of rank 1: one, or several after a draw; none in an aborted game."""
        if self.termination is Termination.ABORTED:
            return ()
        return tuple(seat for seat, rank in enumerate(self.ranks) if rank == 1)


def outcome(
    position: Position,
    leavers: Sequence[tuple[int, Termination]] = (),
    *,
    aborted: bool = False,
) -> Outcome:
    """The outcome of a game that is over.

    ``leavers`` are the seats that stopped playing, in the order in which they did, and why.  They
    rank below all who finished, and whoever left earlier ranks lower; so do seats that a CPU plays
    for.  With fewer than two seats left the game has ended by the last leaver's reason.  An
    ``aborted`` game ranks everybody 1, and so does one that is drawn.
    Raises ``GameNotOverError`` if two seats or more are still playing, and ``RulesError`` with
    ``not-seated`` if a seat left twice.
    """
    variant = position.variant
    seats = range(variant.seats)
    points = tuple(
        sum(position.points(colour) for colour in variant.colours_of(seat)) for seat in seats
    )
    reasons = dict(leavers)
    if len(reasons) < len(leavers):
        raise RulesError("A seat can leave only once.", code="not-seated")
    finishers = [seat for seat in seats if seat not in reasons]
    gone = [why for _, why in leavers if why is not Termination.REPLACED]
    if aborted:
        termination = Termination.ABORTED
    elif gone and variant.seats - len(gone) <= 1:
        termination = gone[-1]
    elif position.is_over:
        termination = Termination.COMPLETED
    else:
        raise GameNotOverError("The game is still being played.")

    # Finishers stand on (1, points), leavers on (0, order of leaving): a tuple sorts them all.
    standing = {seat: (1, points[seat]) for seat in finishers}
    standing |= {seat: (0, order) for order, seat in enumerate(reasons)}
    level = termination in (Termination.ABORTED, Termination.DRAWN)
    ranks = tuple(
        1 if level else 1 + sum(other > standing[seat] for other in standing.values())
        for seat in seats
    )
    rest = Termination.ABORTED if aborted else Termination.COMPLETED
    return Outcome(
        termination=termination,
        points=points,
        penalty_points=tuple(
            points[seat] - variant.hand_cells * len(variant.colours_of(seat)) for seat in seats
        ),
        ranks=ranks,
        terminations=tuple(reasons.get(seat, rest) for seat in seats),
    )

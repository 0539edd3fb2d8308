"""The moves of a game as they stand, and the way back to an earlier one. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from msgspec import Struct

from games.territory.rules import Move, Position


class Played(Struct, frozen=True):
    """One ply: the move, who made it, the version of its event, and the colours that were known to be out before."""

    colour: int
    seat: int
    move: Move
    version: int
    out: frozenset[int] = frozenset()


def latest_of(plies: Sequence[Played], seats: Collection[int], floor: int) -> int | None:
    """The number of the latest move that one of these seats made, `floor` at the earliest."""
    for ply in range(len(plies) - 1, floor - 1, -1):
        if plies[ply].seat in seats:
            return ply
    return None


def position_before(plies: Sequence[Played], ply: int, now: Position) -> Position:
    """The position in which move number `ply` was made, equal in all its parts.

    `now` is the latest position, and nobody has left since that move. No turn is passed on anew, for the moves say
    whose turn it was and who was out.
    """
    placed: list[list[Move]] = [[] for _ in now.variant.colours]
    for played in plies[:ply]:
        placed[played.colour].append(played.move)
    then = plies[ply]
    position = Position.setup(now.variant, placed, then.colour)
    return replace(position, out=then.out, gone=now.gone)

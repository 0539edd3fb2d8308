"""Correspondence games wait for people: whom to tell that it is their turn, and when to remind them. Pure."""

from typing import Final

from msgspec import Struct

from games.territory.rules import TimeKind
from games.territory.state import GameState

MOST_REMINDER_MS: Final = 12 * 60 * 60 * 1000
"""A reminder comes when so much time is left, or a sixth of the time for a move, whichever is less."""
SHARE: Final = 6


class YourTurn(Struct, frozen=True, tag="your_turn", tag_field="type"):
    """To the inbox: it is the player's turn in a correspondence game."""

    game: str
    seat: int
    ply: int
    deadline: str


class TurnReminder(Struct, frozen=True, tag="turn_reminder", tag_field="type"):
    """To the inbox: it still is, and the time will be up soon."""

    game: str
    seat: int
    ply: int
    deadline: str


class Awaited(Struct, frozen=True):
    """The turn that a person has in a correspondence game: since when, until when, and when to remind."""

    seat: int
    ply: int
    since: int
    deadline: int
    remind_at: int


def awaited(state: GameState) -> Awaited | None:
    """The person's turn that the game waits for; None if there is nobody to tell."""
    control, seat, since, deadline = (
        state.clock.control,
        state.clock.running,
        state.clock.since,
        state.deadline,
    )
    if control.kind is not TimeKind.CORRESPONDENCE or state.is_over or state.started.played_alone:
        return None
    if seat is None or since is None or deadline is None:
        return None
    if state.started.seats[seat].level is not None:
        return None
    before = min(control.initial_ms // SHARE, MOST_REMINDER_MS)
    return Awaited(seat, state.ply, since, deadline, deadline - before)

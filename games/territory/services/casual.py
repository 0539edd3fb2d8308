"""Unrated games that one player arranges alone: against CPUs, or with every seat on one device."""

from collections.abc import Sequence

from django.db import transaction

from accounts.services import people
from games.territory.errors import SeatsError, UnknownLevelError
from games.territory.rules import TimeControl
from games.territory.services.start import SeatPlan, start_game

_levels: list[str] = []


def offer_levels(levels: Sequence[str]) -> None:
    """Let CPUs of these levels, weakest first, take seats. The app that moves for them calls this at start-up."""
    _levels[:] = levels


def require_level(level: str) -> None:
    """Raises `UnknownLevelError` unless CPUs of this level take seats."""
    if level not in _levels:
        raise UnknownLevelError(f"Levels are {', '.join(_levels)}, not {level!r}.")


def start_casual(*, player_id: int, variant: str, levels: Sequence[str], now: int) -> str:
    """Start a game without clocks and return its id; a seat without a level is the player's.

    Raises `UnknownVariantError`, `SeatsError`, `UnknownLevelError`.
    """
    for level in filter(None, levels):
        require_level(level)
    if all(levels):
        raise SeatsError("Keep at least one seat for yourself.")
    with transaction.atomic():
        plans = [
            SeatPlan(people.cpu_player(level).pk, level) if level else SeatPlan(player_id)
            for level in levels
        ]
        return start_game(
            variant=variant,
            time_control=TimeControl.none(),
            seats=plans,
            rated=False,
            pool=None,
            matched=False,
            now=now,
        )

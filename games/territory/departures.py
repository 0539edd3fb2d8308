"""Who has spoilt a game for others by leaving it, and how long that keeps a player from the pools. Pure.

docs/leaving.md publishes the figures.
"""

from collections.abc import Mapping
from typing import Final, Literal

from games.territory.leaving import away_from
from games.territory.rules import Termination
from games.territory.state import GameState

MINUTE_MS: Final = 60_000
MEMORY_MS: Final = 7 * 24 * 60 * MINUTE_MS
"""How long a departure counts."""
LADDER_MS: Final = (0, 2 * MINUTE_MS, 10 * MINUTE_MS, 60 * MINUTE_MS, 24 * 60 * MINUTE_MS)
"""How long the first, second … departure that counts keeps its player from the pools; the last one all others too."""
AWAY_BEFORE_MS: Final = 10_000
"""Whose time ran out had left if the last connection ended so long before the game did, and there is none since."""

Kind = Literal["aborted", "claimed", "timeout"]


def departures(state: GameState, away: Mapping[int, int], ended_at: int) -> dict[int, Kind]:
    """The seats that have spoilt a game that is over, and how.

    `away` has the seats whose players are not connected, and when the last connection of each ended. Who resigns, or
    thinks for too long, spoils nothing; neither does an outage.
    """
    outcome = state.outcome
    if outcome is None:
        return {}
    if outcome.termination == "aborted":
        return {} if outcome.by is None else {outcome.by: "aborted"}
    found: dict[int, Kind] = {}
    for seat, reason in state.leavers:
        since = away_from(state, seat, away.get(seat))
        if reason in (Termination.ABANDONED, Termination.DRAWN, Termination.REPLACED):
            found[seat] = "claimed"
        elif (
            reason is Termination.TIMEOUT
            and since is not None
            and since + AWAY_BEFORE_MS <= ended_at
        ):
            found[seat] = "timeout"
    return found


def ban_ms(count: int) -> int:
    """How long a departure keeps its player from the pools that is number `count` of those that count; 0 for not."""
    return LADDER_MS[min(count, len(LADDER_MS)) - 1]

"""The events that matchmaking writes into a player's inbox."""

import msgspec


class MatchFound(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="match_found"):
    """A pool has found opponents: the game has started and the player holds `seat` (0 moves first)."""

    game: str
    pool: str
    seat: int
    opponents: list[str]

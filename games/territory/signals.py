"""What other apps may hear of games. All are sent after the commit, from a thread that may block.

Receivers must bear to be called twice, or late; the sweeper sends again what a dead process did not send.
"""

from django.dispatch import Signal

game_started = Signal()
"""`game_id: str, player_ids: list[int]`, and `live: bool`: its people play it now, not by correspondence."""

turn_started = Signal()
"""A CPU is to move in the position of a version: `game_id: str, version: int, level: str`, and the people in the game,
`player_ids: list[int]`."""

games_finished = Signal()
"""`game_ids: list[str]`; they are not settled yet."""

swept = Signal()
"""The sweeper has done a round: `now: int`. Whoever has promises of its own looks for those that were forgotten."""

"""Telling people that a correspondence game waits for them: once for each turn, and once more before its time is up.

The sweeper alone tells: a move makes it look at once (services/play.py). Several sweepers may try; the row of the game
says what has been told, in the transaction that writes the inbox.
"""

from typing import Final

from django.db import transaction

from accounts.services import inbox
from common import database
from common.clock import rfc3339
from games.territory.selectors import Seating
from games.territory.state import GameState
from games.territory.waiting import TurnReminder, YourTurn, awaited

TELL: Final = """
INSERT INTO territory_call (game_id, since, reminded)
SELECT id, %s, false FROM territory_game WHERE id = %s AND version = %s
ON CONFLICT (game_id) DO UPDATE SET since = excluded.since, reminded = false
WHERE territory_call.since < excluded.since
RETURNING since
"""
REMIND: Final = """
UPDATE territory_call SET reminded = true WHERE game_id = %s AND since = %s AND NOT reminded RETURNING since
"""


def call(state: GameState, seating: Seating, now: int) -> None:
    """Tell whose turn it is, if that was not told yet; remind, if it is time and was not done yet."""
    turn = awaited(state)
    if turn is None:
        return
    game_id, player_id = state.started.game, seating.players[turn.seat]
    facts = game_id, turn.seat, turn.ply, rfc3339(turn.deadline)
    with transaction.atomic():
        told = database.prepared(TELL, [turn.since, game_id, state.version])
        if told:
            inbox.notify(player_id=player_id, event=YourTurn(*facts), at=now)
        if now >= turn.remind_at and database.prepared(REMIND, [game_id, turn.since]) and not told:
            inbox.notify(player_id=player_id, event=TurnReminder(*facts), at=now)

"""What follows from a committed state: the apps above are told that a CPU is to move, or that games are over.

Tasks that are queued here may get lost, with this process or with Redis; the sweeper finds what did not happen.
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from django.dispatch import Signal

from common import database
from games.territory import signals
from games.territory import state as st
from games.territory.selectors import Seating

logger = logging.getLogger(__name__)

CPU_PATIENCE_MS = 10_000
"""How long a CPU may be to move before the sweeper asks for its move again."""

GATHER_SECONDS = 0.1
"""How long ended games are gathered before one task is asked to settle them."""

_following: set[asyncio.Task[None]] = set()
_ended: list[str] = []


def follow_up(state: st.GameState, seating: Seating) -> None:
    """Announce, in the background, what a committed state calls for. Runs on the event loop."""
    if state.is_over:
        _ended.append(state.started.game)
        if len(_ended) == 1:
            _spawn(_announce_ends())
    elif seating.level_to_move(state):
        _spawn(database.aside("tasks", announce, state, seating))


async def _announce_ends() -> None:
    """Games that end within a moment of each other are settled by one task."""
    await asyncio.sleep(GATHER_SECONDS)
    game_ids = _ended.copy()
    _ended.clear()
    await database.aside("tasks", _send, signals.games_finished, game_ids=game_ids)


def _spawn(work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.get_running_loop().create_task(work)
    _following.add(task)
    task.add_done_callback(_following.discard)


def announce(state: st.GameState, seating: Seating) -> None:
    """Send the signal that a state calls for: a CPU is to move, or the game is over. Synchronous."""
    game_id = state.started.game
    if state.is_over:
        _send(signals.games_finished, game_ids=[game_id])
    elif level := seating.level_to_move(state):
        facts = {"version": state.version, "level": level, "player_ids": seating.people}
        _send(signals.turn_started, game_id=game_id, **facts)


def announce_round(now: int) -> None:
    """Let the apps above look for what they have promised and a dead process has forgotten. Synchronous."""
    _send(signals.swept, now=now)


def _send(signal: Signal, **facts: object) -> None:
    for receiver, error in signal.send_robust(sender=None, **facts):
        if isinstance(error, Exception):
            logger.error("%s failed, the sweeper will call it again", receiver, exc_info=error)

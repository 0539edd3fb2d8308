"""The socket commands for hints. Each equals a REST call and shares its service."""

from typing import Any

from accounts.selectors import Caller
from bots.services.hints import ask_hint
from bots.services.run_hints import ask_run_hint
from common.clock import now_ms
from common.database import aside


async def hint(caller: Caller, *, game: str, ply: int | None) -> dict[str, Any]:
    """`hint`: ask for the strongest CPU's move; `move` is null until it is there, and then comes in the inbox."""
    asked = await aside(
        "hints", ask_hint, game_id=game, player_id=caller.player_id, ply=ply, now=now_ms()
    )
    return asked.wire()


async def run_hint(caller: Caller, *, run: str, turn: int | None) -> dict[str, Any]:
    """`run.hint`: ask for a placement; `slot` and the rest are null until it is there, and then comes in the inbox."""
    asked = await aside(
        "hints", ask_run_hint, run_id=run, player_id=caller.player_id, turn=turn, now=now_ms()
    )
    return asked.wire()

"""Socket commands of games. Each equals a REST call and shares its service."""

from typing import Any

from accounts.selectors import Caller
from games.territory.leaving import Result
from games.territory.services import leave, play


async def move(caller: Caller, *, game: str, ply: int, move: str, lag_ms: int) -> dict[str, Any]:
    """`move`: place a piece; the answer is the version at which it stands."""
    receipt = await play.play_move(
        game_id=game, player_id=caller.player_id, ply=ply, move=move, lag_ms=lag_ms
    )
    return {"version": receipt.version}


async def undo(caller: Caller, *, game: str, ply: int) -> dict[str, Any]:
    """`undo`: take one's latest move back, and what came after it."""
    receipt = await play.undo(game_id=game, player_id=caller.player_id, ply=ply)
    return {"version": receipt.version}


async def answer_undo(caller: Caller, *, game: str, ply: int, agreed: bool) -> dict[str, Any]:
    """`undo.answer`: agree to the undo that another seat asks for, or do not."""
    receipt = await play.answer_undo(
        game_id=game, player_id=caller.player_id, ply=ply, agreed=agreed
    )
    return {"version": receipt.version}


async def resign(caller: Caller, *, game: str, seat: int | None) -> dict[str, Any]:
    """`resign`: give up one's seat, or `seat` for somebody who has several."""
    receipt = await play.resign(game_id=game, player_id=caller.player_id, seat=seat)
    return {"version": receipt.version}


async def claim(caller: Caller, *, game: str, result: Result, seat: int | None) -> dict[str, Any]:
    """`claim`: a win, a draw, or that a CPU takes the seat of somebody who went away."""
    receipt = await leave.claim(game_id=game, player_id=caller.player_id, result=result, seat=seat)
    return {"version": receipt.version}


async def take_back(caller: Caller, *, game: str) -> dict[str, Any]:
    """`return`: take one's seat back from the CPU."""
    receipt = await leave.take_back(game_id=game, player_id=caller.player_id)
    return {"version": receipt.version}


async def abort(caller: Caller, *, game: str) -> dict[str, Any]:
    """`abort`: not want a game, before one's own first move."""
    receipt = await leave.abort(game_id=game, player_id=caller.player_id)
    return {"version": receipt.version}

"""Socket commands of games. Each equals a REST call and shares its service."""

from typing import Any

from accounts.selectors import Caller
from games.territory.errors import SpectatorsRefusedError
from games.territory.services import play
from games.territory.services.live import games


async def move(caller: Caller, *, game: str, ply: int, move: str) -> dict[str, Any]:
    """`move`: place a piece; the answer is the version at which it stands."""
    receipt = await play.play_move(game_id=game, player_id=caller.player_id, ply=ply, move=move)
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


async def require_reader(caller: Caller, *, game: str) -> None:
    """Whether the caller may follow a game. Raises `SpectatorsRefusedError`, `UnknownGameError`.

    Who may never changes, so the process's copy of the game says it.
    """
    live = await games.get(game)
    if not (live.state.started.spectators or live.seating.seats_of(caller.player_id)):
        raise SpectatorsRefusedError


async def resign(caller: Caller, *, game: str, seat: int | None) -> dict[str, Any]:
    """`resign`: give up one's seat, or `seat` for somebody who has several."""
    receipt = await play.resign(game_id=game, player_id=caller.player_id, seat=seat)
    return {"version": receipt.version}

"""Which function of which app answers a command of the socket."""

from typing import Any

from accounts.selectors import Caller
from bots import socket as bots
from config import frames
from games.puzzle import socket as puzzle
from games.territory import socket as territory

InGame = frames.Move | frames.Undo | frames.UndoAnswer | frames.Hint | frames.Resign
InRun = frames.RunPlace | frames.RunUndo | frames.RunHint


async def in_game(caller: Caller, command: InGame) -> dict[str, Any]:
    """A command for a game that is played."""
    game = command.game
    match command:
        case frames.Move():
            return await territory.move(caller, game=game, ply=command.ply, move=command.move)
        case frames.Undo():
            return await territory.undo(caller, game=game, ply=command.ply)
        case frames.UndoAnswer():
            return await territory.answer_undo(
                caller, game=game, ply=command.ply, agreed=command.agreed
            )
        case frames.Hint():
            return await bots.hint(caller, game=game, ply=command.ply)
        case frames.Resign():
            return await territory.resign(caller, game=game, seat=command.seat)


async def in_run(caller: Caller, command: InRun) -> dict[str, Any]:
    """A command for a run of the block puzzle."""
    match command:
        case frames.RunHint():
            return await bots.run_hint(caller, run=command.run, turn=command.turn)
        case frames.RunUndo():
            return await puzzle.undo(caller, run=command.run, turn=command.turn)
        case frames.RunPlace():
            return await puzzle.place(
                caller,
                run=command.run,
                turn=command.turn,
                slot=command.slot,
                rotation=command.rotation,
                at=command.at,
            )

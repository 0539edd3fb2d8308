"""Which function of which app answers a command of the socket."""

from typing import Any

from accounts.selectors import Caller
from bots import socket as bots
from config import frames
from games.puzzle import socket as puzzle
from games.territory import socket as territory
from matchmaking import socket as matchmaking

InGame = (
    frames.Move
    | frames.Undo
    | frames.UndoAnswer
    | frames.Hint
    | frames.Resign
    | frames.Claim
    | frames.Return
    | frames.Abort
)
InRun = frames.RunPlace | frames.RunUndo | frames.RunHint

AtTable = (
    frames.ChallengeAccept
    | frames.ChallengeDecline
    | frames.RoomSit
    | frames.RoomLeave
    | frames.RoomReady
    | frames.RoomStart
)


async def in_game(caller: Caller, command: InGame, lag_ms: int) -> dict[str, Any]:
    """A command for a game that is played; `lag_ms` is the round trip to the caller."""
    game = command.game
    match command:
        case frames.Move():
            return await territory.move(
                caller, game=game, ply=command.ply, move=command.move, lag_ms=lag_ms
            )
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
        case frames.Claim():
            return await territory.claim(
                caller, game=game, result=command.result, seat=command.seat
            )
        case frames.Return():
            return await territory.take_back(caller, game=game)
        case frames.Abort():
            return await territory.abort(caller, game=game)


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


async def at_table(caller: Caller, command: AtTable) -> dict[str, Any]:
    """A command before a game: an answer to a challenge, or something in a room."""
    match command:
        case frames.ChallengeAccept():
            return await matchmaking.accept(caller, challenge=command.challenge)
        case frames.ChallengeDecline():
            return await matchmaking.decline(
                caller, challenge=command.challenge, reason=command.reason, words=command.words
            )
        case frames.RoomSit():
            return await matchmaking.sit(
                caller, room=command.room, seat=command.seat, level=command.level
            )
        case frames.RoomLeave():
            return await matchmaking.leave(caller, room=command.room, seat=command.seat)
        case frames.RoomReady():
            return await matchmaking.ready(caller, room=command.room, revision=command.revision)
        case frames.RoomStart():
            return await matchmaking.start(caller, room=command.room)

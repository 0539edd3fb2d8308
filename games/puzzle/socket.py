"""Socket commands of runs. Each equals a REST call and shares its service; the answers are the same to the byte."""

from typing import Any

import msgspec

from accounts.selectors import Caller
from common import database
from common.clock import rfc3339
from common.streams import Note
from games.puzzle.services import play


async def place(
    caller: Caller, *, run: str, turn: int, slot: int, rotation: int, at: str
) -> dict[str, Any]:
    """`run.place`: place a block; the answer is the event that came of it."""
    note = await database.in_thread(
        play.place,
        run_id=run,
        player_id=caller.player_id,
        turn=turn,
        slot=slot,
        rotation=rotation,
        at=at,
    )
    return _answer(note)


async def undo(caller: Caller, *, run: str, turn: int) -> dict[str, Any]:
    """`run.undo`: take the latest placement back; the answer is the event."""
    return _answer(
        await database.in_thread(play.take_back, run_id=run, player_id=caller.player_id, turn=turn)
    )


def _answer(note: Note) -> dict[str, Any]:
    """As `Note.body` has it."""
    event = msgspec.Raw(note.payload.encode())
    return {"version": note.version, "at": rfc3339(note.at), "event": event}

"""What deciding gives. Pure."""

from msgspec import Struct

from common.errors import KadoError
from games.territory import events as ev
from games.territory.errors import StalePlyError
from games.territory.state import GameState


class Decision(Struct, frozen=True):
    """What a command does: the new state and its events, or no events for one that changes nothing.

    `refusal` is for the sender; a move that comes too late is refused and yet has events. `version` is the
    version to acknowledge: that of the first time, when a move is said twice.
    """

    state: GameState
    events: tuple[ev.AnyEvent, ...] = ()
    refusal: KadoError | None = None
    version: int = 0


def refuse(state: GameState, refusal: KadoError) -> Decision:
    """Nothing changes, and the sender is told why."""
    return Decision(state, refusal=refusal)


def stale(state: GameState, why: str) -> Decision:
    """The command was for another ply."""
    return refuse(state, StalePlyError(why, version=state.version, ply=state.ply))

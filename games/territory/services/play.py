"""A move, from the command to the commit and what follows: the walk that must stay short.

load (live.py) → decide (state.py, pure) → commit (journal.py) → publish (common/streams.py) → follow_up.py.
"""

from collections.abc import Callable

from msgspec import Struct

from common import streams
from common.clock import now_ms
from common.errors import UnavailableError
from common.streams import Note
from games.territory import decide as de
from games.territory import events as ev
from games.territory import journal, selectors
from games.territory import state as st
from games.territory.errors import NotSeatedError
from games.territory.services.follow_up import CPU_PATIENCE_MS, follow_up
from games.territory.services.live import LiveGame, games
from games.territory.snapshot import status_of

ATTEMPTS = 5
"""How often a command is decided again because another process was first."""


class Receipt(Struct, frozen=True):
    """The version at which the command took effect: the same one when a command is said twice."""

    version: int


async def play_move(
    *, game_id: str, player_id: int, ply: int, move: str, chosen_at: int | None = None
) -> Receipt:
    """Place a piece as move number `ply`. Raises the refusals of `games.territory.errors`, each with the version.

    With `chosen_at` the move is refused when the game is at any other version than that one.
    """

    def command(live: LiveGame) -> de.Command:
        wanted = live.state.position.seat_to_move
        if 0 <= ply < live.state.ply:
            wanted = live.state.plies[ply].seat
        return de.PlayMove(live.seating.seat_for(player_id, wanted), ply, move, chosen_at)

    return await perform(game_id, command)


async def undo(*, game_id: str, player_id: int, ply: int) -> Receipt:
    """Take the player's latest move back, and what came after it, in a game that is at `ply`.

    Where the others have to agree, this asks them. Raises the refusals of `games.territory.errors`, each with the
    version.
    """

    def command(live: LiveGame) -> de.Command:
        return de.Undo(ply, live.seating.seat_for(player_id, None))

    return await perform(game_id, command)


async def answer_undo(*, game_id: str, player_id: int, ply: int, agreed: bool) -> Receipt:
    """Agree to the undo that another seat asks for in a game at `ply`, or do not.

    Raises the refusals of `games.territory.errors`, each with the version.
    """

    def command(live: LiveGame) -> de.Command:
        return de.AnswerUndo(ply, live.seating.seat_for(player_id, None), agreed)

    return await perform(game_id, command)


async def resign(*, game_id: str, player_id: int, seat: int | None = None) -> Receipt:
    """Give up `seat`; if none is named, the one to move if it is the player's, else the player's first.

    Raises `NotSeatedError` for a seat that is somebody else's.
    """
    chosen = seat

    def command(live: LiveGame) -> de.Command:
        nonlocal chosen
        if chosen is None:  # once: deciding again must not give up another seat
            chosen = live.seating.seat_for(player_id, live.state.position.seat_to_move)
        if chosen not in live.seating.seats_of(player_id):
            raise NotSeatedError
        return de.Resign(chosen)

    return await perform(game_id, command, fresh=True)


async def check_clock(*, game_id: str) -> Receipt:
    """End the turn, and perhaps the game, if the time of the seat to move is up."""
    return await perform(game_id, lambda live: de.CheckClock(), fresh=True)


async def perform(
    game_id: str, command_for: Callable[[LiveGame], de.Command], *, fresh: bool = False
) -> Receipt:
    """Decide a command on the latest state and commit its events; decide again when another process was first.

    `fresh` reads the table first instead of trusting this process's copy.
    """
    live = await games.get(game_id)
    async with live.lock:
        if fresh:
            await live.reload()
        for _ in range(ATTEMPTS):
            live.catch_up()
            now = now_ms()
            decision = de.decide(live.state, command_for(live), now)
            if not decision.events and not fresh:
                # This copy may be behind: look before refusing, or answering that it was done before, which another
                # process may have taken back.
                fresh = True
                await live.reload()
                continue
            if decision.events and not await _commit(live, decision, now):
                await live.reload()
                continue
            if decision.refusal is not None:
                raise decision.refusal
            return Receipt(decision.version or live.state.version)
    raise UnavailableError("Other commands kept coming first; send it again.")


async def _commit(live: LiveGame, decision: de.Decision, now: int) -> bool:
    """Write the events, tell everybody, start what follows. False: the game had moved on."""
    entry = entry_for(live.state, live.seating, decision, now)
    try:
        if not await journal.writer().write(entry):
            return False
    except journal.NotKeptError as error:
        raise UnavailableError("The move could not be kept just now; send it again.") from error
    live.state = decision.state
    streams.publish(entry.notes)
    follow_up(live.state, live.seating)
    return True


def entry_for(
    before: st.GameState, seating: selectors.Seating, decision: de.Decision, now: int
) -> journal.Entry:
    """What to write for a decision that was made at `now` on the state `before`."""
    after = decision.state
    ending = None
    if after.outcome is not None:
        ending = journal.Ending(status_of(after), after.outcome.termination)
    wake_at = now + CPU_PATIENCE_MS if seating.level_to_move(after) else None
    if after.ply < before.ply:  # a first move that is to be made again has its bound again
        wake_at = after.earliest_deadline(now)
    return journal.Entry(
        game=after.started.game,
        expected=before.version,
        notes=notes_of(after, decision.events, now),
        ending=ending,
        wake_at=wake_at,
        reopens=before.is_over and not after.is_over,
    )


def notes_of(after: st.GameState, events: tuple[ev.AnyEvent, ...], at: int) -> list[Note]:
    """The notes of events that lead to the state `after`."""
    stream = selectors.stream_of(after.started.game)
    first = after.version - len(events) + 1
    return [Note(stream, first + i, at, ev.encode(event)) for i, event in enumerate(events)]

"""The socket's commands for tickets, challenges and rooms. Each equals a REST call and shares its service."""

from collections.abc import Callable, Mapping
from typing import Any

from accounts.selectors import Caller
from common.clock import now_ms
from common.database import aside
from matchmaking.selectors import ticket_view
from matchmaking.selectors.rooms import RoomView, find_code
from matchmaking.services import challenges, rooms
from matchmaking.services.room_start import start_room
from matchmaking.services.tickets import join_pool, keep_tickets, leave_pool


async def ticket_join(caller: Caller, pool_key: str) -> dict[str, Any]:
    """`ticket.join`: wait in a pool. Answers the ticket's view; raises what `join_pool` raises."""
    view = await aside(
        "tickets", join_pool, player_id=caller.player_id, pool_key=pool_key, now=now_ms()
    )
    return view.wire()


async def ticket_leave(caller: Caller, pool_key: str | None) -> dict[str, Any]:
    """`ticket.leave`: stop waiting, in any pool if none is named. Raises what `leave_pool` raises."""
    await aside("tickets", leave_pool, player_id=caller.player_id, pool_key=pool_key, now=now_ms())
    view = await aside("tickets", ticket_view, player_id=caller.player_id, now=now_ms())
    return view.wire()


async def rematch(caller: Caller, *, game: str) -> dict[str, Any]:
    """`rematch`: ask for a rematch, or agree to it. Raises what `ask_rematch` raises."""
    view = await aside(
        "tables",
        challenges.ask_rematch,
        game_id=game,
        player_id=caller.player_id,
        now=now_ms(),
    )
    return view.wire()


async def accept(caller: Caller, *, challenge: str) -> dict[str, Any]:
    """`challenge.accept`. Raises what `accept_challenge` raises."""
    view = await aside(
        "tables",
        challenges.accept_challenge,
        challenge_id=challenge,
        player_id=caller.player_id,
        now=now_ms(),
    )
    return view.wire()


async def decline(caller: Caller, *, challenge: str, reason: str, words: str) -> dict[str, Any]:
    """`challenge.decline`. Raises what `decline_challenge` raises."""
    view = await aside(
        "tables",
        challenges.decline_challenge,
        challenge_id=challenge,
        player_id=caller.player_id,
        reason=reason,
        words=words,
        now=now_ms(),
    )
    return view.wire()


async def sit(caller: Caller, *, room: str, seat: int, level: str | None) -> dict[str, Any]:
    """`room.sit`: take a seat, or put a CPU there. Raises what `sit` and `place_cpu` raise."""
    if level is None:
        return await _in_room(caller, room, rooms.sit, seat=seat)
    return await _in_room(caller, room, rooms.place_cpu, seat=seat, level=level)


async def leave(caller: Caller, *, room: str, seat: int) -> dict[str, Any]:
    """`room.leave`. Raises what `leave_seat` raises."""
    return await _in_room(caller, room, rooms.leave_seat, seat=seat)


async def ready(caller: Caller, *, room: str, revision: int | None) -> dict[str, Any]:
    """`room.ready`: for the settings of a revision; without one, no more. Raises what `set_ready` raises."""
    is_ready = revision is not None
    return await _in_room(caller, room, rooms.set_ready, ready=is_ready, revision=revision or 0)


async def start(caller: Caller, *, room: str) -> dict[str, Any]:
    """`room.start`. Answers the game; raises what `start_room` raises."""

    def work() -> str:
        code = find_code(room, caller.player_id)
        return start_room(code=code, player_id=caller.player_id, now=now_ms())

    return {"game": await aside("tables", work)}


async def _in_room(
    caller: Caller, room: str, service: Callable[..., RoomView], **wish: Any
) -> dict[str, Any]:
    """Do something in the room of a code; how it is then."""

    def work() -> RoomView:
        code = find_code(room, caller.player_id)
        return service(code=code, player_id=caller.player_id, now=now_ms(), **wish)

    view = await aside("tables", work)
    return view.wire()


async def keep_leases(wishes: Mapping[int, str]) -> set[int]:
    """Renew the tickets of connected players (player id: pool key); call it well within `pools.LEASE_MS`.

    Answers the players whose wish is over: do not name them again until they join anew. Raises `UnavailableError`
    while Redis is away: keep the wishes and go on.
    """
    return await aside("leases", keep_tickets, wishes=dict(wishes), now=now_ms())

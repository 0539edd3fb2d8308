"""The socket's ticket commands. Each equals a REST call and shares its service."""

from collections.abc import Mapping
from typing import Any

from accounts.selectors import Caller
from common.clock import now_ms
from common.database import aside
from matchmaking.selectors import ticket_view
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


async def keep_leases(wishes: Mapping[int, str]) -> set[int]:
    """Renew the tickets of connected players (player id: pool key); call it well within `pools.LEASE_MS`.

    Answers the players whose wish is over: do not name them again until they join anew. Raises `UnavailableError`
    while Redis is away: keep the wishes and go on.
    """
    return await aside("leases", keep_tickets, wishes=dict(wishes), now=now_ms())

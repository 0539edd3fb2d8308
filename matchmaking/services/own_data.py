"""What matchmaking keeps of a person: one ticket at most, in Redis (accounts/personal.py)."""

from datetime import datetime

from msgspec import Struct

from accounts import personal
from common.clock import now_ms, to_datetime
from matchmaking.pools import pools
from matchmaking.services.tickets import drop_tickets


class TicketData(Struct, frozen=True):
    pool: str
    joined: datetime


def register_sections() -> None:
    """Called when the app is ready."""
    personal.register(
        "ticket",
        shape=TicketData | None,
        export=export_ticket,
        erase=drop_ticket,
        leave=drop_ticket,
    )


def export_ticket(player_id: int) -> TicketData | None:
    """Whom the person met during the last hour is known there too; the list of games says it."""
    ticket = pools().ticket(player_id)
    return None if ticket is None else TicketData(ticket.pool, to_datetime(ticket.joined))


def drop_ticket(player_id: int) -> None:
    drop_tickets(player_ids=[player_id], now=now_ms())

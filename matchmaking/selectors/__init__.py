"""Reading what matchmaking knows. Nothing here changes anything."""

from matchmaking.selectors.pools import (
    FRESH_SECONDS,
    LOOKED_AT,
    PoolCard,
    TicketView,
    card,
    forget_pools,
    pool_card,
    pool_cards,
    pool_sizes,
    ticket_view,
    waiting_view,
)

__all__ = [
    "FRESH_SECONDS",
    "LOOKED_AT",
    "PoolCard",
    "TicketView",
    "card",
    "forget_pools",
    "pool_card",
    "pool_cards",
    "pool_sizes",
    "ticket_view",
    "waiting_view",
]

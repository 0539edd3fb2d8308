"""A ticket explained: what it accepts now, who is there for it, and how long it will probably take."""

from dataclasses import dataclass
from typing import Any, Literal

from common.clock import rfc3339
from games.territory.selectors import engaged_games
from matchmaking import pairing
from matchmaking.estimates import estimate
from matchmaking.pools import LEASE_MS, pools, unavailable_without_redis
from matchmaking.selectors.pools import engages, pool_card
from matchmaking.tickets import Ticket

LOOKED_AT = 50
"""How many neighbours on each side are looked at."""


@dataclass(frozen=True, slots=True)
class TicketView:
    """What a player may know of their own ticket. Times are milliseconds; `position` counts from 1, oldest first.

    The estimates are whole waits since joining (see matchmaking/estimates.py), None where nothing is known.
    """

    state: Literal["none", "waiting", "matched"]
    pool: str | None = None
    id: str | None = None
    joined: int | None = None
    waited_ms: int | None = None
    window: float | None = None
    window_limit: float | None = None
    compatible: int | None = None
    waiting: int | None = None
    position: int | None = None
    estimate_ms: int | None = None
    estimate_late_ms: int | None = None
    estimate_basis: Literal["waits", "arrivals", "nothing"] | None = None
    estimate_tickets: int | None = None
    renew_within_ms: int | None = None
    game: str | None = None

    def wire(self) -> dict[str, Any]:
        """As REST and the socket send it: only what is known, instants as RFC 3339."""
        known = {name: getattr(self, name) for name in self.__slots__}
        if self.joined is not None:
            known["joined"] = rfc3339(self.joined)
        return {name: value for name, value in known.items() if value is not None}


@unavailable_without_redis
def ticket_view(*, player_id: int, now: int, pool_key: str | None = None) -> TicketView:
    """The player's ticket, in `pool_key` only if one is named.

    The ticket is read before the engagement: a ticket that a match has just taken is gone only after the game is
    there, so a player who waits is never told that nothing is the matter.
    """
    ticket = pools().ticket(player_id)
    waits_besides = ticket is not None and not engages(ticket.pool)
    if not waits_besides and (game := engaged_games([player_id]).get(player_id)):
        return TicketView("matched", game=game)
    if ticket is None or pool_key not in (None, ticket.pool):
        return TicketView("none")
    return waiting_view(ticket, now)


def waiting_view(ticket: Ticket, now: int) -> TicketView:
    """A waiting ticket explained. Raises `UnknownPoolError` if an operator has deleted its pool."""
    pool = pool_card(ticket.pool)
    limit, waited = pool.window_limit, max(0, now - ticket.joined)
    store = pools()
    window = pairing.window(ticket, now, limit)
    span = max(window, min(limit, 2 * pairing.RULE.start))
    near = store.near(ticket, span=span, most=LOOKED_AT)
    place = store.place(ticket)
    compatible = sum(pairing.compatible(ticket, other, now, limit) for other in near)
    said = estimate(
        mu=ticket.mu,
        waited=waited,
        now=now,
        ended=place.ended,
        waiting=[(other.mu, max(0, now - other.joined)) for other in near],
        needed=pool.size - 1 - compatible,
        span=span,
    )
    return TicketView(
        "waiting",
        pool=ticket.pool,
        id=ticket.id,
        joined=ticket.joined,
        waited_ms=waited,
        window=round(window, 1),
        window_limit=limit,
        compatible=compatible,
        waiting=place.waiting,
        position=place.position,
        estimate_ms=said.likely,
        estimate_late_ms=said.late,
        estimate_basis=said.basis,
        estimate_tickets=said.tickets,
        renew_within_ms=LEASE_MS,
    )

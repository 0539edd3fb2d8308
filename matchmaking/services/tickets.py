"""Joining and leaving a pool, and keeping a ticket alive."""

import time
from collections.abc import Mapping
from random import Random

import structlog

from accounts import selectors as accounts
from accounts.selectors import sanctions
from accounts.selectors.friends import blocked_with
from common.errors import KadoError, UnavailableError
from common.ids import new_id
from games.territory.errors import EngagedError
from games.territory.selectors import engaged_games
from matchmaking.errors import (
    AlreadyWaitingError,
    BotsNotAllowedError,
    GuestsNotAllowedError,
    PeopleNotAllowedError,
    PoolClosedError,
    RatingOutsidePoolError,
)
from matchmaking.pools import LEASE_MS, pools, unavailable_without_redis
from matchmaking.selectors import PoolCard, TicketView, pool_card, ticket_view, waiting_view
from matchmaking.services.matching import FAIR, attempt
from matchmaking.tickets import Ticket

log = structlog.get_logger(__name__)

LEAVE_PATIENCE_SECONDS = 2.0
"""How long leaving waits for a match that is being made of the ticket at this moment."""


@unavailable_without_redis
def join_pool(*, player_id: int, pool_key: str, now: int, random: Random = FAIR) -> TicketView:
    """Wait in a pool, or renew the ticket that waits there already; if an opponent is near, the match is made at once.

    Raises `UnknownPoolError`, `PoolClosedError`, `GuestsNotAllowedError`, `BotsNotAllowedError`,
    `PeopleNotAllowedError`, `BannedError`, `QueueBannedError`, `RatingOutsidePoolError`, `EngagedError` (a live game),
    `AlreadyWaitingError` (in another pool), `UnavailableError`.
    """
    pool = pool_card(pool_key)
    if not pool.open:
        raise PoolClosedError
    _check_kind(player_id, pool)
    sanctions.require_may_queue(player_id, now)
    _check_engaged(player_id)
    wish = _ticket(player_id, pool, now)
    ticket, new = pools().join(wish, lease_until=now + LEASE_MS)
    if ticket.pool != pool_key:
        raise AlreadyWaitingError(f"You are waiting in {ticket.pool}.", pool=ticket.pool)
    if not new:
        return ticket_view(player_id=player_id, now=now)
    _check_still_free(player_id, now)
    if game := engaged_games([player_id]).get(player_id):
        # Asked again now that the ticket is there: somebody else may have matched it already, and a game that started
        # otherwise since the first look took only older tickets along. Nobody waits and plays.
        pools().drop([player_id], now=now)
        return TicketView("matched", game=game)
    if match := attempt(pool=pool, ticket=ticket, now=now, random=random):
        return TicketView("matched", pool=pool_key, game=match.game_id)
    view = waiting_view(ticket, now)
    return view if view.position else ticket_view(player_id=player_id, now=now)


@unavailable_without_redis
def leave_pool(*, player_id: int, now: int, pool_key: str | None = None) -> None:
    """Take the player's ticket back, from whichever device; in `pool_key` only if one is named.

    A match that is being made of the ticket is awaited: either it fails and the ticket is gone, or the player is in
    the game and this raises `EngagedError`. `UnavailableError` if neither is known soon.
    """
    left = pools().leave(player_id, pool_key, now=now)
    if left.state != "claimed":
        return
    deadline = time.monotonic() + LEAVE_PATIENCE_SECONDS
    while pools().is_open(left.claim_id):
        if time.monotonic() >= deadline:
            raise UnavailableError("A match is being made of your ticket: ask again.")
        time.sleep(0.01)
    _check_engaged(player_id)


@unavailable_without_redis
def keep_tickets(*, wishes: Mapping[int, str], now: int) -> set[int]:
    """Renew the tickets of connected players (player id: pool key) in one call; make those anew that were lost.

    Answers the players whose wish is over (matched, left from another device, refused): renew them no more. Raises
    `UnavailableError` while Redis is away: ask again, with the same wishes.
    """
    renewed = pools().renew(wishes.keys(), lease_until=now + LEASE_MS)
    over = set(renewed.gone)
    for player_id in renewed.lost:
        try:
            view = join_pool(player_id=player_id, pool_key=wishes[player_id], now=now)
        except UnavailableError:
            raise
        except KadoError as error:
            log.info("ticket not made anew", player=player_id, code=error.code)
            over.add(player_id)
        else:
            if view.state != "waiting":
                over.add(player_id)
    return over


def drop_tickets(*, player_ids: list[int], now: int) -> None:
    """Forget what these players wait for: they have started a game."""
    pools().drop(player_ids, now=now)


def _check_kind(player_id: int, pool: PoolCard) -> None:
    kind = accounts.players_by_id([player_id])[player_id].kind
    if not pool.takes(kind):
        refusals = {"guest": GuestsNotAllowedError, "bot": BotsNotAllowedError}
        raise refusals.get(kind, PeopleNotAllowedError)


def _check_engaged(player_id: int) -> None:
    if game := engaged_games([player_id]).get(player_id):
        raise EngagedError(frozenset({player_id}), game)


def _check_still_free(player_id: int, now: int) -> None:
    """A ban made since the first look took older tickets along, and not this one."""
    try:
        sanctions.require_may_queue(player_id, now)
    except KadoError:
        pools().drop([player_id], now=now)
        raise


def _ticket(player_id: int, pool: PoolCard, now: int) -> Ticket:
    """A fresh ticket with the rating of this moment. Raises `RatingOutsidePoolError`."""
    rating = accounts.ratings_of([player_id], pool.rating_key)[player_id]
    if not pool.admits(rating.mu):
        raise RatingOutsidePoolError(min_rating=pool.min_rating, max_rating=pool.max_rating)
    return Ticket(
        id=new_id(),
        player_id=player_id,
        pool=pool.key,
        mu=rating.mu,
        sigma=rating.sigma,
        joined=now,
        blocked=blocked_with([player_id])[player_id],
        recent=pools().met(player_id, now=now),
    )

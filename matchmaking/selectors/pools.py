"""Reading pools and tickets. Nothing here changes anything."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from threading import Lock
from typing import Any, Literal

import structlog

from common.clock import rfc3339
from games.territory import rules
from games.territory.rules import TimeControl, TimeKind
from games.territory.selectors import engaged_games
from games.territory.services.start import rating_key
from matchmaking import pairing
from matchmaking.errors import UnknownPoolError
from matchmaking.models import Pool
from matchmaking.pools import LEASE_MS, pools, unavailable_without_redis
from matchmaking.tickets import Ticket

log = structlog.get_logger(__name__)

FRESH_SECONDS = 1.0
"""A process knows an operator's change of a pool after this time at the latest."""
LOOKED_AT = 200
"""How many neighbours on each side are counted as compatible at most."""


@dataclass(frozen=True, slots=True)
class PoolCard:
    """A pool as a value."""

    key: str
    variant: str
    time_control: TimeControl
    rated: bool
    window_limit: float
    min_rating: int | None
    max_rating: int | None
    open: bool
    bots: str = "none"
    """`none`: people alone; `only`: bots alone; `welcome`: both, who meet each other."""

    def takes(self, kind: str) -> bool:
        """Whether players of this kind may wait here."""
        return kind != "guest" and self.bots != ("none" if kind == "bot" else "only")

    @property
    def size(self) -> int:
        """The number of players of a game."""
        return rules.variant(self.variant).seats

    @property
    def rating_key(self) -> str:
        return rating_key(self.variant, self.time_control)

    def admits(self, mu: float) -> bool:
        """Whether a rating lies within the pool's limits."""
        low = self.min_rating is None or mu >= self.min_rating
        return low and (self.max_rating is None or mu <= self.max_rating)


@dataclass(frozen=True, slots=True)
class TicketView:
    """What a player may know of their own ticket. Times are milliseconds; `position` counts from 1, oldest first.

    `estimate_ms` is the median wait of the pool's latest `estimate_matches` matched tickets, None without any.
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
    estimate_matches: int | None = None
    renew_within_ms: int | None = None
    game: str | None = None

    def wire(self) -> dict[str, Any]:
        """As REST and the socket send it: only what is known, instants as RFC 3339."""
        known = {name: getattr(self, name) for name in self.__slots__}
        if self.joined is not None:
            known["joined"] = rfc3339(self.joined)
        return {name: value for name, value in known.items() if value is not None}


class _Cache:
    """All pools, read again when they are older than `FRESH_SECONDS`: there are few, and every join needs one."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._read_at = float("-inf")
        self._cards: dict[str, PoolCard] = {}

    def cards(self) -> dict[str, PoolCard]:
        with self._lock:
            if time.monotonic() - self._read_at >= FRESH_SECONDS:
                self._cards = {each.key: each for each in _readable(Pool.objects.all())}
                self._read_at = time.monotonic()
            return self._cards

    def clear(self) -> None:
        with self._lock:
            self._read_at = float("-inf")


_cache = _Cache()
forget_pools = _cache.clear


def _readable(rows: Iterable[Pool]) -> Iterator[PoolCard]:
    """The cards of the rows; one that no game can be started with is logged and left out, the others go on."""
    for row in rows:
        try:
            yield card(row)
        except ValueError as error:
            log.error("pool cannot be used", pool=row.key, error=str(error))


def card(row: Pool) -> PoolCard:
    """The value of a row. Raises ValueError for a variant or time control that no pool can have."""
    variant = rules.variant(row.variant)
    if variant.seats != 2:
        raise ValueError(f"{variant.key} is not a game of two players")
    return PoolCard(
        key=row.key,
        variant=variant.key,
        time_control=TimeControl(TimeKind(row.kind), row.initial_ms, row.increment_ms),
        rated=row.rated,
        window_limit=float(row.window_limit),
        min_rating=row.min_rating,
        max_rating=row.max_rating,
        open=row.open,
        bots=row.bots,
    )


def pool_cards() -> list[PoolCard]:
    """Every pool, open or not, by key."""
    return sorted(_cache.cards().values(), key=lambda each: each.key)


def pool_card(key: str) -> PoolCard:
    """The pool of a key. Raises `UnknownPoolError`."""
    try:
        return _cache.cards()[key]
    except KeyError:
        raise UnknownPoolError(f"There is no pool {key!r}.") from None


@unavailable_without_redis
def pool_sizes(keys: Sequence[str]) -> dict[str, int]:
    """How many wait in each pool now. Raises `UnavailableError` while Redis is away, as `ticket_view` does."""
    return pools().sizes(keys)


@unavailable_without_redis
def ticket_view(*, player_id: int, now: int, pool_key: str | None = None) -> TicketView:
    """The player's ticket, in `pool_key` only if one is named.

    The ticket is read before the engagement: a ticket that a match has just taken is gone only after the game is
    there, so a player who waits is never told that nothing is the matter.
    """
    ticket = pools().ticket(player_id)
    if game := engaged_games([player_id]).get(player_id):
        return TicketView("matched", game=game)
    if ticket is None or pool_key not in (None, ticket.pool):
        return TicketView("none")
    return waiting_view(ticket, now)


def waiting_view(ticket: Ticket, now: int) -> TicketView:
    """A waiting ticket explained. Raises `UnknownPoolError` if an operator has deleted its pool."""
    limit = pool_card(ticket.pool).window_limit
    store = pools()
    near = store.near(ticket, span=pairing.window(ticket, now, limit), most=LOOKED_AT)
    place = store.place(ticket)
    return TicketView(
        "waiting",
        pool=ticket.pool,
        id=ticket.id,
        joined=ticket.joined,
        waited_ms=max(0, now - ticket.joined),
        window=round(pairing.window(ticket, now, limit), 1),
        window_limit=limit,
        compatible=sum(pairing.compatible(ticket, other, now, limit) for other in near),
        waiting=place.waiting,
        position=place.position,
        estimate_ms=int(median(place.waits)) if place.waits else None,
        estimate_matches=len(place.waits),
        renew_within_ms=LEASE_MS,
    )

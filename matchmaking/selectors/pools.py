"""Reading pools. Nothing here changes anything."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock

import structlog

from games.territory import rules
from games.territory.rules import TimeControl, TimeKind
from games.territory.services.start import rating_key
from matchmaking.errors import UnknownPoolError
from matchmaking.models import Pool
from matchmaking.pools import pools, unavailable_without_redis

log = structlog.get_logger(__name__)

FRESH_SECONDS = 1.0
"""A process knows an operator's change of a pool after this time at the latest."""


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
    def engages(self) -> bool:
        """Whether a player has one such game at a time: by correspondence there may be many."""
        return self.time_control.kind is TimeKind.REALTIME

    @property
    def rating_key(self) -> str:
        return rating_key(self.variant, self.time_control)

    def admits(self, mu: float) -> bool:
        """Whether a rating lies within the pool's limits."""
        low = self.min_rating is None or mu >= self.min_rating
        return low and (self.max_rating is None or mu <= self.max_rating)


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


def engages(key: str) -> bool:
    """Whether who plays a game of this pool plays no other of the kind; so it is said of a pool that is gone."""
    try:
        return pool_card(key).engages
    except UnknownPoolError:
        return True


@unavailable_without_redis
def pool_sizes(keys: Sequence[str]) -> dict[str, int]:
    """How many wait in each pool now. Raises `UnavailableError` while Redis is away, as `ticket_view` does."""
    return pools().sizes(keys)

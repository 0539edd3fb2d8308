"""The state streams `pool:<key>`: who waits there, without names, and how long it took others."""

from collections import Counter
from collections.abc import Collection

import msgspec

from common import states
from common.clock import rfc3339
from matchmaking.errors import UnknownPoolError
from matchmaking.estimates import usual_wait
from matchmaking.pairing import RULE
from matchmaking.pools import Queue, pools, unavailable_without_redis
from matchmaking.selectors import PoolCard, pool_card

PREFIX = "pool"
BAND = 100
"""Points of rating that are counted together."""


class BandData(msgspec.Struct, frozen=True):
    """How many wait with ratings from `rating` on, up to the next hundred."""

    rating: int
    waiting: int


class WindowData(msgspec.Struct, frozen=True):
    """The published rule: a ticket accepts `start` points, and `rate + sigma / sigma_share` more each second."""

    start: float
    rate: float
    sigma_share: float
    limit: float


class PoolData(msgspec.Struct, frozen=True):
    """All of what the stream shows. `oldest` is when the oldest waiting ticket joined.

    Of the tickets that ended lately half were matched within `wait_ms`, nine of ten within `wait_late_ms`.
    """

    open: bool
    players: int
    waiting: int
    oldest: str | None
    ratings: list[BandData]
    window: WindowData
    wait_ms: int | None
    wait_late_ms: int | None
    wait_tickets: int


class PoolStates:
    """The owner of the streams `pool:<key>` (see common/states.py)."""

    def admit(self, stream: str, player_id: int) -> None:
        """Whoever is signed in. Raises `UnknownPoolError`."""
        pool_card(_key(stream))

    def current(self, streams: Collection[str]) -> dict[str, PoolData]:
        """What each of these pools shows: one question to Redis. A pool that was deleted is left out."""
        cards = {}
        for stream in streams:
            try:
                cards[stream] = pool_card(_key(stream))
            except UnknownPoolError:
                continue
        queues = _queues([card.key for card in cards.values()])
        return {stream: _data(card, queues[card.key]) for stream, card in cards.items()}


@unavailable_without_redis
def _queues(keys: list[str]) -> dict[str, Queue]:
    return pools().queues(keys)


def _key(stream: str) -> str:
    return stream.partition(":")[2]


def _data(card: PoolCard, queue: Queue) -> PoolData:
    bands = Counter(int(mu // BAND) * BAND for mu in queue.ratings)
    usual = usual_wait(queue.ended)
    return PoolData(
        open=card.open,
        players=card.size,
        waiting=len(queue.ratings),
        oldest=None if queue.oldest is None else rfc3339(queue.oldest),
        ratings=[BandData(rating, count) for rating, count in sorted(bands.items())],
        window=WindowData(RULE.start, RULE.rate, RULE.sigma_share, card.window_limit),
        wait_ms=usual.likely,
        wait_late_ms=usual.late,
        wait_tickets=usual.tickets,
    )


def register() -> None:
    states.register(PREFIX, PoolStates())


def touch(*keys: str) -> None:
    """Who waits in these pools has changed."""
    states.touch(*(f"{PREFIX}:{key}" for key in keys))

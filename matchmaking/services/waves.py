"""One wave: pair what waits in a pool and make the matches; and the sweeping up before it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import structlog

from matchmaking import pairing, states
from matchmaking.pools import WAVE_LEASE_MS, pools
from matchmaking.selectors import PoolCard
from matchmaking.services.matching import FAIR, make_match
from matchmaking.services.recover import recover_expired

log = structlog.get_logger(__name__)

BUDGET_SECONDS = WAVE_LEASE_MS / 1000 * 0.75
"""A wave stops here and the next one pairs afresh, so that its lease on the pool outlasts it."""


@dataclass(frozen=True, slots=True)
class WaveReport:
    """What a wave did. `unfinished`: its time was up before its proposals were; begin the next one at once."""

    pool: str
    waiting: int
    proposals: int
    matches: int
    pairing_ms: float
    took_ms: float
    unfinished: bool


def run_wave(
    *, pool: PoolCard, clock: Callable[[], int], random: Random = FAIR
) -> WaveReport | None:
    """Pair a pool once. None if another process is at it. `clock` gives milliseconds since the epoch."""
    token = pools().lock_wave(pool.key)
    if token is None:
        return None
    try:
        return _wave(pool, clock, random)
    finally:
        pools().unlock_wave(pool.key, token)


def _wave(pool: PoolCard, clock: Callable[[], int], random: Random) -> WaveReport:
    began = time.perf_counter()
    waiting = pools().waiting(pool.key)
    read = time.perf_counter()
    proposals, _ = pairing.pair(waiting, clock(), pool.size, pool.window_limit)
    paired = time.perf_counter()
    matches = done = 0
    for proposal in proposals:
        if time.perf_counter() - began > BUDGET_SECONDS:
            break
        done += 1
        if make_match(pool=pool, proposal=proposal, now=clock(), random=random):
            matches += 1
    if matches:
        states.touch(pool.key)
    return WaveReport(
        pool=pool.key,
        waiting=len(waiting),
        proposals=len(proposals),
        matches=matches,
        pairing_ms=(paired - read) * 1000,
        took_ms=(time.perf_counter() - began) * 1000,
        unfinished=done < len(proposals),
    )


def sweep_tickets(*, now: int) -> None:
    """Remove tickets whose lease has ended and give back those of lapsed claims."""
    recover_expired(now=now)
    if expired := pools().expire(now=now):
        log.info("tickets expired", players=len(expired))

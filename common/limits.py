"""How often something may be done, counted in Redis: one count for all processes."""

import ipaddress
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from redis.exceptions import RedisError

from common.redis import tasks_client

logger = logging.getLogger(__name__)

# The generic cell rate algorithm (ITU-T I.371): a key holds the instant at which everything taken so far is earned.
# Redis's own clock counts, so that processes need not agree on the time.
# Several limits are one: all are taken from, or none.
_TAKE = """
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local answer, refused, earned = {}, false, {}
for i, key in ipairs(KEYS) do
    local interval, burst = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
    earned[i] = math.max(tonumber(redis.call('GET', key) or 0), now)
    local wait = math.max(earned[i] - (burst - 1) * interval - now, 0)
    refused = refused or wait > 0
    answer[2 * i - 1], answer[2 * i] = wait, earned[i] - now
end
if refused then return answer end
for i, key in ipairs(KEYS) do
    local owed = answer[2 * i] + tonumber(ARGV[2 * i - 1])
    redis.call('SET', key, string.format('%d', now + owed), 'PX', owed)
    answer[2 * i] = owed
end
return answer
"""


@dataclass(frozen=True, slots=True)
class Limit:
    """`burst` at once, and one every `interval_ms` for long."""

    name: str
    burst: int
    interval_ms: int


@dataclass(frozen=True, slots=True)
class Taken:
    """What is left of a limit: `wait_ms` until the next one is free, 0 if one was taken; `owed_ms` until all are."""

    limit: Limit
    wait_ms: int
    owed_ms: int

    @property
    def remaining(self) -> int:
        """How many more are free at this moment."""
        free = self.limit.burst * self.limit.interval_ms - self.owed_ms
        return max(0, free // self.limit.interval_ms)


def take_all(wanted: Sequence[tuple[Limit, str]]) -> list[Taken]:
    """Count one in each of these limits, for whom it is, or in none if one of them refuses.

    While Redis is away nothing is limited, and nothing is known: nobody is locked out by an outage.
    """
    if not wanted:
        return []
    keys = [f"kado:limit:{limit.name}:{who}" for limit, who in wanted]
    figures = [str(each) for limit, _ in wanted for each in (limit.interval_ms, limit.burst)]
    try:
        answer = tasks_client().eval(_TAKE, len(keys), *keys, *figures)
    except RedisError as error:
        logger.warning("limit %s not counted: %s", wanted[0][0].name, error)
        return []
    return [
        Taken(limit, int(wait), int(owed))
        for (limit, _), wait, owed in zip(wanted, answer[::2], answer[1::2], strict=True)
    ]


def take(limit: Limit, who: str) -> int:
    """Count one for `who`: 0 if it is within the limit, else the milliseconds until the next one is."""
    return wait_of(take_all([(limit, who)]))


def wait_of(taken: Sequence[Taken]) -> int:
    """The milliseconds until all of them give one more; 0 if they did."""
    return max((each.wait_ms for each in taken), default=0)


def headers_of(taken: Sequence[Taken]) -> dict[str, str]:
    """`RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10): lists of structured fields.

    A policy says how many at once (`q`), and in how many seconds all are free again (`w`); the other field how many are
    left (`r`) and in how many seconds all are free (`t`).
    """
    if not taken:
        return {}
    policies = (
        f'"{t.limit.name}";q={t.limit.burst};w={_seconds(t.limit.burst * t.limit.interval_ms)}'
        for t in taken
    )
    left = (f'"{t.limit.name}";r={t.remaining};t={_seconds(t.owed_ms)}' for t in taken)
    return {"RateLimit-Policy": ", ".join(policies), "RateLimit": ", ".join(left)}


def _seconds(ms: int) -> int:
    return -(-ms // 1000)


def address_group(address: str) -> str:
    """Whose an address is: itself, and of IPv6 the /64 network, which one subscriber has."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    if parsed.version == 4:
        return str(parsed)
    return str(ipaddress.ip_network((parsed, 64), strict=False))

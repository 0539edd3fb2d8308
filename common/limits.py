"""How often something may be done, counted in Redis: one count for all processes."""

import ipaddress
import logging
from dataclasses import dataclass

from redis.exceptions import RedisError

from common.redis import tasks_client

logger = logging.getLogger(__name__)

# The generic cell rate algorithm (ITU-T I.371): a key holds the instant at which everything taken so far is earned.
# Redis's own clock counts, so that processes need not agree on the time.
_TAKE = """
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local interval, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local earned = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
local wait = earned - (burst - 1) * interval - now
if wait > 0 then return wait end
redis.call('SET', KEYS[1], string.format('%d', earned + interval), 'PX', earned + interval - now)
return 0
"""


@dataclass(frozen=True, slots=True)
class Limit:
    """`burst` at once, and one every `interval_ms` for long."""

    name: str
    burst: int
    interval_ms: int


def take(limit: Limit, who: str) -> int:
    """Count one for `who`: 0 if it is within the limit, else the milliseconds until the next one is.

    While Redis is away nothing is limited: nobody is locked out by an outage.
    """
    key = f"kado:limit:{limit.name}:{who}"
    try:
        return int(tasks_client().eval(_TAKE, 1, key, str(limit.interval_ms), str(limit.burst)))
    except RedisError as error:
        logger.warning("limit %s not counted: %s", limit.name, error)
        return 0


def address_group(address: str) -> str:
    """Whose an address is: itself, and of IPv6 the /64 network, which one subscriber has."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    if parsed.version == 4:
        return str(parsed)
    return str(ipaddress.ip_network((parsed, 64), strict=False))

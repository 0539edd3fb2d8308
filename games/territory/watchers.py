"""How many look on at each game: what each web process counts, in Redis, with a lease.

A process renews its counts every few seconds; those of one that died are left out when their lease ends. Redis may
lose all of it: the next renewal brings it back.
"""

import logging
from collections.abc import Collection, Mapping

import redis

from common.redis import by_client

logger = logging.getLogger(__name__)

RENEW_MS = 5_000
LEASE_MS = 15_000
"""How long a count stands without being renewed: two renewals may get lost."""


def _key(game_id: str) -> str:
    return f"watchers:{game_id}"


def report(process: str, counts: Mapping[str, int], *, now: int) -> None:
    """Renew how many look on at each of these games in one web process; 0 takes the count back.

    Raises `redis.RedisError`.
    """
    for client, games in by_client(counts, stream=_key):
        pipeline = client.pipeline(transaction=False)
        for game in games:
            if counts[game]:
                pipeline.hset(_key(game), process, f"{counts[game]} {now + LEASE_MS}")
                pipeline.pexpire(_key(game), LEASE_MS)
            else:
                pipeline.hdel(_key(game), process)
        pipeline.execute()


def watchers(game_ids: Collection[str], *, now: int) -> dict[str, int]:
    """How many look on at each of these games. A player with several devices counts once in each web process.

    Where Redis does not answer, nobody is seen.
    """
    found = dict.fromkeys(game_ids, 0)
    for client, games in by_client(found, stream=_key):
        pipeline = client.pipeline(transaction=False)
        for game in games:
            pipeline.hvals(_key(game))
        try:
            counts = pipeline.execute()
        except redis.RedisError as error:
            logger.warning("the spectators of %d games are not known: %s", len(games), error)
            continue
        found.update((game, _sum(values, now)) for game, values in zip(games, counts, strict=True))
    return found


def _sum(values: list[bytes], now: int) -> int:
    pairs = (value.split() for value in values)
    return sum(int(count) for count, until in pairs if int(until) > now)

"""Who is online, and since when others are away; see accounts/presence.py for what that means."""

from collections.abc import Collection

from redis.exceptions import RedisError

from accounts.presence import presence


def online(player_ids: Collection[int], now: int) -> frozenset[int]:
    """Those of the players who have a live connection, or had one a moment ago. May raise `redis.RedisError`."""
    return presence().online(player_ids, now)


def away_since(player_ids: Collection[int], now: int) -> dict[int, int]:
    """Those of the players who have no live connection, and when the last one ended (0: not known).

    May raise `redis.RedisError`.
    """
    return presence().away_since(player_ids, now)


def web_processes(now: int) -> dict[str, int]:
    """The web processes that live, and how many players are connected to each."""
    return presence().processes(now)


def web_processes_of(player_id: int, now: int) -> list[str]:
    """Those that the player is connected to."""
    return presence().processes_of(player_id, now)


def shown_online(player_ids: Collection[int]) -> frozenset[int]:
    """The same as `online` for those who ask all the time: it may be a few seconds late after a crash."""
    return presence().shown(player_ids)


def online_if_known(player_ids: Collection[int], now: int) -> frozenset[int] | None:
    """The same as `online`; None while Redis is away."""
    try:
        return online(player_ids, now)
    except RedisError:
        return None

"""Web processes say who is connected to them, and whoever comes online or goes offline by it is told of."""

from accounts.presence import Changes, presence
from accounts.signals import presence_changed


def attend(*, process: str, before: frozenset[int], players: frozenset[int], now: int) -> None:
    """Say that exactly these players are connected to the process, which lives, and tell who came or went anywhere.

    `before` are those of the last call that succeeded, so that as a rule only the difference is sent. May raise
    `redis.RedisError`: then nothing is known to have been taken, so say it again with nobody `before`.
    """
    store = presence()
    store.leave(process, before - players, now=now)
    _tell(store.enter(process, players - before, now=now))
    if store.renew(process, now=now) != len(players):
        store.leave(process, store.held(process) - players, now=now)
        _tell(store.enter(process, players, now=now))
    _tell(store.sweep(now=now))


def _tell(changes: Changes) -> None:
    if changes:
        presence_changed.send_robust(None, online=changes.online, offline=changes.offline)

"""Who is online: whoever has a live connection to a web process. Kept in Redis, which may lose all of it at any time.

Each web process has one lease, and the set of the players who are connected to it; a player may be in the sets of
several. Renewing the lease is one call for all sockets of the process. A process that dies says nothing: its lease
ends, and with it the presence of its players. Whoever sweeps first is told who came online or went offline, and tells
the others; nobody is told twice.

All instants are arguments, in milliseconds since the epoch; the server's own clock is never asked.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, cast

from common.redis import client

if TYPE_CHECKING:
    from redis import Redis

LEASE_MS: Final = 10_000
"""How long a web process is believed to live without being heard of. It renews every few seconds."""
GRACE_MS: Final = 5_000
"""How long somebody whose last connection has ended still counts as online: lines break, and pages are reloaded."""
REMEMBERED_MS: Final = 7 * 24 * 3_600_000
"""How long it is known since when somebody is away."""
CHUNK: Final = 1_000
"""Players in one script: others wait for it."""

_KEYS: Final = ["{presence}leases", "{presence}shown", "{presence}due", "{presence}left"]


@dataclass(frozen=True, slots=True)
class Changes:
    """Who came online, and who went offline, as others see it; each change is told to one caller once."""

    online: tuple[int, ...] = ()
    offline: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.online or self.offline)


class Presence:
    """The store. It is safe to share between threads. Every call may raise `redis.RedisError`."""

    def __init__(self, connection: "Redis") -> None:
        self._redis = connection
        folder = files("accounts") / "lua"
        prelude = (folder / "presence.lua").read_text()
        self._scripts = {
            name: connection.register_script(
                prelude + (folder / f"presence_{name}.lua").read_text()
            )
            for name in ("enter", "leave", "renew", "sweep", "online", "away")
        }

    def _run(self, name: str, *args: str | int) -> Any:
        return self._scripts[name](keys=_KEYS, args=args)

    # What web processes say

    def enter(self, process: str, player_ids: Collection[int], *, now: int) -> Changes:
        """These players have a connection to the process, which lives; saying it twice is no error."""
        came: list[int] = []
        for part in _parts(player_ids):
            came += map(int, self._run("enter", process, now + LEASE_MS, *part))
        return Changes(online=tuple(came))

    def leave(self, process: str, player_ids: Collection[int], *, now: int) -> None:
        """These players have no connection to the process any more. `sweep` tells who is offline, after the grace."""
        for part in _parts(player_ids):
            self._run("leave", process, now, now + GRACE_MS, *part)

    def renew(self, process: str, *, now: int) -> int:
        """Keep the process's lease; how many players are kept as connected to it.

        Not so many as there are: Redis has forgotten them, or the lease had ended and others have cleared up, or an
        answer was lost on its way.
        """
        return int(self._run("renew", process, now + LEASE_MS))

    def held(self, process: str) -> frozenset[int]:
        """The players who are kept as connected to the process."""
        players = cast("set[bytes]", self._redis.smembers(f"{{presence}}players:{process}"))
        return frozenset(map(int, players))

    def sweep(self, *, now: int) -> Changes:
        """Clear up after processes whose lease has ended, and tell who is offline, all graces considered."""
        gone: list[int] = []
        more = 1
        while more:
            more, part = self._run("sweep", now, GRACE_MS, CHUNK, now - REMEMBERED_MS)
            gone += map(int, part)
        return Changes(offline=tuple(gone))

    # What operators ask

    def processes(self, now: int) -> dict[str, int]:
        """The web processes that live, and how many players are connected to each."""
        names = [
            name.decode()
            for name in cast("list[bytes]", self._redis.zrangebyscore(_KEYS[0], now, "+inf"))
        ]
        pipeline = self._redis.pipeline(transaction=False)
        for name in names:
            pipeline.scard(f"{{presence}}players:{name}")
        return dict(zip(names, pipeline.execute(), strict=True))

    def processes_of(self, player_id: int, now: int) -> list[str]:
        """The web processes that the player is connected to."""
        key = f"{{presence}}processes:{player_id}"
        mine = cast("set[bytes]", self._redis.smembers(key))
        return sorted({name.decode() for name in mine} & self.processes(now).keys())

    # What others ask

    def online(self, player_ids: Collection[int], now: int) -> frozenset[int]:
        """Those of the players who have a live connection, or had one less than `GRACE_MS` ago."""
        found: set[int] = set()
        for part in _parts(player_ids):
            found.update(map(int, self._run("online", now - GRACE_MS, *part)))
        return frozenset(found)

    def shown(self, player_ids: Collection[int]) -> frozenset[int]:
        """Those of the players of whom it has been told that they are online, and not yet that they are not.

        The same as `online` but for what nobody has swept yet; many times cheaper, for those who ask all the time.
        """
        found: list[int] = []
        for part in _parts(player_ids):
            flags = cast("list[int]", self._redis.smismember(_KEYS[1], list(map(str, part))))
            found += [player for player, flag in zip(part, flags, strict=True) if flag]
        return frozenset(found)

    def away_since(self, player_ids: Collection[int], now: int) -> dict[int, int]:
        """Those of the players who have no live connection, and when the last one ended; 0 if that is not known.

        There is no grace here. The end of a connection to a process that died is the end of that process's lease.
        """
        found: dict[int, int] = {}
        for part in _parts(player_ids):
            flat = self._run("away", now, *part)
            found.update(zip(map(int, flat[::2]), map(int, flat[1::2]), strict=True))
        return found


def _parts(player_ids: Iterable[int]) -> Iterable[list[int]]:
    ids = sorted(set(player_ids))
    return (ids[start : start + CHUNK] for start in range(0, len(ids), CHUNK))


@cache
def presence() -> Presence:
    """The store of this process."""
    return Presence(client())

"""The pools in Redis: who waits where, who is claimed, and whose lease has ended.

Every change is one Lua script (the `lua` folder), so a ticket is in exactly one state whoever dies in between. All
instants are arguments in milliseconds since the epoch; the server's own clock is never asked. Redis may lose all of
this at any time: scripts are loaded again when they are unknown, and players' connections make their tickets anew.
"""

import logging
import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, wraps
from importlib.resources import files
from typing import Any, Literal, ParamSpec, TypeVar, cast

import msgspec
import redis

from common.errors import UnavailableError
from common.ids import new_id
from common.redis import client
from matchmaking.tickets import Ticket

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

LEASE_MS = 30_000
"""How long a ticket stands without being renewed; connections renew every few seconds."""
CLAIM_LEASE_MS = 4_000
"""How long a claim may take to become a game before its tickets are looked at again."""
WAVE_LEASE_MS = 2_000
"""How long one process keeps a pool's waves to itself if it dies."""
REMEMBERED_MS = 10 * 60_000
"""How long it is remembered that a ticket ended on purpose, and whom a player met in a match."""
CHUNK = 1_000

_KEYS = [
    "{mm}tickets", "{mm}leases", "{mm}claimed", "{mm}claims", "{mm}claim-leases", "{mm}gone",
    "{mm}leaving",
]  # fmt: skip
_WAITS_KEPT = 50
_decoder = msgspec.json.Decoder(Ticket)


@dataclass(frozen=True, slots=True)
class Claim:
    """Tickets that somebody has taken out of a pool to make a game of them: (player, ticket id) each."""

    id: str
    pool: str
    tickets: tuple[tuple[int, str], ...]

    @property
    def player_ids(self) -> list[int]:
        return [player for player, _ in self.tickets]


@dataclass(frozen=True, slots=True)
class Left:
    """What leaving met: a waiting ticket is gone at once, one in a claim may be on its way to a game."""

    state: Literal["none", "left", "claimed"]
    claim_id: str


@dataclass(frozen=True, slots=True)
class Renewed:
    """Who had no ticket to renew: `lost` by Redis or by a lapsed lease, or `gone` because it ended on purpose."""

    lost: list[int]
    gone: list[int]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a ticket stands: how many wait, its place by age (from 1, 0 if it is gone), and how long the pool's latest
    matched tickets had waited (milliseconds, at most fifty of them).
    """

    waiting: int
    position: int
    waits: list[int]


class Pools:
    """The store. It is safe to share between threads."""

    def __init__(self, connection: "redis.Redis") -> None:
        self._redis = connection
        folder = files("matchmaking") / "lua"
        prelude = (folder / "prelude.lua").read_text()
        self._scripts = {
            name: connection.register_script(prelude + (folder / f"{name}.lua").read_text())
            for name in (
                "join", "leave", "drop", "renew", "claim", "end_claim", "expire", "discard", "near",
                "unlock", "amend",
            )
        }  # fmt: skip

    def _run(self, name: str, *args: str | float | bytes) -> Any:
        return self._scripts[name](keys=_KEYS, args=args)

    # Tickets

    def join(self, ticket: Ticket, *, lease_until: int) -> tuple[Ticket, bool]:
        """Put a ticket into its pool, or renew the player's standing one: that ticket and whether it is new.

        The answer's `pool` differs from the wish when the player already waits elsewhere; nothing is changed then.
        """
        record = _record(ticket)
        new, standing = self._run("join", ticket.player_id, record, lease_until)
        if new:
            return ticket, True
        held = _ticket(standing)
        if held is None:
            self.discard(ticket.pool, ticket.player_id, standing)
            return self.join(ticket, lease_until=lease_until)
        return held, False

    def leave(self, player_id: int, pool: str | None, *, now: int) -> Left:
        """Take back a player's ticket, in `pool` only if one is named. A claimed one will not return from its claim."""
        state, claim = self._run("leave", player_id, pool or "", now)
        return Left(state.decode(), claim.decode())

    def drop(self, player_ids: Collection[int], *, now: int) -> list[int]:
        """Forget whatever these players wait for; answers who had a ticket."""
        return [int(player) for player in self._run("drop", now, *player_ids)] if player_ids else []

    def renew(self, player_ids: Collection[int], *, lease_until: int) -> Renewed:
        """Keep the tickets of many players alive in one call."""
        if not player_ids:
            return Renewed([], [])
        lost, gone = self._run("renew", lease_until, *player_ids)
        return Renewed([int(player) for player in lost], [int(player) for player in gone])

    def expire(self, *, now: int, most: int = CHUNK) -> list[int]:
        """Remove waiting tickets whose lease has ended; whose they were."""
        return [int(player) for player in self._run("expire", now, most, now - REMEMBERED_MS)]

    def ticket(self, player_id: int) -> Ticket | None:
        """The ticket of a player, waiting or claimed."""
        record = cast("bytes | None", self._redis.hget(_KEYS[0], str(player_id)))
        return _ticket(record) if record else None

    def set_blocked(self, player_id: int, blocked: frozenset[int]) -> None:
        """Let the player's ticket, if there is one, know of these blocks; it keeps its place."""
        done = False
        while not done:
            record = cast("bytes | None", self._redis.hget(_KEYS[0], str(player_id)))
            ticket = _ticket(record) if record else None
            if record is None or ticket is None or ticket.blocked == blocked:
                return
            done = self._run("amend", player_id, record, _record(replace(ticket, blocked=blocked)))

    def discard(self, pool: str, player_id: int, record: bytes) -> None:
        """Take out an entry that cannot be read, unless it has changed meanwhile."""
        if self._run("discard", pool, player_id, record) and record:
            logger.error("unreadable ticket of player %d in %s discarded", player_id, pool)

    # Whole pools

    def waiting(self, pool: str) -> list[Ticket]:
        """Every readable waiting ticket of a pool; unreadable ones are logged and discarded."""
        players = cast("list[bytes]", self._redis.zrange(f"{{mm}}waiting:{pool}", 0, -1))
        found: list[Ticket] = []
        for start in range(0, len(players), CHUNK):
            part = players[start : start + CHUNK]
            records = cast("list[bytes | None]", self._redis.hmget(_KEYS[0], part))
            found += self._readable(pool, zip(part, records, strict=True))
        return found

    def near(self, ticket: Ticket, *, span: float, most: int) -> list[Ticket]:
        """The waiting tickets of the pool nearest in rating, at most `most` on each side, not the player's own."""
        flat = self._run("near", ticket.pool, repr(ticket.mu), repr(span), most)
        tickets = self._readable(ticket.pool, zip(flat[::2], flat[1::2], strict=True))
        return [other for other in tickets if other.player_id != ticket.player_id]

    def _readable(self, pool: str, entries: Iterable[tuple[bytes, bytes | None]]) -> list[Ticket]:
        tickets = []
        for player, record in entries:
            ticket = _ticket(record) if record else None
            if ticket is not None and ticket.player_id == int(player):
                tickets.append(ticket)
            else:
                self.discard(pool, int(player), record or b"")
        return [ticket for ticket in tickets if ticket.pool == pool]

    def sizes(self, pools: Sequence[str]) -> dict[str, int]:
        """How many wait in each pool."""
        pipeline = self._redis.pipeline(transaction=False)
        for pool in pools:
            pipeline.zcard(f"{{mm}}waiting:{pool}")
        return dict(zip(pools, pipeline.execute(), strict=True))

    def oldest(self, pools: Sequence[str]) -> dict[str, int | None]:
        """When the longest waiting of each pool joined, in milliseconds; None if nobody waits."""
        pipeline = self._redis.pipeline(transaction=False)
        for pool in pools:
            pipeline.zrange(f"{{mm}}order:{pool}", 0, 0, withscores=True)
        first = [int(found[0][1]) if found else None for found in pipeline.execute()]
        return dict(zip(pools, first, strict=True))

    def place(self, ticket: Ticket) -> Place:
        """Where a ticket stands in its pool, in one round trip."""
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.zcard(f"{{mm}}waiting:{ticket.pool}")
        pipeline.zrank(f"{{mm}}order:{ticket.pool}", str(ticket.player_id))
        pipeline.lrange(f"{{mm}}waits:{ticket.pool}", 0, -1)
        waiting, rank, waits = pipeline.execute()
        return Place(waiting, 0 if rank is None else rank + 1, [int(wait) for wait in waits])

    # Claims

    def claim(
        self, claim_id: str, pool: str, tickets: Sequence[Ticket], *, now: int
    ) -> Claim | None:
        """Take all of the tickets out of waiting, or none (then None). The claim lapses after `CLAIM_LEASE_MS`."""
        pairs = tuple((ticket.player_id, ticket.id) for ticket in tickets)
        until = now + CLAIM_LEASE_MS
        taken = self._run("claim", claim_id, pool, now, until, *(x for pair in pairs for x in pair))
        return Claim(claim_id, pool, pairs) if taken else None

    def end_claim(self, claim: Claim, player_ids: Collection[int], *, now: int) -> list[int]:
        """End a claim: the tickets of `player_ids` are matched and gone, the others wait again; answers who does."""
        gone = [item for pair in claim.tickets if pair[0] in player_ids for item in pair]
        return [int(player) for player in self._run("end_claim", claim.id, now, *gone)]

    def release(self, claim: Claim, *, drop: Collection[int] = (), now: int) -> list[int]:
        """End a claim that made no game: all its tickets that are still wanted wait again, but those of `drop`."""
        return self.end_claim(claim, drop, now=now)

    def is_open(self, claim_id: str) -> bool:
        """Whether a claim has not ended yet."""
        return bool(self._redis.hexists(_KEYS[3], claim_id))

    def expired_claims(self, *, now: int) -> list[Claim]:
        """The claims whose lease has ended: their owner died, or is very slow."""
        lapsed = cast("list[bytes]", self._redis.zrangebyscore(_KEYS[4], "-inf", now))
        found = []
        for claim_id in lapsed:
            record = cast("bytes | None", self._redis.hget(_KEYS[3], claim_id.decode()))
            if record is not None:
                found.append(_claim(claim_id.decode(), record.decode()))
        return found

    # Memory of matches

    def remember(self, claim: Claim, waits: Sequence[int], *, now: int) -> None:
        """Note after a match who met whom and how long each had waited (milliseconds)."""
        pipeline = self._redis.pipeline(transaction=False)
        for player in claim.player_ids:
            key = f"{{mm}}met:{player}"
            pipeline.zadd(key, {str(other): now for other in claim.player_ids if other != player})
            pipeline.zremrangebyscore(key, "-inf", now - REMEMBERED_MS)
            pipeline.pexpire(key, REMEMBERED_MS)
        pipeline.lpush(f"{{mm}}waits:{claim.pool}", *waits)
        pipeline.ltrim(f"{{mm}}waits:{claim.pool}", 0, _WAITS_KEPT - 1)
        pipeline.execute()

    def met(self, player_id: int, *, now: int) -> frozenset[int]:
        """Whom a player met in a match during the last `REMEMBERED_MS`."""
        met = self._redis.zrangebyscore(f"{{mm}}met:{player_id}", now - REMEMBERED_MS, "+inf")
        return frozenset(int(player) for player in cast("list[bytes]", met))

    # Waves

    def lock_wave(self, pool: str) -> str | None:
        """A token if no other process is at this pool's wave. It saves double work; nothing relies on it."""
        token = new_id()
        taken = self._redis.set(f"{{mm}}wave:{pool}", token, nx=True, px=WAVE_LEASE_MS)
        return token if taken else None

    def unlock_wave(self, pool: str, token: str) -> None:
        """Let others at the pool."""
        self._run("unlock", pool, token)


def unavailable_without_redis(function: Callable[P, T]) -> Callable[P, T]:
    """Let what a client asks for be refused with `unavailable` while Redis does not answer."""

    @wraps(function)
    def asked(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except redis.RedisError as error:
            raise UnavailableError("The pools cannot be reached.", retry_after_ms=1_000) from error

    return asked


@cache
def pools() -> Pools:
    """The store of this process."""
    return Pools(client())


def _record(ticket: Ticket) -> bytes:
    head = f"{ticket.id}|{ticket.pool}|{ticket.mu!r}|{ticket.joined}|"
    return head.encode() + msgspec.json.encode(ticket)


def _ticket(record: bytes) -> Ticket | None:
    """The ticket of a record, None if it cannot be read."""
    try:
        ticket = _decoder.decode(record.split(b"|", 4)[4])
    except (IndexError, msgspec.DecodeError):
        return None
    return ticket if math.isfinite(ticket.mu) and math.isfinite(ticket.sigma) else None


def _claim(claim_id: str, record: str) -> Claim:
    pool, _, pairs = record.partition("|")
    tickets = (pair.partition(":") for pair in pairs.split(","))
    return Claim(claim_id, pool, tuple((int(player), ticket) for player, _, ticket in tickets))

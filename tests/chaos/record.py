"""What the database and the queues hold: one consistent picture, read from outside the product.

It is plain SQL and Redis on purpose: the checker shares no code with what it judges.
"""

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import psycopg
import redis

Json = dict[str, Any]
SEATS = {"duo": 2, "junior": 2, "classic-2": 2, "classic-3": 3, "classic": 4}


@dataclass(slots=True)
class GameRow:
    id: str
    variant: str
    pool: str
    rated: bool
    status: str
    termination: str
    version: int
    settled: bool

    @property
    def matched(self) -> bool:
        return bool(self.pool)


@dataclass(frozen=True, slots=True)
class SeatRow:
    game: str
    index: int
    player: int
    rank: int | None


@dataclass(frozen=True, slots=True)
class EventRow:
    version: int
    at: int
    event: Json


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """`number` is the row's place in the order of all rows."""

    number: int
    game: str
    player: int
    key: str
    sequence: int
    rank: int
    before: tuple[float, float]
    after: tuple[float, float]


@dataclass(slots=True)
class Queues:
    """What stands in Redis about waiting players: every key of matchmaking that names tickets or claims."""

    tickets: set[int] = field(default_factory=set)
    leases: set[int] = field(default_factory=set)
    claimed: dict[int, str] = field(default_factory=dict)
    claims: set[str] = field(default_factory=set)
    claim_leases: set[str] = field(default_factory=set)
    waiting: dict[int, list[str]] = field(default_factory=dict)
    order: dict[int, list[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, client: "redis.Redis") -> "Queues":
        raw: Any = client  # its type says that every answer may be anything

        def members(kind: str) -> dict[int, list[str]]:
            found: dict[int, list[str]] = defaultdict(list)
            for key in raw.scan_iter(f"{{mm}}{kind}:*"):
                for player in raw.zrange(key, 0, -1):
                    found[int(player)].append(key.decode().partition(":")[2])
            return dict(found)

        return cls(
            tickets={int(player) for player in raw.hkeys("{mm}tickets")},
            leases={int(player) for player in raw.zrange("{mm}leases", 0, -1)},
            claimed={int(p): claim.decode() for p, claim in raw.hgetall("{mm}claimed").items()},
            claims={claim.decode() for claim in raw.hkeys("{mm}claims")},
            claim_leases={claim.decode() for claim in raw.zrange("{mm}claim-leases", 0, -1)},
            waiting=members("waiting"),
            order=members("order"),
        )


@dataclass(slots=True)
class Record:
    """The database, and the queues beside it."""

    players: dict[int, str] = field(default_factory=dict)
    games: dict[str, GameRow] = field(default_factory=dict)
    seats: list[SeatRow] = field(default_factory=list)
    events: dict[str, list[EventRow]] = field(default_factory=dict)
    engagements: list[tuple[int, str]] = field(default_factory=list)
    ledger: list[LedgerRow] = field(default_factory=list)
    ratings: dict[tuple[int, str], tuple[float, float, int]] = field(default_factory=dict)
    inboxes: dict[int, list[EventRow]] = field(default_factory=dict)
    queues: Queues = field(default_factory=Queues)

    def stream(self, name: str, player: str) -> list[EventRow]:
        """The rows of a stream as `player` names it on the wire."""
        if name == "inbox":
            ids = {each: number for number, each in self.players.items()}
            return self.inboxes.get(ids[player], [])
        return self.events.get(name.partition(":")[2], [])


def read_record(database_url: str, redis_url: str) -> Record:
    """The picture now. The database is read in one transaction."""
    with redis.Redis.from_url(redis_url) as client:
        queues = Queues.read(client)
    with psycopg.connect(database_url) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        return _read(connection, queues)


def _read(connection: "psycopg.Connection[Any]", queues: Queues) -> Record:
    def rows(statement: bytes) -> list[Any]:
        return connection.execute(statement).fetchall()

    record = Record(queues=queues)
    record.players = dict(rows(b"SELECT id, name FROM accounts_player"))
    for row in rows(
        b"SELECT id, variant, pool, rated, status, termination, version, settled_at IS NOT NULL"
        b" FROM territory_game"
    ):
        record.games[row[0]] = GameRow(*row)
    record.seats = [
        SeatRow(*row)
        for row in rows(
            b"SELECT game_id, index, player_id, rank FROM territory_seat ORDER BY game_id, index"
        )
    ]
    for game, version, at, payload in rows(
        b"SELECT game_id, version, at, payload FROM territory_event ORDER BY game_id, version"
    ):
        record.events.setdefault(game, []).append(EventRow(version, at, json.loads(payload)))
    record.engagements = rows(b"SELECT player_id, game_id FROM territory_engagement")
    for number, game, player, key, sequence, rank, *figures in rows(
        b"SELECT id, game_id, player_id, key, sequence, rank, mu_before, sigma_before,"
        b" mu_after, sigma_after FROM accounts_ledgerrow ORDER BY id"
    ):
        before, after = (figures[0], figures[1]), (figures[2], figures[3])
        record.ledger.append(LedgerRow(number, game, player, key, sequence, rank, before, after))
    for player, key, mu, sigma, games in rows(
        b"SELECT player_id, key, mu, sigma, games FROM accounts_ratingrow"
    ):
        record.ratings[player, key] = (mu, sigma, games)
    for player, version, at, payload in rows(
        b"SELECT player_id, version, at, payload FROM accounts_inboxitem ORDER BY player_id, version"
    ):
        record.inboxes.setdefault(player, []).append(EventRow(version, at, json.loads(payload)))
    return record

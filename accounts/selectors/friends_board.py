"""A leaderboard of oneself and one's friends: the lines of the board, with the ranks in this circle and on the whole.

The circle is small (services/friends.py bounds it), so its lines are sorted each time. Ranks on the whole board are
worked out for the lines that are shown only, from the counts of the board's buckets, which are added up once for all
of them (docs/adr/0015-score-leaderboards.md). Each answer is one statement, so it is the board of one instant.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.db import connection

from accounts.selectors.leaderboards import LeaderboardEntry, cursor_of, kind_of_board, place_of
from accounts.selectors.people import PlayerCard

# The same as in leaderboards.py: an array is greater than its own beginning, so the numbers that a tie shares come
# before all lines of the tie.
_CIRCLE = """
WITH lines AS MATERIALIZED (
    SELECT place, player_id, {columns}, rank() OVER (ORDER BY place[:{tied}]) AS rank, count(*) OVER () AS circle
    FROM {table} WHERE key = %(key)s AND listed AND player_id = ANY(%(players)s)
), page AS MATERIALIZED (
    SELECT * FROM lines WHERE place > %(after)s::float8[] ORDER BY place LIMIT %(limit)s + 1
), sums AS MATERIALIZED (
    SELECT low, sum(entries) OVER (ORDER BY low) AS up_to, entries
    FROM accounts_leaderboardbucket WHERE board = %(key)s
), ranked AS MATERIALIZED (
    SELECT page.*, sums.up_to - sums.entries + part.lines + 1 AS board_rank
    FROM page CROSS JOIN LATERAL (
        SELECT max(low) AS low FROM accounts_leaderboardbucket WHERE board = %(key)s AND low <= page.place[:{tied}]
    ) AS bucket JOIN sums ON sums.low = bucket.low CROSS JOIN LATERAL (
        SELECT count(*) AS lines FROM {table}
        WHERE key = %(key)s AND listed AND place >= bucket.low AND place < page.place[:{tied}]
    ) AS part
)
SELECT (SELECT coalesce(max(up_to), 0) FROM sums), (SELECT coalesce(max(circle), 0) FROM lines),
    (SELECT frozen_at FROM accounts_scoreboard WHERE key = %(key)s),
    place, board_rank, rank, player.id, player.name, player.kind, player.level, {columns}
FROM (SELECT) AS always LEFT JOIN ranked ON true LEFT JOIN accounts_player AS player ON player.id = ranked.player_id
ORDER BY place
"""


@dataclass(frozen=True, slots=True)
class CircleEntry:
    """A line whose `rank` is that among friends; `board_rank` is that on the whole board."""

    entry: LeaderboardEntry
    board_rank: int


@dataclass(frozen=True, slots=True)
class CirclePage:
    """A part of the circle's lines: `total` are theirs, `board_total` those of the whole board."""

    key: str
    entries: list[CircleEntry]
    next: str | None
    total: int
    board_total: int
    frozen_at: int | None


def friends_board(
    key: str, circle: Collection[int], *, cursor: str | None = None, limit: int = 50
) -> CirclePage:
    """The lines that these players have on a board, in its order and with its rule of ties, after the cursor's.

    Who has no line on the board has none here either: guests, bots, provisional ratings. Raises
    `UnknownLeaderboardError` and `InvalidCursorError`.
    """
    kind = kind_of_board(key)
    after = place_of(key, cursor) if cursor else []
    statement = _CIRCLE.format(table=kind.table, columns=kind.columns, tied=kind.tied)
    values: dict[str, Any] = {"key": key, "players": list(circle), "after": after, "limit": limit}
    with connection.cursor() as database:
        database.execute(statement, values)
        rows: list[tuple[Any, ...]] = database.fetchall()
    board_total, total, frozen_at = rows[0][:3]
    found: list[tuple[list[float], CircleEntry]] = []
    for place, board_rank, rank, *card, first, second, third in (row[3:] for row in rows):
        if place is not None:
            standing = kind.standing(first, second, third)
            entry = LeaderboardEntry(rank, PlayerCard(*card), standing)
            found.append((place, CircleEntry(entry, int(board_rank))))
    shown = found[:limit]
    more = len(found) > limit
    return CirclePage(
        key=key,
        entries=[entry for _, entry in shown],
        next=cursor_of(key, shown[-1][0], shown[-1][1].entry.player.name) if more else None,
        total=int(total),
        board_total=int(board_total),
        frozen_at=frozen_at,
    )

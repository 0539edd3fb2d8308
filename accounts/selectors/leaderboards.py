"""Leaderboards: a page, the lines around a player, and a rank, of ratings and of scores alike.

A rank is one more than the number of lines before it, which nobody counts one by one: the database keeps the number of
lines in each bucket, a stretch of some hundred lines, and counts the lines of one bucket only. Each answer is one
statement, so it is the board of one instant. See docs/adr/0015-score-leaderboards.md.
"""

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from accounts import rules
from accounts.errors import InvalidCursorError, NotOnLeaderboardError, UnknownLeaderboardError
from accounts.models import Player
from accounts.rules import Rating
from accounts.selectors.people import PlayerCard
from common import replica


@dataclass(frozen=True, slots=True)
class Score:
    """What a board of scores compares: more points, then fewer placements, then the earlier finish (milliseconds)."""

    score: int
    placements: int
    finished_at: int


@dataclass(frozen=True, slots=True)
class LeaderboardEntry:
    """One line: equal ratings as shown, or equal scores, share the `rank`, and the next leaves a gap (1, 2, 2, 4)."""

    rank: int
    player: PlayerCard
    standing: Rating | Score


@dataclass(frozen=True, slots=True)
class LeaderboardPage:
    """A part of a leaderboard, which lists `total` lines in all; `next` is the cursor of the part after it, or None.

    `frozen_at`, in milliseconds, is there when a board of scores takes no more of them.
    """

    key: str
    entries: list[LeaderboardEntry]
    next: str | None
    total: int
    frozen_at: int | None


@dataclass(frozen=True, slots=True)
class BoardKind:
    """A kind of leaderboard: where its lines are, and how many numbers of a place must be equal to share a rank."""

    table: str
    columns: str
    tied: int
    standing: Callable[..., Rating | Score]


_RATINGS = BoardKind("accounts_ratingrow", "mu, sigma, games", 1, Rating)
_SCORES = BoardKind("accounts_scoreentry", "score, placements, finished_at", 3, Score)

_LINES_AFTER = """
SELECT place, player_id, {columns} FROM {table}
WHERE key = %(key)s AND listed AND place > %(after)s::float8[] ORDER BY place LIMIT %(limit)s + 1
"""

_LINES_AROUND = """
(
    SELECT place, player_id, {columns} FROM {table}
    WHERE key = %(key)s AND listed AND place < (SELECT place FROM mine)
    ORDER BY place DESC LIMIT %(limit)s - 1
) UNION ALL (
    SELECT place, player_id, {columns} FROM {table}
    WHERE key = %(key)s AND listed AND place >= (SELECT place FROM mine)
    ORDER BY place LIMIT %(limit)s + 1
)
"""

# An array is greater than its own beginning, so the numbers that a tie shares (`tie`) come before all lines of the tie.
_BOARD = """
WITH mine AS MATERIALIZED (
    SELECT place FROM {table} WHERE key = %(key)s AND player_id = %(player)s AND listed
), lines AS MATERIALIZED ({lines}), bounds AS MATERIALIZED (
    SELECT place, tie, (
        SELECT max(low) FROM accounts_leaderboardbucket WHERE board = %(key)s AND low <= place
    ) AS low, (
        SELECT max(low) FROM accounts_leaderboardbucket WHERE board = %(key)s AND low <= tie
    ) AS tie_low
    FROM (SELECT min(place) AS place, (min(place))[:{tied}] AS tie FROM lines) AS first
), counts AS MATERIALIZED (
    SELECT (
        SELECT coalesce(sum(entries), 0) FROM accounts_leaderboardbucket
        WHERE board = %(key)s AND low < bounds.low
    ) AS whole, (
        SELECT count(*) FROM {table}
        WHERE key = %(key)s AND listed AND place >= bounds.low AND place < bounds.place
    ) AS part, (
        SELECT coalesce(sum(entries), 0) FROM accounts_leaderboardbucket
        WHERE board = %(key)s AND low >= bounds.tie_low AND low < bounds.low
    ) AS skipped, (
        SELECT count(*) FROM {table}
        WHERE key = %(key)s AND listed AND place >= bounds.tie_low AND place < bounds.tie
    ) AS tie_part
    FROM bounds
), head AS MATERIALIZED (
    SELECT whole + part AS before, whole - skipped + tie_part AS tie_before, (
        SELECT coalesce(sum(entries), 0) FROM accounts_leaderboardbucket WHERE board = %(key)s
    ) AS total, (
        SELECT frozen_at FROM accounts_scoreboard WHERE key = %(key)s
    ) AS frozen_at
    FROM counts
)
SELECT head.*, lines.place, player.id, player.name, player.kind, player.level, {columns}
FROM head LEFT JOIN lines ON true LEFT JOIN accounts_player AS player ON player.id = lines.player_id
ORDER BY lines.place
"""


# Bots are few: their lines are counted one by one.
_BOTS = """
WITH lines AS MATERIALIZED (
    SELECT place, player.id, player.name, player.kind, player.level, mu, sigma, games,
        rank() OVER (ORDER BY place[:1]) AS rank
    FROM accounts_ratingrow AS rating JOIN accounts_player AS player ON player.id = rating.player_id
    WHERE key = %(key)s AND sigma < %(provisional)s AND NOT excluded
        AND player.kind = 'bot' AND player.level = '' AND player.is_active
        AND NOT player.off_boards
), page AS (
    SELECT * FROM lines WHERE place > %(after)s::float8[] ORDER BY place LIMIT %(limit)s + 1
)
SELECT (SELECT count(*) FROM lines), page.* FROM (SELECT) AS always LEFT JOIN page ON true ORDER BY place
"""


@dataclass(frozen=True, slots=True)
class _Line:
    place: list[float]
    entry: LeaderboardEntry


@dataclass(frozen=True, slots=True)
class _Part:
    """Lines that follow one another, and what is known of the whole board."""

    key: str
    lines: list[_Line]
    total: int
    frozen_at: int | None

    def page(self, first: int, limit: int) -> LeaderboardPage:
        """At most `limit` of the lines from number `first` on; the cursor is there if more lines follow."""
        shown = self.lines[first : first + limit]
        more = len(self.lines) > first + limit
        return LeaderboardPage(
            key=self.key,
            entries=[line.entry for line in shown],
            next=cursor_of(self.key, shown[-1].place, shown[-1].entry.player.name)
            if more
            else None,
            total=self.total,
            frozen_at=self.frozen_at,
        )


@replica.may_lag
def leaderboard_page(
    key: str, *, cursor: str | None = None, limit: int = 50, bots: bool = False
) -> LeaderboardPage:
    """A page of a leaderboard: the lines after the one that the cursor names, else the first ones.

    Ratings (`duo:blitz`): mu from high to low, then sigma from low to high (the surer first), then the older account;
    equal ratings as shown share a rank. Provisional ratings are left out, and bots, who have boards of their own
    (`bots`), without the built-in CPU players. Scores
    (`puzzle:…`, `daily:…`): the score from high to low, then fewer placements, then the earlier finish; who is equal
    in all three shares a rank, and the older account comes first. Banned players are on neither, and players whom an
    admin has excluded are not on those of ratings.
    """
    kind, after = kind_of_board(key), place_of(key, cursor) if cursor else []
    if bots and kind is not _RATINGS:
        raise UnknownLeaderboardError("Bots have leaderboards of ratings only.")
    if bots:
        return _bots(key, after, limit).page(0, limit)
    return _part(key, _LINES_AFTER, limit, after=after).page(0, limit)


@replica.may_lag
def leaderboard_around(key: str, player_id: int, *, limit: int) -> LeaderboardPage:
    """`limit` lines with the player's in the middle, or as near to it as the ends of the board allow.

    An even number has one line more above the player than below. Raises `NotOnLeaderboardError`.
    """
    part = _part(key, _LINES_AROUND, limit, player_id=player_id)
    ids = [line.entry.player.id for line in part.lines]
    if player_id not in ids:
        raise NotOnLeaderboardError
    mine = ids.index(player_id)
    first = min(mine - limit // 2, len(ids) - limit)
    return part.page(max(first, 0), limit)


def leaderboard_rank(key: str, player_id: int) -> int | None:
    """The player's rank, or None for a player who is not listed."""
    for line in _part(key, _LINES_AROUND, 1, player_id=player_id).lines:
        if line.entry.player.id == player_id:
            return line.entry.rank
    return None


def kind_of_board(key: str) -> BoardKind:
    """Where the lines of a board are; raises `UnknownLeaderboardError`."""
    if rules.is_rating_key(key):
        return _RATINGS
    if rules.is_score_key(key):
        return _SCORES
    raise UnknownLeaderboardError(f"No leaderboard has a key like {key!r}.")


def _part(
    key: str, lines: str, limit: int, *, after: Sequence[float] = (), player_id: int | None = None
) -> _Part:
    kind = kind_of_board(key)
    names = {"table": kind.table, "columns": kind.columns, "tied": kind.tied}
    statement = _BOARD.format(lines=lines.format(**names), **names)
    values: dict[str, Any] = {"key": key, "limit": limit, "after": list(after), "player": player_id}
    with replica.cursor() as cursor:
        cursor.execute(statement, values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    before, tie_before, total, frozen_at = rows[0][:4]
    found: list[_Line] = []
    for position, (place, *card, first, second, third) in enumerate(
        (row[4:] for row in rows if row[4] is not None), start=1
    ):
        if not found:
            rank = tie_before + 1
        elif place[: kind.tied] != found[-1].place[: kind.tied]:
            rank = before + position
        else:
            rank = found[-1].entry.rank
        standing = kind.standing(first, second, third)
        found.append(_Line(place, LeaderboardEntry(int(rank), PlayerCard(*card), standing)))
    return _Part(key, found, int(total), frozen_at)


def _bots(key: str, after: Sequence[float], limit: int) -> _Part:
    """The lines of bots after a place."""
    values: dict[str, Any] = {"key": key, "limit": limit, "after": list(after)}
    with replica.cursor() as cursor:
        cursor.execute(_BOTS, {**values, "provisional": rules.PROVISIONAL_SIGMA})
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    lines = [
        _Line(place, LeaderboardEntry(int(rank), PlayerCard(*card), Rating(mu, sigma, games)))
        for _, place, *card, mu, sigma, games, rank in rows
        if place is not None
    ]
    return _Part(key, lines, total=int(rows[0][0]), frozen_at=None)


def cursor_of(key: str, place: Sequence[float], name: str) -> str:
    """A line's place, with the player's name where the place has the id, which is nobody's business."""
    fields = [key, *place[:-1], name]
    return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")


def place_of(key: str, cursor: str) -> list[float]:
    """Raises `InvalidCursorError` for what no page of this board gave, or if the player is gone meanwhile."""
    try:
        board, first, second, third, name = json.loads(
            base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        )
        numbers = [float(first), float(second), float(third)]
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidCursorError from error
    if board != key or not all(map(isfinite, numbers)):
        raise InvalidCursorError
    if not (isinstance(name, str) and rules.is_name(name)):
        raise InvalidCursorError
    player_id = Player.objects.filter(name=name).values_list("pk", flat=True).first()
    if player_id is None:
        raise InvalidCursorError("Start again from the first page.")
    return [*numbers, float(player_id)]

"""What leaderboards must show, worked out in the plainest way; and small buckets, so that few lines fill many."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db import connection

from accounts import selectors
from accounts.errors import NotOnLeaderboardError

SMALL = {"500": "2", "1000": "4", "125": "2"}
"""The parts of a split, the most that a bucket holds, and the fewest, for tests."""

Line = tuple[int, int]
"""A rank and a player's id."""


@contextmanager
def small_buckets() -> Iterator[None]:
    """The database's own functions, with other numbers in them."""
    with connection.cursor() as cursor:
        cursor.execute(
            r"SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname ~ '^accounts_.*(bucket|count_)'"
        )
        definitions = [definition for (definition,) in cursor.fetchall()]
        numbers = re.compile(r"\b(500|1000|125)\b")
        assert sum(len(numbers.findall(definition)) for definition in definitions) == 8
        for definition in definitions:
            cursor.execute(numbers.sub(lambda found: SMALL[found[0]], definition))
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            for definition in definitions:
                cursor.execute(definition)


def ranked(places: Sequence[tuple[float, ...]]) -> list[Line]:
    """The board of these places, which end with the player's id; `tied` is what comes before the last number."""
    tied = [place[:-1] for place in sorted(places)]
    return [
        (tied.index(tie) + 1, int(place[-1]))
        for tie, place in zip(tied, sorted(places), strict=True)
    ]


def check_board(key: str, expected: Sequence[Line], strangers: Sequence[int] = ()) -> None:
    """Pages of every size, the lines around everybody at every limit, and all ranks are as expected."""
    size = len(expected)
    for limit in range(1, size + 2):
        assert _walk(key, limit) == list(expected), f"pages of {limit}"
    for mine, (rank, player_id) in enumerate(expected):
        assert selectors.leaderboard_rank(key, player_id) == rank
        for limit in range(1, size + 2):
            first = max(min(mine - limit // 2, size - limit), 0)
            page = selectors.leaderboard_around(key, player_id, limit=limit)
            window = list(expected[first : first + limit])
            assert _lines(page) == window, f"{limit} lines around number {mine}"
            assert page.total == size
            if page.next is None:
                assert first + limit >= size
            elif limit == 2:
                rest = selectors.leaderboard_page(key, cursor=page.next, limit=100)
                assert window + _lines(rest) == list(expected[first:])
    for player_id in strangers:
        assert selectors.leaderboard_rank(key, player_id) is None
        try:
            page = selectors.leaderboard_around(key, player_id, limit=3)
        except NotOnLeaderboardError:
            continue
        raise AssertionError(f"{player_id} is not listed, but around are {page}")


def check_buckets(most: int | None = None) -> None:
    """Each bucket of each board holds as many lines as it says, and every line is in one."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH listed AS (
                SELECT key, place FROM accounts_ratingrow WHERE listed
                UNION ALL SELECT key, place FROM accounts_scoreentry WHERE listed
            ), bounds AS (
                SELECT board, low, entries, lead(low) OVER (PARTITION BY board ORDER BY low) AS high
                FROM accounts_leaderboardbucket
            )
            SELECT board, low, entries, (
                SELECT count(*) FROM listed
                WHERE key = board AND place >= low AND (high IS NULL OR place < high)
            ) FROM bounds
            """
        )
        buckets = cursor.fetchall()
        cursor.execute(
            "SELECT (SELECT count(*) FROM accounts_ratingrow WHERE listed)"
            " + (SELECT count(*) FROM accounts_scoreentry WHERE listed)"
        )
        (lines,) = cursor.fetchone()
    assert [row for row in buckets if row[2] != row[3]] == []
    assert sum(row[2] for row in buckets) == lines
    assert most is None or all(row[2] <= most for row in buckets)


def bucket_count(key: str) -> int:
    """How many buckets a board has."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM accounts_leaderboardbucket WHERE board = %s", [key])
        (count,) = cursor.fetchone()
    return int(count)


def _lines(page: selectors.LeaderboardPage) -> list[Line]:
    return [(entry.rank, entry.player.id) for entry in page.entries]


def _walk(key: str, limit: int) -> list[Line]:
    lines: list[Line] = []
    page = selectors.leaderboard_page(key, limit=limit)
    while True:
        lines += _lines(page)
        if page.next is None:
            return lines
        assert len(page.entries) == limit
        page = selectors.leaderboard_page(key, cursor=page.next, limit=limit)

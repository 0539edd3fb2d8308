"""Leaderboards of any size for the benchmark, made by PostgreSQL itself: players, scores and ratings."""

from django.db import connection

PLAYERS = """
INSERT INTO accounts_player
    (name, kind, level, password, is_staff, is_superuser, is_active, off_boards, requests_from, created_at)
SELECT 'B' || number, 'registered', '', '!', false, false, true, false, 'everybody', now()
FROM generate_series(1, %(lines)s) AS number
"""

# Scores thin out upwards, so that many are equal below and few above.
SCORES = """
INSERT INTO accounts_scoreboard (key) VALUES (%(key)s);
INSERT INTO accounts_scoreentry
    (key, player_id, score, placements, finished_at, source, removed, eligible)
SELECT %(key)s, id, floor(-ln(1 - random()) * 1500), 10 + floor(random() * 300),
    1700000000000 + floor(random() * 1e10), 'bench', false, true
FROM accounts_player ORDER BY id LIMIT %(lines)s
"""

RATINGS = """
INSERT INTO accounts_ratingrow (key, player_id, mu, sigma, games, annulled, eligible, excluded)
SELECT %(key)s, id, random_normal(1500, 300), 80 + random() * 200, 30, 0, true, false
FROM accounts_player ORDER BY id LIMIT %(lines)s
"""

COUNT = "SELECT accounts_split_bucket('{table}', %(key)s, '{{}}')"


def fill(most: int, sizes: dict[int, tuple[str, str]]) -> list[int]:
    """`most` players, and for each size a board of scores and one of ratings, under these keys, with the first of them.

    Returns the players' ids. Triggers and foreign keys do not run meanwhile, which needs a superuser; the lines are
    counted afterwards, at once.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(PLAYERS, {"lines": most})
        for lines, (scores, ratings) in sizes.items():
            cursor.execute(SCORES, {"key": scores, "lines": lines})
            cursor.execute(RATINGS, {"key": ratings, "lines": lines})
            cursor.execute(COUNT.format(table="accounts_scoreentry"), {"key": scores})
            cursor.execute(COUNT.format(table="accounts_ratingrow"), {"key": ratings})
        cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute("VACUUM ANALYZE")
        cursor.execute("SELECT id FROM accounts_player ORDER BY id")
        return [player_id for (player_id,) in cursor.fetchall()]


def shape(key: str) -> tuple[int, int, int]:
    """How many buckets a board has, and how many lines the smallest and the largest of them hold."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), min(entries), max(entries) FROM accounts_leaderboardbucket WHERE board = %s",
            [key],
        )
        buckets, least, most = cursor.fetchone()
    return int(buckets), int(least), int(most)


def counted_rank(key: str, player_id: int) -> int:
    """A rank as one would find it without buckets: by counting all lines before the player's."""
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT count(*) + 1 FROM accounts_scoreentry WHERE key = %(key)s AND listed AND place < (
                SELECT place[:3] FROM accounts_scoreentry WHERE key = %(key)s AND player_id = %(player)s)""",
            {"key": key, "player": player_id},
        )
        (rank,) = cursor.fetchone()
    return int(rank)

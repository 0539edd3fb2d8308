"""Ledgers of any size for the benchmark, made by PostgreSQL itself."""

from django.db import connection

# Two rows a player in the span of a season, with figures that are not provisional.
PLAYED = """
INSERT INTO accounts_ledgerrow (game_id, player_id, key, sequence, rank, mu_before, sigma_before, mu_after, sigma_after,
    at, annulled)
SELECT 's' || turn || '-' || player_id, player_id, key, turn, 1, 1500, 500, mu, sigma, turn, false
FROM accounts_ratingrow, generate_series(1, 2) AS turn WHERE key = %(key)s
"""

# Games of two between players who are drawn by chance. The figures are left to a replay.
GAMES = """
WITH games AS MATERIALIZED (
    SELECT number, 1 + floor(random() * %(players)s)::int AS one, 1 + floor(random() * (%(players)s - 1))::int AS other,
        1 + (random() < 0.4)::int AS rank
    FROM generate_series(1, %(games)s) AS number
), seats AS MATERIALIZED (
    SELECT number, 0 AS seat, one AS player, rank FROM games
    UNION ALL SELECT number, 1, CASE WHEN other < one THEN other ELSE other + 1 END, 3 - rank FROM games
), known AS MATERIALIZED (
    SELECT id, row_number() OVER (ORDER BY id) AS player FROM accounts_player
)
INSERT INTO accounts_ledgerrow (game_id, player_id, key, sequence, rank, mu_before, sigma_before, mu_after, sigma_after,
    at, annulled)
SELECT 'g' || number, id, %(key)s, row_number() OVER (PARTITION BY id ORDER BY number), rank, 0, 1, 0, 1, number, false
FROM seats JOIN known USING (player) ORDER BY number, seat
"""


def fill_season(key: str) -> None:
    """Rows of a season for everybody who has a rating under this key."""
    _fill(PLAYED, {"key": key})


def fill_games(key: str, *, rows: int, players: int) -> None:
    """So many ledger rows, in games of two among so many players, whose figures are all wrong."""
    _fill(GAMES, {"key": key, "games": rows // 2, "players": players})


def _fill(statement: str, values: dict[str, str | int]) -> None:
    """Without triggers and foreign keys, which needs a superuser."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(statement, values)
        cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute("VACUUM ANALYZE accounts_ledgerrow")

"""Figures about games for operators: cheap to ask, whatever the size of the tables."""

from dataclasses import dataclass

from django.db.models import Prefetch

from common import database
from common.clock import to_datetime
from games.territory.models import Game, Seat

MINUTE_MS = 60_000
LOOK_BACK_MS = 3 * 3_600_000
"""Games that end are looked for among those that began so long ago at most: their index is by the beginning."""

# The partial index of live games is small, however many games there were.
_LIVE = """
SELECT variant, rated, count(*) FROM territory_game WHERE status = 'started' GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2
"""
_STARTED = """
SELECT (extract(epoch FROM created_at) * 1000)::bigint / 60000, count(*) FROM territory_game
WHERE created_at > %s AND created_at <= %s GROUP BY 1
"""
_FINISHED = """
SELECT (extract(epoch FROM finished_at) * 1000)::bigint / 60000, count(*) FROM territory_game
WHERE created_at > %s AND finished_at > %s AND finished_at <= %s GROUP BY 1
"""
_POOLS = """
SELECT pool, count(*) FROM territory_game WHERE created_at > %s AND pool <> '' GROUP BY 1 ORDER BY 2 DESC, 1
"""
_WRITTEN = "SELECT n_tup_ins FROM pg_stat_user_tables WHERE relid = 'territory_event'::regclass"


def live_games() -> list[tuple[str, bool, int]]:
    """Variant, whether rated, and how many games of that are played now."""
    return [(variant, rated, count) for variant, rated, count in database.prepared(_LIVE, [])]


@dataclass(frozen=True, slots=True)
class Rates:
    """Games minute by minute, the latest minute last."""

    started: list[int]
    finished: list[int]


def rates(*, now: int, minutes: int) -> Rates:
    """How many games started and finished in the last minutes; the latter of those of `LOOK_BACK_MS`."""
    last = now // MINUTE_MS
    since = to_datetime((last - minutes + 1) * MINUTE_MS - 1)
    until = to_datetime(now)
    oldest = to_datetime(now - LOOK_BACK_MS)
    found = Rates([0] * minutes, [0] * minutes)
    for counts, rows in (
        (found.started, database.prepared(_STARTED, [since, until])),
        (found.finished, database.prepared(_FINISHED, [oldest, since, until])),
    ):
        for minute, count in rows:
            place = minutes - 1 - (last - minute)
            if 0 <= place < minutes:
                counts[place] = count
    return found


def matches_since(since: int) -> dict[str, int]:
    """How many games each pool has made since an instant (milliseconds)."""
    return dict(database.prepared(_POOLS, [to_datetime(since)]))


def events_written() -> int:
    """How many events of games the database has taken since its statistics were reset; two looks make a rate."""
    rows = database.prepared(_WRITTEN, [])
    return int(rows[0][0]) if rows else 0


def games_of(player_id: int, limit: int = 12) -> list[Game]:
    """The player's latest games, with all seats."""
    mine = Seat.objects.filter(player_id=player_id).order_by("-id").values("game_id")
    ids = list(dict.fromkeys(row["game_id"] for row in mine[: 2 * limit]))[:limit]
    seats = Prefetch("seats", Seat.objects.select_related("player").order_by("index"))
    return list(Game.objects.filter(pk__in=ids).order_by("-created_at").prefetch_related(seats))

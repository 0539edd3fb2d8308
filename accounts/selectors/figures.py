"""Figures for operators: cheap to ask, whatever the size of the tables."""

from dataclasses import dataclass

from django.db.models import Max

from accounts.models import JobRun
from common import database
from common.clock import to_datetime

MINUTE_MS = 60_000

_CAME = """
SELECT (extract(epoch FROM created_at) * 1000)::bigint / 60000, kind = 'guest', count(*)
FROM accounts_player WHERE created_at > %s AND created_at <= %s GROUP BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class Came:
    """Players who came to be, minute by minute, the latest last."""

    registered: list[int]
    guests: list[int]


def new_players(*, now: int, minutes: int) -> Came:
    """Who came to be in the last minutes; the table's index on the time is read for these alone."""
    last = now // MINUTE_MS
    came = Came([0] * minutes, [0] * minutes)
    since = to_datetime((last - minutes + 1) * MINUTE_MS - 1)
    for minute, is_guest, count in database.prepared(_CAME, [since, to_datetime(now)]):
        place = minutes - 1 - (last - minute)
        if 0 <= place < minutes:
            (came.guests if is_guest else came.registered)[place] = count
    return came


def latest_jobs() -> list[JobRun]:
    """The latest run of each nightly job."""
    newest = JobRun.objects.values("job").annotate(newest=Max("id")).values("newest")
    return list(JobRun.objects.filter(pk__in=newest).order_by("job"))

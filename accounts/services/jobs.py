"""Work that is due once in a period, whoever comes to do it: two schedulers, a task that is delivered twice, a person.

The unique row (job, period) decides. Short work takes it in its own transaction (`once`), so that a worker that dies
has not done it. Long work, which commits in parts, holds it for a while (`claimed`), and loses it when it dies. Either
way the next tick of the schedule finds what was not done (config/schedule.py).
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connection, transaction
from django.utils import timezone

from accounts.models import JobRun
from common import database
from common.clock import now_ms, to_datetime

_ONCE = """
INSERT INTO accounts_jobrun (job, period, done_at) VALUES (%s, %s, %s)
ON CONFLICT (job, period) DO NOTHING RETURNING id
"""
_CLAIM = """
INSERT INTO accounts_jobrun (job, period, holder, claimed_until) VALUES (%s, %s, %s, %s)
ON CONFLICT (job, period) DO UPDATE SET holder = EXCLUDED.holder, claimed_until = EXCLUDED.claimed_until
WHERE accounts_jobrun.done_at IS NULL AND accounts_jobrun.claimed_until <= %s
RETURNING id
"""

LEASE_MS = 600_000


def day_of(now: int) -> str:
    """The period of what is due once a day: the UTC date of an instant in milliseconds, such as `2026-11-30`."""
    return f"{to_datetime(now):%Y-%m-%d}"


def once(job: str, period: str) -> bool:
    """Whether the caller is to do the job of this period; nobody else is, if the caller's transaction commits.

    Who asks meanwhile waits for that commit, and is told to do it if the transaction fails.
    """
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("once() runs in the transaction of the work")
    return bool(database.prepared(_ONCE, [job, period, timezone.now()]))


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to do a long job. It is over after `lease_ms`, unless `renew` is called in time."""

    job: str
    period: str
    holder: uuid.UUID
    lease_ms: int

    def renew(self) -> bool:
        """Hold it for another lease; False if somebody else has it by now, and the work should be left to them."""
        own = JobRun.objects.filter(job=self.job, period=self.period, holder=self.holder)
        return bool(own.update(claimed_until=now_ms() + self.lease_ms))


@contextmanager
def claimed(job: str, period: str, *, lease_ms: int = LEASE_MS) -> Iterator[Claim | None]:
    """Do a long job of this period if the block is given a claim; None: somebody has done it, or is at it.

    The job is done when the block ends well. When it raises, the next one who asks may do it at once.
    """
    claim = Claim(job, period, uuid.uuid4(), lease_ms)
    now = now_ms()
    if not database.prepared(_CLAIM, [job, period, claim.holder, now + lease_ms, now]):
        yield None
        return
    own = JobRun.objects.filter(job=job, period=period, holder=claim.holder)
    try:
        yield claim
    except BaseException:
        own.update(claimed_until=0)
        raise
    own.update(done_at=timezone.now(), holder=None, claimed_until=None)

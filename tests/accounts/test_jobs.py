"""Once a period: whoever asks, at whatever moment, and whoever dies over it."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from django.db import connections, transaction

from accounts.models import JobRun
from accounts.services.jobs import claimed, day_of, once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def at_once() -> Iterator[Callable[[Callable[[], bool]], list[bool]]]:
    """Call something in eight threads at the same moment."""
    barrier = threading.Barrier(8)

    def call(what: Callable[[], bool]) -> bool:
        barrier.wait()
        with closing(connections["default"]):
            return what()

    with ThreadPoolExecutor(8) as pool:
        yield lambda what: list(pool.map(call, [what] * 8))


def _take() -> bool:
    with transaction.atomic():
        return once("count", "2026-11-30")


def test_one_of_many_does_it(at_once: Callable[[Callable[[], bool]], list[bool]]) -> None:
    assert sorted(at_once(_take)) == [False] * 7 + [True]
    assert not _take()
    with transaction.atomic():
        assert once("count", "2026-12-01")
        assert once("other", "2026-11-30")


def test_who_waits_for_one_that_fails_does_it_instead() -> None:
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.append(_in_thread(_take)))
    with transaction.atomic():
        assert once("count", "2026-11-30")
        thread.start()
        transaction.set_rollback(True)
    thread.join()

    assert answers == [True]


def _in_thread(what: Callable[[], bool]) -> bool:
    with closing(connections["default"]):
        return what()


def test_it_is_asked_in_the_transaction_of_the_work() -> None:
    with pytest.raises(transaction.TransactionManagementError):
        once("count", "2026-11-30")


def test_a_claim_is_one_persons_until_its_lease_ends(
    at_once: Callable[[Callable[[], bool]], list[bool]],
) -> None:
    barrier = threading.Barrier(8)

    def work() -> bool:
        with claimed("long", "2026-11-30") as claim:
            barrier.wait()
            return claim is not None

    assert sorted(at_once(work)) == [False] * 7 + [True]
    with claimed("long", "2026-11-30") as claim:
        assert claim is None


def test_a_job_whose_worker_died_is_done_by_the_next_and_the_late_one_notices() -> None:
    with claimed("long", "2026-11-30", lease_ms=0) as dead:  # its time is up at once
        assert dead is not None
        with claimed("long", "2026-11-30") as alive:
            assert alive is not None
            assert not dead.renew()
            assert alive.renew()
        assert JobRun.objects.get().done_at is not None

    with claimed("long", "2026-11-30") as claim:
        assert claim is None


def test_a_job_that_failed_may_be_done_at_once() -> None:
    def fail() -> None:
        with claimed("long", "2026-11-30") as claim:
            raise ValueError(claim)

    with pytest.raises(ValueError, match="long"):
        fail()

    with claimed("long", "2026-11-30") as claim:
        assert claim is not None


def test_days_are_those_of_utc() -> None:
    assert day_of(1_795_996_799_999) == "2026-11-29"
    assert day_of(1_795_996_800_000) == "2026-11-30"

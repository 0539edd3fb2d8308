"""Jobs about standing: done once, by whoever comes, and taken up again when a worker died."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import OperationalError, connections, transaction

from accounts.errors import UnknownLeaderboardError
from accounts.models import LedgerRow, RatingRow, SeasonTable, StandingDecision, StandingJob
from accounts.services import standing_jobs
from accounts.services.people import create_player
from accounts.services.standing_jobs import ask_job, do_jobs
from accounts.tasks import turn_seasons
from common.clock import now_ms
from common.ids import new_id
from tests.accounts.ledgers import KEY, players, rate, ratings
from tests.accounts.test_seasons import season


def _states() -> list[str]:
    return list(StandingJob.objects.order_by("id").values_list("state", flat=True))


@pytest.mark.django_db
def test_each_kind_of_job_does_its_work_and_says_what_came_of_it() -> None:
    ada, bob = players(2)
    boss, game = create_player(name="Boss").pk, new_id()
    rate((ada, 1), (bob, 2), game_id=game)
    before = ratings()
    held = season(starts_at=1, ends_at=2, min_games=1)
    open_ = season(name="Open", starts_at=1, ends_at=now_ms() + 60_000)
    ask_job(kind="check", subject=KEY, by=boss, reason="why")
    ask_job(kind="annul", subject=game, by=boss, reason="fraud")
    ask_job(kind="annul", subject=game, by=boss, reason="again")
    assert do_jobs() == 3
    assert not ratings()
    RatingRow.objects.update(mu=0)
    for kind, subject in [
        ("check", KEY),
        ("recompute", KEY),
        ("restore", game),
        ("close", held.pk),
        ("close", open_.pk),
        ("refreeze", held.pk),
        ("annul", "never4rated1"),
    ]:
        ask_job(kind=kind, subject=subject, by=boss, reason="why")
    assert do_jobs() == 7
    assert do_jobs() == 0
    assert ratings() == before
    assert SeasonTable.objects.get().season_id == held.pk
    assert _states() == ["done"] * 7 + ["failed", "done", "failed"]
    said = [job.outcome for job in StandingJob.objects.order_by("id")]
    for text, words in zip(
        said,
        [
            "0 differences",
            "1 games in 2 rows",
            "did not count already",
            "2 differences",
            "2 differences",
            "1 games",
            "Closed",
            "a minute after its end",
            "duo:blitz: 0 lines",
            "never rated",
        ],
        strict=True,
    ):
        assert words in text
    decisions = StandingDecision.objects.filter(action="ratings-recomputed")
    assert decisions.get().by_name == "Boss"


@pytest.mark.django_db
def test_a_job_needs_a_reason_and_a_key_that_can_be() -> None:
    boss = create_player(name="Boss").pk
    with pytest.raises(ValueError, match="reason"):
        ask_job(kind="check", subject=KEY, by=boss, reason=" ")
    with pytest.raises(UnknownLeaderboardError):
        ask_job(kind="check", subject="daily:2026-11-30", by=boss, reason="why")
    assert not StandingJob.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_several_workers_one_does_a_job() -> None:
    ada, bob = players(2)
    boss, together = create_player(name="Boss").pk, Barrier(4)
    games = [new_id() for _ in range(6)]
    for game in games:
        rate((ada, 1), (bob, 2), game_id=game)
        ask_job(kind="annul", subject=game, by=boss, reason="why")

    def work(_: int) -> int:
        try:
            together.wait(20)
            return do_jobs()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(work, range(4))) == 6
    assert _states() == ["done"] * 6
    assert StandingDecision.objects.count() == 6
    assert LedgerRow.objects.filter(annulled=True).count() == 12


@pytest.mark.django_db(transaction=True)
def test_what_a_dead_worker_left_is_done_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    boss = create_player(name="Boss").pk
    rate(*zip(players(2), (1, 2), strict=True))
    ask_job(kind="check", subject=KEY, by=boss, reason="why")

    def die(job: StandingJob) -> str:
        raise OperationalError("the connection is lost")

    with monkeypatch.context() as patched:
        patched.setattr(standing_jobs, "WORK", {StandingJob.Kind.CHECK: die})
        with pytest.raises(OperationalError):
            do_jobs()
    assert _states() == ["running"]
    assert do_jobs() == 1
    assert _states() == ["done"]


@pytest.mark.django_db(transaction=True)
def test_a_job_that_is_held_is_left_alone() -> None:
    boss = create_player(name="Boss").pk
    job = ask_job(kind="check", subject=KEY, by=boss, reason="why")
    StandingJob.objects.update(state="running")

    def work() -> int:
        try:
            return do_jobs()
        finally:
            connections.close_all()

    with transaction.atomic(), ThreadPoolExecutor(1) as pool:
        StandingJob.objects.select_for_update().get(pk=job.pk)
        assert pool.submit(work).result() == 0
    assert do_jobs() == 1


@pytest.mark.django_db
def test_the_calendar_makes_and_closes_seasons() -> None:
    held = season(starts_at=1, ends_at=2)
    turn_seasons()
    turn_seasons()
    held.refresh_from_db()
    assert held.closed_at is not None
    assert StandingDecision.objects.get().by_name == ""

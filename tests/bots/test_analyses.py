"""Analyses of games: asked for by many, made once, ply by ply, by workers that may die; and gone with an undone end."""

import base64
import json
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest
from celery import current_app
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from accounts.services.people import create_player
from bots import analyst, tasks
from bots.analysis import Step, annotated, steps
from bots.api import AnalysisSerializer
from bots.errors import (
    AnalysisNotReadyError,
    NoAnalysisError,
    NothingToAnalyseError,
    TooManyAnalysesError,
)
from bots.models import AnalysedPly, Analysis, AnalysisWish
from bots.queue import LAST, list_of
from bots.selectors import AnalysisView, analysis_of, reviewed
from bots.services import analyses
from bots.services.analyses import (
    LEASE_MS,
    MOST,
    PATIENCE_MS,
    TASKS,
    TRIES,
    ask_analysis,
    claim_ply,
    keep_finding,
    resume_analyses,
)
from common import streams
from common.clock import now_ms
from games.territory import decide as de
from games.territory import selectors as games
from games.territory.errors import NotFinishedError, NotSeatedError, UnknownGameError
from games.territory.rules import read_sgf, write_sgf
from games.territory.services.settle import settle
from games.territory.services.sweep import sweep
from tests.games.territory.support import NO_CLOCK
from tests.games.territory.tables import at_once, commit, commit_moves, registered, started

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _few_simulations(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ply takes some milliseconds."""
    monkeypatch.setattr(analyses, "SIMULATIONS", 20)


@pytest.fixture
def player() -> int:
    return registered(1)[0]


def resigned(*players: int, plies: int = 3) -> str:
    """A game between two that ends after so many plies because the first one resigns."""
    game = started(players, rated=False, matched=False)
    commit_moves(game, plies, now=now_ms())
    commit(game, de.Resign(0), now_ms())
    return game


def alone(player: int) -> str:
    """A game of one person on one device that moves have ended, so that they may be taken back."""
    game = started([player, player], variant="duo", control=NO_CLOCK, rated=False, matched=False)
    while not games.load_state(game).is_over:
        commit_moves(game, 1, now=now_ms())
    return game


def ask(game: str, player: int, *, at: int | None = None) -> AnalysisView:
    return ask_analysis(game_id=game, player_id=player, now=at or now_ms())


def waiting(redis: Redis) -> int:
    raw: Any = redis
    return int(raw.llen(list_of(LAST)))


def work(redis: Redis, most: int = 1_000) -> int:
    """What a worker does: take the tasks that wait, one after another, and so many at most; gives how many."""
    raw: Any = redis
    for number in range(most):
        if raw.rpop(list_of(LAST)) is None:
            return number
        tasks.analyse_ply()
    return most


def inbox_of(player: int) -> list[dict[str, Any]]:
    return [json.loads(note.payload) for note in streams.events_after(f"inbox:{player}", 0)]


# Asked and made


def test_a_game_is_analysed_ply_by_ply_and_who_asked_is_told(player: int, redis: Redis) -> None:
    (other,) = registered(1, "Other")
    game = resigned(player, other)
    asked = ask(game, player)
    assert (asked.status, asked.done, asked.plies, asked.simulations) == ("running", 0, 3, 20)
    assert (asked.moves, asked.end, asked.engine) == (None, None, None)
    assert (waiting(redis), work(redis, 1)) == (1, 1)
    assert analysis_of(game)[0].done == 1
    with pytest.raises(AnalysisNotReadyError) as refused:
        reviewed(game)
    assert refused.value.data == {"status": "running", "done": 1, "plies": 3}
    assert inbox_of(player) == []
    assert work(redis) == 2, "each task asks for the next, and the last one for none"
    whole, _ = analysis_of(game)
    assert (whole.status, whole.done, whole.engine) == ("done", 3, analyst.ENGINE)
    assert inbox_of(player) == [{"type": "analysis_ready", "game": game, "plies": 3}]
    assert inbox_of(other) == []
    assert ask(game, player) == ask(game, other) == whole
    assert waiting(redis) == 0


def test_it_is_what_the_command_finds(player: int, redis: Redis) -> None:
    game = alone(player)
    ask(game, player)
    work(redis)
    ended = games.load_ended(game)
    about = analyst.analyse(ended.record, 20)
    found = reviewed(game)
    assert found.review == about
    view, _ = analysis_of(game)
    assert view.moves is not None
    assert [move.move for move in view.moves] == [ply.step.move.text for ply in about.plies]
    assert [move.before for move in view.moves] == [list(ply.before) for ply in about.plies]
    assert [move.loss for move in view.moves] == [ply.loss for ply in about.plies]
    assert {move.mark for move in view.moves} > {"good"}, "first moves of a list are no best ones"
    assert view.end == list(about.end or ())
    answer = msgspec.to_builtins(view)
    promised = AnalysisSerializer(data=answer)
    assert promised.is_valid(), promised.errors
    assert promised.validated_data == answer, "the schema names every member"
    record = annotated(found.review, found.engine, found.simulations)
    assert [n.comment for n in read_sgf(write_sgf(record)).nodes] == [
        n.comment for n in record.nodes
    ]


def test_many_at_once_are_one_analysis_and_each_is_told_once(redis: Redis) -> None:
    players = registered(4)
    game = started(players, variant="classic", rated=False, matched=False)
    commit_moves(game, 2, now=now_ms())
    for seat in range(3):
        commit(game, de.Resign(seat), now_ms())
    answers = at_once(20, lambda number: ask(game, players[number % 4]))
    assert all(isinstance(answer, AnalysisView) for answer in answers), answers
    assert (Analysis.objects.count(), AnalysisWish.objects.count(), waiting(redis)) == (1, 4, 1)
    work(redis)
    assert [len(inbox_of(player)) for player in players] == [1] * 4


def test_several_share_the_worker(player: int, redis: Redis) -> None:
    """Three analyses, two plies in turn of each: whoever has waited longest is next."""
    (other,) = registered(1, "Other")
    all_games = [resigned(player, other, plies=4) for _ in range(3)]
    for number, game in enumerate(all_games):
        ask(game, player, at=now_ms() - 1000 + number)
    for number in range(1, 7):
        work(redis, 1)
        done = sorted(Analysis.objects.values_list("done", flat=True))
        assert done == sorted((number + late) // 3 for late in range(3))
    work(redis)
    assert Analysis.objects.filter(status="done").count() == 3


def test_a_rated_game_that_is_settled_meanwhile(redis: Redis) -> None:
    """`game_rated` comes after the end and changes nothing of it."""
    one, two = registered(2)
    game = started([one, two])
    commit_moves(game, 2, now=now_ms())
    commit(game, de.Resign(1), now_ms())
    before = ask(game, two)
    work(redis, 1)
    settle(game_id=game, now=now_ms())
    assert ask(game, one).version == before.version == games.version_of(game) - 1
    work(redis)
    assert analysis_of(game)[0].status == "done"
    assert analysis_of(game)[1] is True
    kinds = [item["type"] for item in inbox_of(one)]
    assert kinds == ["game_ended", "analysis_ready"]


# Workers that die


def test_a_ply_comes_twice_and_is_kept_once(player: int, redis: Redis) -> None:
    game = resigned(player, *registered(1, "Other"))
    ask(game, player)
    claim = claim_ply(now=now_ms())
    assert claim is not None
    assert claim_ply(now=now_ms()) is None, "it is in somebody's hand"
    late = now_ms() + LEASE_MS + 1
    again = claim_ply(now=late)
    assert again == claim, "whoever had it is taken to be dead"
    replay = games.load_ended(game).record.replay()
    finding = analyst.look(steps(replay)[0], 20)
    kept = at_once(
        8,
        lambda _: keep_finding(claim=claim, finding=finding, end=None, engine="e", now=late),
    )
    assert sorted(map(bool, kept)) == [False] * 7 + [True]
    assert AnalysedPly.objects.count() == Analysis.objects.get().done == 1


def test_tasks_that_come_too_often_do_no_harm(player: int, redis: Redis) -> None:
    game = resigned(player, *registered(1, "Other"), plies=6)
    ask(game, player)
    assert at_once(8, lambda _: tasks.analyse_ply()) == [None] * 8
    work(redis)
    tasks.analyse_ply()
    assert [row.ply for row in AnalysedPly.objects.all()] == list(range(6))
    assert len(inbox_of(player)) == 1


def test_lost_tasks_are_asked_for_again_by_the_sweepers_once(player: int, redis: Redis) -> None:
    game = resigned(player, *registered(1, "Other"))
    now = now_ms()
    ask(game, player, at=now)
    redis.delete(list_of(LAST))
    sweep(now=now + PATIENCE_MS - 1)
    assert waiting(redis) == 0, "it may still be on its way"
    swept = at_once(8, lambda _: sweep(now=now + PATIENCE_MS))
    assert not any(isinstance(each, BaseException) for each in swept), swept
    assert waiting(redis) == 1
    redis.delete(list_of(LAST))
    assert resume_analyses(now=now + 2 * PATIENCE_MS) == 1
    work(redis)
    assert inbox_of(player)[-1]["type"] == "analysis_ready"
    assert resume_analyses(now=now + 9 * PATIENCE_MS) == 0


def test_while_tasks_wait_nothing_is_lost(redis: Redis) -> None:
    """Workers that are busy with moves for long: the sweeper adds no tasks to those that wait."""
    players = registered(6)
    now = now_ms()
    for player in players:
        ask(resigned(player, *registered(1, f"Rival{player}x")), player, at=now)
    assert waiting(redis) == 6
    assert resume_analyses(now=now + 60 * PATIENCE_MS) == 0
    assert waiting(redis) == 6
    redis.delete(list_of(LAST))
    assert resume_analyses(now=now + 61 * PATIENCE_MS) == TASKS, "each of them goes on by itself"
    work(redis)
    assert Analysis.objects.filter(status="done").count() == 6


def test_a_queue_that_takes_nothing_is_no_hindrance(
    player: int, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = resigned(player, *registered(1, "Other"))
    now = now_ms()

    def fail(*_: Any, **__: Any) -> None:
        raise ConnectionError("no Redis")

    with monkeypatch.context() as broken:
        broken.setattr(current_app, "send_task", fail)
        assert ask(game, player, at=now).status == "running"
        nowhere = Redis(port=1, retry=Retry(NoBackoff(), 0))
        broken.setattr(analyses, "tasks_client", lambda: nowhere)
        assert resume_analyses(now=now + PATIENCE_MS) == 0
    assert resume_analyses(now=now + 2 * PATIENCE_MS) == 1
    work(redis)
    assert len(inbox_of(player)) == 1


def test_a_ply_that_ends_its_worker_each_time_ends_the_analysis(
    player: int, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others go on beside it; who asks again gets a new one."""
    (other,) = registered(1, "Other")
    bad, good = resigned(player, other, plies=2), resigned(player, other, plies=5)
    now = now_ms()
    ask(bad, player, at=now - 10)
    ask(good, player, at=now)
    real = analyst.look

    def fail(step: Step, simulations: int) -> Any:
        if step.ply == 1 and not step.goes_on:  # the last of the two plies of `bad`
            raise MemoryError
        return real(step, simulations)

    clock = iter(range(now, now + 10**9, LEASE_MS))
    with monkeypatch.context() as patched:
        patched.setattr(analyst, "look", fail)
        patched.setattr(tasks, "now_ms", lambda: next(clock))
        failures = 0
        while Analysis.objects.filter(status="running").exists():
            try:
                tasks.analyse_ply()
            except MemoryError:
                failures += 1
    assert failures == TRIES
    assert (analysis_of(bad)[0].status, analysis_of(good)[0].status) == ("failed", "done")
    with pytest.raises(AnalysisNotReadyError):
        reviewed(bad)
    redis.delete(list_of(LAST))
    assert ask(bad, player).status == "running"
    work(redis)
    assert analysis_of(bad)[0].status == "done"


def test_two_engines_make_no_analysis_together(
    player: int, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new version is installed half way: it begins anew."""
    game = resigned(player, *registered(1, "Other"))
    ask(game, player)
    work(redis, 2)
    monkeypatch.setattr(analyst, "ENGINE", "Another 1.0")
    work(redis, 1)
    view, _ = analysis_of(game)
    assert (view.done, view.engine) == (0, "Another 1.0")
    assert not AnalysedPly.objects.exists()
    work(redis)
    assert analysis_of(game)[0].status == "done"
    assert reviewed(game).engine == "Another 1.0"


# Taken back after the end


def test_an_undo_after_the_end_drops_the_analysis(player: int, redis: Redis) -> None:
    """Half way, and when it was there: the next end has one of its own."""
    game = alone(player)
    first = ask(game, player)
    work(redis, 3)
    commit(game, de.Undo(games.load_state(game).ply), now_ms())
    for read in (analysis_of, reviewed):
        with pytest.raises(NotFinishedError):
            read(game)
    with pytest.raises(NotFinishedError):
        ask(game, player)
    work(redis)
    assert not Analysis.objects.exists()
    assert inbox_of(player) == []
    commit_moves(game, 1, now=now_ms())
    assert games.load_state(game).is_over
    with pytest.raises(NoAnalysisError):
        analysis_of(game)
    second = ask(game, player)
    assert second.version > first.version
    work(redis)
    assert analysis_of(game)[0].status == "done"
    commit(game, de.Undo(games.load_state(game).ply), now_ms())
    commit_moves(game, 1, now=now_ms())
    with pytest.raises(NoAnalysisError):
        analysis_of(game)
    assert ask(game, player).done == 0
    assert Analysis.objects.count() == 1


def test_an_undo_while_a_ply_is_searched(
    player: int, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = alone(player)
    ask(game, player)
    real = analyst.look

    def slowly(step: Step, simulations: int) -> Any:
        commit(game, de.Undo(games.load_state(game).ply), now_ms())
        return real(step, simulations)

    monkeypatch.setattr(analyst, "look", slowly)
    assert work(redis) == 1
    assert not Analysis.objects.exists()


def test_a_request_that_is_behind_does_not_replace_a_later_end(
    player: int, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = alone(player)
    earlier = games.load_ended(game)
    commit(game, de.Undo(games.load_state(game).ply), now_ms())
    commit_moves(game, 1, now=now_ms())
    later = ask(game, player)
    with monkeypatch.context() as behind:
        behind.setattr("games.territory.selectors.load_ended", lambda _: earlier)
        assert ask(game, player).version == later.version
    assert Analysis.objects.get().version == later.version


# Refusals


def test_refusals_change_nothing(player: int, redis: Redis) -> None:
    other, stranger = registered(2, "Other")
    running = started([player, other], rated=False, matched=False)
    empty = resigned(player, other, plies=0)
    over = resigned(player, other)
    aborted = started([player, other], now=now_ms() - 600_000)
    sweep(now=now_ms())
    assert games.load_state(aborted).outcome is not None
    for error, game, who in [
        (UnknownGameError, "NoSuchGame00", player),
        (UnknownGameError, "", player),
        (UnknownGameError, "a\x00b", player),
        (NotFinishedError, running, player),
        (NotSeatedError, over, stranger),
        (NothingToAnalyseError, empty, player),
        (NothingToAnalyseError, aborted, player),
    ]:
        with pytest.raises(error):
            ask(game, who)
    for error, game in [
        (UnknownGameError, "NoSuchGame00"),
        (NotFinishedError, running),
        (NoAnalysisError, over),
    ]:
        for read in (analysis_of, reviewed):
            with pytest.raises(error):
                read(game)
    assert not Analysis.objects.exists()
    assert waiting(redis) == 0


def test_nobody_waits_for_more_than_a_few(
    player: int, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    (other,) = registered(1, "Other")
    all_games = [resigned(player, other, plies=1) for _ in range(MOST + 3)]
    answers = at_once(MOST + 2, lambda number: ask(all_games[number], player))
    assert sum(isinstance(answer, TooManyAnalysesError) for answer in answers) == 2
    assert Analysis.objects.count() == MOST
    (mine,) = Analysis.objects.all()[:1]
    assert ask(mine.game_id, player).status == "running", "one that is there costs nothing"
    ask(all_games[-1], other)
    with pytest.raises(TooManyAnalysesError) as refused:
        ask(resigned(player, other, plies=1), player)
    assert refused.value.data == {"limit": MOST}
    monkeypatch.setattr(analyses, "MOST_OF_ALL", MOST + 1)
    with pytest.raises(TooManyAnalysesError) as refused:
        ask(resigned(other, player, plies=1), other)
    assert refused.value.data == {"limit": MOST + 1}
    work(redis)
    assert ask(resigned(player, other, plies=1), player).status == "running"


def test_the_database_itself_forbids_what_cannot_be(player: int) -> None:
    game = resigned(player, *registered(1, "Other"))
    ask(game, player)
    analysis = Analysis.objects.get()
    for change in (
        {"done": -1},
        {"done": 4},
        {"status": "done"},
        {"done": 3},
        {"plies": 0},
        {"finished_at": analysis.asked_at},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            Analysis.objects.filter(pk=analysis.pk).update(**change)
    AnalysedPly.objects.create(analysis=analysis, ply=0, values=[], best="a1")
    with pytest.raises(IntegrityError), transaction.atomic():
        AnalysedPly.objects.create(analysis=analysis, ply=0, values=[], best="a1")
    with pytest.raises(IntegrityError), transaction.atomic():
        Analysis.objects.create(
            game_id=game, version=9, plies=1, simulations=1, free_at=0, asked_at=analysis.asked_at
        )


# Operators


def test_operators_see_the_curve_and_change_nothing(player: int, redis: Redis) -> None:
    game = alone(player)
    ask(game, player)
    site = Client()
    site.force_login(create_player(name="Boss", staff=True))
    analysis = Analysis.objects.get()
    address = reverse("admin:bots_analysis_change", args=[analysis.pk])
    begins = '<svg xmlns="http://www.w3.org/2000/svg" role="img"'
    assert begins not in site.get(address).content.decode()
    work(redis, 2)
    listed = site.get(reverse("admin:bots_analysis_changelist"), {"q": game}).content.decode()
    assert f"2 of {analysis.plies}" in listed
    work(redis)
    page = site.get(address).content.decode()
    assert ET.fromstring(begins + page.partition(begins)[2].partition("</svg>")[0] + "</svg>")
    assert "Best:" in page
    assert site.post(address, {"plies": 1}).status_code == 403
    commit(game, de.Undo(games.load_state(game).ply), now_ms())
    assert site.get(address).status_code == 200


def test_the_task_has_the_lowest_priority(player: int, redis: Redis) -> None:
    ask(resigned(player, *registered(1, "Other")), player)
    raw: Any = redis
    (message,) = raw.lrange(list_of(LAST), 0, -1)
    task = json.loads(message)
    assert task["properties"]["priority"] == 9
    assert json.loads(base64.b64decode(task["body"]))[0] == [], "it names no analysis"

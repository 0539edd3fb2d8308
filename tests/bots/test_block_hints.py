"""Hints in runs of the block puzzle: one at a time, the same at the same turn, and none for what has passed."""

import base64
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from celery import current_app
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from redis import Redis

from accounts.services.people import create_player
from bots import tasks
from bots.errors import HintNotAllowedError
from bots.models import RunHint
from bots.queue import HINT_LINE, list_of
from bots.services.hints import PATIENCE_MS
from bots.services.run_hints import AskedRunHint, ask_run_hint, give_run_hint
from common import streams
from common.clock import now_ms
from common.errors import UnavailableError
from games.puzzle import rules
from games.puzzle.errors import RunOverError, StaleTurnError, UnknownRunError
from games.puzzle.services import begin, play
from tests.games.puzzle.tables import (
    STRICT,
    at_once,
    choices,
    place,
    placed,
    play_out,
    registered,
    started,
    state,
    take_back,
)

pytestmark = pytest.mark.django_db(transaction=True)
QUEUE = list_of(HINT_LINE.first)
NOTHING = {"slot": None, "rotation": None, "at": None, "cells": None, "lines": None}


@pytest.fixture
def player() -> int:
    return registered(1)[0]


@pytest.fixture
def run(player: int) -> str:
    return started(player)


def ask(run: str, player: int, turn: int | None = None, *, at: int | None = None) -> AskedRunHint:
    return ask_run_hint(run_id=run, player_id=player, turn=turn, now=at or now_ms())


def queued(redis: Redis) -> list[list[Any]]:
    """The arguments of the hint tasks that wait, the oldest first."""
    raw: Any = redis
    waiting = [json.loads(text) for text in raw.lrange(QUEUE, 0, -1)]
    return [json.loads(base64.b64decode(task["body"]))[0] for task in reversed(waiting)]


def work(redis: Redis) -> None:
    """What a worker does: every hint task that waits, in order."""
    waiting = queued(redis)
    redis.delete(QUEUE)
    for run_id, turn in waiting:
        tasks.find_run_hint(run_id, turn)


def inbox_of(player: int) -> list[dict[str, Any]]:
    return [json.loads(note.payload) for note in streams.events_after(f"inbox:{player}", 0)]


# Asked and given


def test_a_hint_is_the_best_players_placement_and_comes_in_the_inbox(
    run: str, player: int, redis: Redis
) -> None:
    placed(run, 4)
    assert ask(run, player).wire() == {"turn": 4, **NOTHING}
    assert inbox_of(player) == []
    work(redis)
    slot, rotation, at = tasks.choose_placement(state(run))
    plan = rules.preview(state(run), slot, rotation, at)
    found = {
        "slot": slot,
        "rotation": rotation,
        "at": at,
        "cells": list(state(run).rules.board.split(plan.mask)),
        "lines": [line.text for line in plan.lines],
    }
    assert inbox_of(player) == [{"type": "run_hint_given", "run": run, "turn": 4, **found}]
    assert ask(run, player).wire() == ask(run, player, 4).wire() == {"turn": 4, **found}
    assert queued(redis) == []
    assert len(inbox_of(player)) == 1


def test_every_turn_may_have_one_and_hints_alone_play_a_run(player: int, redis: Redis) -> None:
    """There is no limit. The answer is a placement that the run takes."""
    run = started(player, STRICT)
    for turn in range(12):
        ask(run, player)
        work(redis)
        hint = inbox_of(player)[-1]
        assert hint["turn"] == turn
        wish = {name: hint[name] for name in ("turn", "slot", "rotation", "at")}
        event = json.loads(place(run, wish).payload)
        assert (event["cells"], event["lines"]) == (hint["cells"], hint["lines"])
    assert len(inbox_of(player)) == 12
    assert RunHint.objects.count() == 1


def test_practice_of_a_past_daily_puzzle_may_have_hints(player: int, redis: Redis) -> None:
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    run = begin.practise_daily(player_id=player, day=yesterday)
    ask(run, player)
    work(redis)
    assert len(inbox_of(player)) == 1


def test_a_hint_does_not_know_what_will_be_dealt(player: int) -> None:
    """At the same position later in a run, when other blocks follow, it is the same."""
    now = state(started(player))
    later = replace(now, draws=now.draws + 30, turn=now.turn + 30, score=9)
    assert tasks.choose_placement(later) == tasks.choose_placement(now)


# At once


def test_twenty_at_once_are_one_hint(run: str, player: int, redis: Redis) -> None:
    answers = at_once(20, lambda _: ask(run, player))
    assert all(isinstance(answer, AskedRunHint) for answer in answers), answers
    assert len(queued(redis)) == RunHint.objects.count() == 1
    work(redis)
    assert len(inbox_of(player)) == 1
    again = at_once(20, lambda _: ask(run, player).wire())
    assert again == [ask(run, player).wire()] * 20
    assert ask(run, player).given is not None


def test_the_same_task_at_once_gives_one_hint(run: str, player: int, redis: Redis) -> None:
    ask(run, player)
    ((run_id, turn),) = queued(redis)
    assert at_once(8, lambda _: tasks.find_run_hint(run_id, turn)) == [None] * 8
    assert len(inbox_of(player)) == 1


def test_asking_while_placing_leaves_one_row_and_no_hint_for_the_past(
    player: int, redis: Redis
) -> None:
    run = started(player)

    def ask_or_place(number: int) -> object:
        if number % 2:
            return ask(run, player)
        wish = choices(run)[number]
        return play.place(run_id=run, player_id=player, **wish)

    for _ in range(4):
        answers = at_once(6, ask_or_place)
        expected = (AskedRunHint, streams.Note, StaleTurnError)
        assert all(isinstance(answer, expected) for answer in answers), answers
        assert RunHint.objects.count() <= 1
    work(redis)
    now = state(run).turn
    assert all(item["turn"] == now for item in inbox_of(player))
    ask(run, player)
    work(redis)
    assert [item["turn"] for item in inbox_of(player)] == [now]


def test_the_database_itself_forbids_half_a_hint_and_a_second_one(run: str, player: int) -> None:
    whole = {
        "run_id": run,
        "player_id": player,
        "turn": 0,
        "slot": 1,
        "rotation": 0,
        "at": "a1",
        "asked_at": 0,
        "given_at": datetime.now(UTC),
    }
    for wrong in (
        {"turn": -1},
        {"slot": None},
        {"slot": 3},
        {"rotation": 4},
        {"at": ""},
        {"given_at": None},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            RunHint.objects.create(**whole | wrong)
    RunHint.objects.create(**whole)
    with pytest.raises(IntegrityError), transaction.atomic():
        RunHint.objects.create(**whole)


# What has passed


def answer_late(redis: Redis, monkeypatch: pytest.MonkeyPatch, meanwhile: Any) -> None:
    """A worker finds the hints that wait; while it thinks, something happens."""
    choose = tasks.choose_placement

    def slowly(run: rules.Run) -> tuple[int, int, str]:
        meanwhile()
        return choose(run)

    with monkeypatch.context() as patched:
        patched.setattr(tasks, "choose_placement", slowly)
        work(redis)


@pytest.mark.parametrize("thinking", [False, True])
@pytest.mark.parametrize("by", ["placement", "undo", "another run"])
def test_an_answer_after_a_placement_is_dropped(
    run: str,
    player: int,
    redis: Redis,
    monkeypatch: pytest.MonkeyPatch,
    by: str,
    *,
    thinking: bool,
) -> None:
    placed(run, 2)

    def meanwhile() -> None:
        if by == "placement":
            placed(run, 1)
        elif by == "undo":
            take_back(run, 2)
        else:
            started(player)

    ask(run, player)
    if thinking:
        answer_late(redis, monkeypatch, meanwhile)
    else:
        meanwhile()
        work(redis)
    assert inbox_of(player) == []
    assert not RunHint.objects.exists()


def test_after_an_undo_the_same_position_has_the_same_hint(
    run: str, player: int, redis: Redis
) -> None:
    ask(run, player)
    work(redis)
    placed(run, 1)
    take_back(run, 1)
    assert ask(run, player).given is None, "it is another turn"
    work(redis)
    first, second = inbox_of(player)
    assert (first.pop("turn"), second.pop("turn")) == (0, 2)
    assert first == second


def test_an_answer_for_another_turn_is_nobodys(run: str, player: int, redis: Redis) -> None:
    ask(run, player)
    wish = choices(run)[0]
    answer = {name: wish[name] for name in ("slot", "rotation", "at")}
    for wrong in ((run, 1), (run, -1), ("NoSuchRun000", 0)):
        assert not give_run_hint(run_id=wrong[0], turn=wrong[1], now=now_ms(), **answer)
        tasks.find_run_hint(*wrong)
    assert inbox_of(player) == []
    assert RunHint.objects.get().slot is None


# Lost tasks


def test_a_lost_task_is_asked_for_again_by_asking_again(
    run: str, player: int, redis: Redis
) -> None:
    now = now_ms()
    ask(run, player, at=now)
    redis.delete(QUEUE)
    ask(run, player, at=now + PATIENCE_MS - 1)
    assert queued(redis) == [], "it may still be looked for"
    answers = at_once(8, lambda _: ask(run, player, at=now + PATIENCE_MS))
    assert all(isinstance(answer, AskedRunHint) for answer in answers)
    assert len(queued(redis)) == 1
    work(redis)
    assert len(inbox_of(player)) == 1


def test_a_queue_that_takes_nothing_is_asked_again_at_once(
    run: str, player: int, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ConnectionError("no Redis")

    with monkeypatch.context() as broken:
        broken.setattr(current_app, "send_task", fail)
        with pytest.raises(UnavailableError):
            ask(run, player)
    ask(run, player)
    work(redis)
    assert len(inbox_of(player)) == 1


# Refusals


def test_refusals_change_nothing(run: str, player: int, redis: Redis) -> None:
    stranger = registered(1, "Other")[0]
    attempt, _ = begin.play_daily(player_id=player, day=datetime.now(UTC).date())
    over = started(player, STRICT)
    play_out(over)
    abandoned = started(player, rules.Rules.of("normal"))
    started(player, rules.Rules.of("normal"))
    for error, arguments in [
        (UnknownRunError, ("NoSuchRun000", player, None)),
        (UnknownRunError, ("", player, None)),
        (UnknownRunError, ("a\x00b", player, None)),
        (UnknownRunError, (run, stranger, None)),
        (HintNotAllowedError, (attempt, player, None)),
        (HintNotAllowedError, (attempt, player, 0)),
        (RunOverError, (over, player, None)),
        (RunOverError, (abandoned, player, None)),
        (StaleTurnError, (run, player, 1)),
        (StaleTurnError, (run, player, -1)),
    ]:
        with pytest.raises(error):
            ask(*arguments)
    assert not RunHint.objects.exists()
    assert queued(redis) == []


def test_operators_see_hints_and_change_nothing(run: str, player: int, redis: Redis) -> None:
    ask(run, player)
    work(redis)
    site = Client()
    site.force_login(create_player(name="Boss", staff=True))
    hint = RunHint.objects.get()
    listed = site.get(reverse("admin:bots_runhint_changelist"), {"q": run}).content.decode()
    assert hint.at in listed
    address = reverse("admin:bots_runhint_change", args=[hint.pk])
    assert site.get(address).status_code == 200
    assert site.post(address, {"turn": 3}).status_code == 403
    assert RunHint.objects.get().turn == hint.turn

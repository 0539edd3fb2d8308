"""Hints: three a game and player whatever happens at once, one for each position, and none for what has passed."""

import json
import threading
from random import Random
from typing import Any

import pytest
from celery import current_app
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from redis import Redis

from accounts.services.people import cpu_player, create_player
from bots import tasks
from bots.engine import choose
from bots.errors import HintNotAllowedError, NoHintsLeftError
from bots.models import HINTS, Hint
from bots.queue import HINT_LINE, list_of
from bots.selectors import hints_of
from bots.services.hints import PATIENCE_MS, Asked, ask_hint, give_hint
from common import streams
from common.clock import now_ms
from common.database import wait
from common.errors import UnavailableError
from games.territory import decide as de
from games.territory import selectors
from games.territory.errors import (
    GameOverError,
    NotSeatedError,
    NotYourTurnError,
    StalePlyError,
    UnknownGameError,
)
from games.territory.rules import Move, Position
from games.territory.services.play import play_move, undo
from tests.games.territory.support import NO_CLOCK, a_move
from tests.games.territory.tables import at_once, commit, commit_moves, registered, started

pytestmark = pytest.mark.django_db(transaction=True)
QUEUE = list_of(HINT_LINE.first)


@pytest.fixture
def player() -> int:
    return registered(1)[0]


@pytest.fixture
def game(player: int) -> str:
    return against_cpu(player)


def against_cpu(player: int, *levels: str, variant: str = "duo", **more: Any) -> str:
    """A game of the player against CPUs; the player has every seat without a level."""
    levels = levels or ("", "starter")
    players = [cpu_player(level).pk if level else player for level in levels]
    more = {"control": NO_CLOCK, "rated": False, "matched": False, **more}
    return started(players, variant=variant, levels=levels, **more)


def ask(game: str, player: int, ply: int | None = None, *, at: int | None = None) -> Asked:
    return ask_hint(game_id=game, player_id=player, ply=ply, now=at or now_ms())


def queued(redis: Redis) -> list[list[int]]:
    """The arguments of the hint tasks that wait, the oldest first."""
    import base64

    raw: Any = redis
    waiting = [json.loads(text) for text in raw.lrange(QUEUE, 0, -1)]
    return [json.loads(base64.b64decode(task["body"]))[0] for task in reversed(waiting)]


def work(redis: Redis) -> None:
    """What a worker does: every hint task that waits, in order."""
    waiting = queued(redis)
    redis.delete(QUEUE)
    for hint_id, version in waiting:
        tasks.find_hint(hint_id, version)


def inbox_of(player: int) -> list[dict[str, Any]]:
    return [json.loads(note.payload) for note in streams.events_after(f"inbox:{player}", 0)]


# Asked and given


def test_a_hint_is_the_strongest_cpus_move_and_comes_in_the_inbox(
    game: str, player: int, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    thought: list[tuple[str, Position]] = []

    def seventh(level: str, position: Position, random: Random, effort: float) -> Move:
        assert effort == 1.0
        thought.append((level, position))
        return list(position.legal())[7]

    monkeypatch.setattr(tasks, "choose", seventh)
    monkeypatch.setattr(tasks, "LEVELS", ("weakest", "strongest"))
    commit_moves(game, 2, now=now_ms())
    state = selectors.load_state(game)
    asked = ask(game, player)
    assert asked.wire() == {
        "ply": 2,
        "colour": "blue",
        "piece": None,
        "move": None,
        "hints_left": 3,
    }
    assert inbox_of(player) == []
    work(redis)
    assert thought == [("strongest", state.position)]
    move = list(state.position.legal())[7]
    hint = {"ply": 2, "colour": "blue", "piece": move.piece, "move": move.text}
    assert inbox_of(player) == [{"type": "hint_given", "game": game, **hint, "hints_left": 2}]
    assert hints_of(game_id=game, player_id=player).wire() == {"hints": [hint], "hints_left": 2}
    assert ask(game, player).wire() == {**hint, "hints_left": 2}, "it costs nothing again"
    assert queued(redis) == []


def test_asked_four_times_there_are_three_answers(game: str, player: int, redis: Redis) -> None:
    for number in range(HINTS):
        asked = ask(game, player, 2 * number)
        assert (asked.hint.move, asked.hints_left) == (None, HINTS - number)
        work(redis)
        assert ask(game, player, 2 * number).hints_left == HINTS - number - 1
        commit_moves(game, 2, now=now_ms())
    with pytest.raises(NoHintsLeftError) as refused:
        ask(game, player)
    assert refused.value.data == {"hints_left": 0}
    work(redis)
    assert [item["hints_left"] for item in inbox_of(player)] == [2, 1, 0]
    listed = hints_of(game_id=game, player_id=player)
    assert ([hint.ply for hint in listed.hints], listed.hints_left) == ([0, 2, 4], 0)
    other = against_cpu(player)
    assert ask(other, player).hints_left == HINTS, "each game has its own"


def test_the_answer_is_a_legal_move(game: str, player: int, redis: Redis) -> None:
    ask(game, player)
    work(redis)
    (item,) = inbox_of(player)
    playing = play_move(game_id=game, player_id=player, ply=item["ply"], move=item["move"])
    assert wait(playing).version == 2


# At once


def test_twenty_at_once_are_one_hint(game: str, player: int, redis: Redis) -> None:
    answers = at_once(20, lambda _: ask(game, player))
    assert all(isinstance(answer, Asked) for answer in answers), answers
    assert len(queued(redis)) == Hint.objects.count() == 1
    work(redis)
    assert len(inbox_of(player)) == 1
    assert at_once(20, lambda _: ask(game, player).hints_left) == [2] * 20


def test_at_ten_positions_at_once_there_are_never_more_than_three(
    game: str, player: int, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty requests, each of which has seen the game at another version than most."""
    states = [selectors.load_state(game)]
    states += [commit_moves(game, 2, now=now_ms()) for _ in range(9)]
    seating, mine = selectors.seating(game), threading.local()
    monkeypatch.setattr("bots.services.hints.load_table", lambda *_: (mine.state, seating))

    def ask_there(number: int) -> Asked:
        mine.state = states[number % 10]
        return ask(game, player)

    answers = at_once(20, ask_there)
    assert all(isinstance(answer, Asked | NoHintsLeftError) for answer in answers), answers
    numbers = list(Hint.objects.values_list("number", flat=True))
    assert 1 <= len(numbers) == len(set(numbers)) <= HINTS
    work(redis)
    assert len(inbox_of(player)) <= 1, "the others are for what has passed"


def test_the_database_itself_forbids_a_fourth(game: str, player: int) -> None:
    def row(number: int) -> Hint:
        return Hint.objects.create(
            game_id=game,
            player_id=player,
            number=number,
            position=f"p{number}",
            version=number,
            ply=0,
            colour="blue",
            asked_at=0,
        )

    for number in range(1, HINTS + 1):
        row(number)
    for number in (0, 1, HINTS, HINTS + 1):
        with pytest.raises(IntegrityError), transaction.atomic():
            row(number)
    assert Hint.objects.count() == HINTS


def test_the_same_task_at_once_spends_one_hint(game: str, player: int, redis: Redis) -> None:
    ask(game, player)
    ((hint_id, version),) = queued(redis)
    assert at_once(8, lambda _: tasks.find_hint(hint_id, version)) == [None] * 8
    assert len(inbox_of(player)) == 1
    assert hints_of(game_id=game, player_id=player).hints_left == 2


# What has passed


def answer_late(redis: Redis, monkeypatch: pytest.MonkeyPatch, meanwhile: Any) -> None:
    """A worker finds the hints that wait; while it thinks, something happens."""

    def slowly(level: str, position: Position, random: Random, effort: float = 1.0) -> Move:
        meanwhile()
        return choose(level, position, random)

    with monkeypatch.context() as patched:
        patched.setattr(tasks, "choose", slowly)
        work(redis)


@pytest.mark.parametrize("thinking", [False, True])
@pytest.mark.parametrize("by", ["move", "undo", "resignation"])
def test_an_answer_after_a_move_or_an_undo_is_dropped_and_not_spent(
    game: str,
    player: int,
    redis: Redis,
    monkeypatch: pytest.MonkeyPatch,
    by: str,
    *,
    thinking: bool,
) -> None:
    commit_moves(game, 2, now=now_ms())
    move = de.PlayMove(0, 2, a_move(selectors.load_state(game)))
    commands: dict[str, de.Command] = {
        "move": move,
        "undo": de.Undo(2),
        "resignation": de.Resign(0),
    }
    command = commands[by]
    ask(game, player)
    if thinking:
        answer_late(redis, monkeypatch, lambda: commit(game, command, now_ms()))
    else:
        commit(game, command, now_ms())
        work(redis)
    assert inbox_of(player) == []
    assert not Hint.objects.exists()
    assert hints_of(game_id=game, player_id=player).hints_left == HINTS


def test_a_hint_that_nobody_answered_is_no_hindrance(game: str, player: int, redis: Redis) -> None:
    """Asked for at one position after the other, each time left behind: none is spent, and the next one is given."""
    for _ in range(5):
        ask(game, player)
        commit_moves(game, 2, now=now_ms())
    assert Hint.objects.count() == 1
    ask(game, player)
    work(redis)
    assert len(inbox_of(player)) == 1
    assert Hint.objects.count() == 1


def test_undo_gives_no_hint_back_and_the_same_position_has_its_hint(
    game: str, player: int, redis: Redis
) -> None:
    ask(game, player)
    work(redis)
    first = ask(game, player)
    commit_moves(game, 2, now=now_ms())
    ask(game, player)
    work(redis)
    commit(game, de.Undo(2), now_ms())
    assert ask(game, player) == Asked(first.hint, 1)
    assert queued(redis) == []
    assert hints_of(game_id=game, player_id=player).hints_left == 1


def test_a_hint_of_a_position_that_came_back_is_looked_for_anew(
    game: str, player: int, redis: Redis
) -> None:
    """Its first task is for what was taken back meanwhile: dropped. The second one is answered, and spent once."""
    ask(game, player)
    first = queued(redis)
    commit_moves(game, 2, now=now_ms())
    commit(game, de.Undo(2), now_ms())
    ask(game, player)
    second = queued(redis)[1:]
    assert (len(first), len(second)) == (1, 1)
    assert first != second
    tasks.find_hint(*first[0])
    assert inbox_of(player) == []
    tasks.find_hint(*second[0])
    tasks.find_hint(*first[0])
    assert len(inbox_of(player)) == 1
    assert hints_of(game_id=game, player_id=player).hints_left == 2


def test_an_answer_for_another_version_is_nobodys(game: str, player: int, redis: Redis) -> None:
    ask(game, player)
    ((hint_id, version),) = queued(redis)
    move = next(iter(selectors.load_state(game).position.legal()))
    for wrong in ((hint_id, version + 1), (hint_id + 1, version), (-1, version)):
        assert give_hint(hint_id=wrong[0], version=wrong[1], move=move, now=now_ms()) is False
        tasks.find_hint(*wrong)
    assert inbox_of(player) == []
    assert Hint.objects.get().move == ""


# Lost tasks


def test_a_lost_task_is_asked_for_again_by_asking_again(
    game: str, player: int, redis: Redis
) -> None:
    now = now_ms()
    ask(game, player, at=now)
    redis.delete(QUEUE)
    ask(game, player, at=now + PATIENCE_MS - 1)
    assert queued(redis) == [], "it may still be looked for"
    answers = at_once(8, lambda _: ask(game, player, at=now + PATIENCE_MS))
    assert all(isinstance(answer, Asked) for answer in answers)
    assert len(queued(redis)) == 1
    work(redis)
    assert len(inbox_of(player)) == 1


def test_a_queue_that_takes_nothing_is_asked_again_at_once(
    game: str, player: int, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:

    def fail(*_: Any, **__: Any) -> None:
        raise ConnectionError("no Redis")

    with monkeypatch.context() as broken:
        broken.setattr(current_app, "send_task", fail)
        with pytest.raises(UnavailableError):
            ask(game, player)
    assert inbox_of(player) == []
    ask(game, player)
    work(redis)
    assert len(inbox_of(player)) == 1


def test_a_worker_that_fails_spends_nothing(
    game: str, player: int, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise MemoryError

    now = now_ms()
    ask(game, player, at=now)
    with pytest.raises(MemoryError):
        answer_late(redis, monkeypatch, fail)
    assert hints_of(game_id=game, player_id=player).hints_left == HINTS
    ask(game, player, at=now + PATIENCE_MS)
    work(redis)
    assert len(inbox_of(player)) == 1


# Refusals


@pytest.fixture
def others() -> list[int]:
    return registered(3, "Other")


def test_refusals_change_nothing(game: str, player: int, others: list[int], redis: Redis) -> None:
    one, two, stranger = others
    rated = started([one, two])
    casual = started([one, two], rated=False, matched=False)
    hot_seat = started([one, one], rated=False, matched=False)
    cpu_first = against_cpu(one, "starter", "")
    over = against_cpu(one)
    commit(over, de.Resign(0), now_ms())
    with_cpu = started(
        [one, two, cpu_player("starter").pk, cpu_player("starter").pk],
        variant="classic",
        levels=["", "", "starter", "starter"],
        rated=False,
        matched=False,
    )
    for error, arguments in [
        (UnknownGameError, ("NoSuchGame00", one, None)),
        (UnknownGameError, ("", one, None)),
        (UnknownGameError, ("a\x00b", one, None)),
        (NotSeatedError, (game, stranger, None)),
        (HintNotAllowedError, (rated, one, None)),
        (HintNotAllowedError, (casual, one, None)),
        (HintNotAllowedError, (hot_seat, one, None)),
        (HintNotAllowedError, (with_cpu, one, None)),
        (NotYourTurnError, (cpu_first, one, None)),
        (GameOverError, (over, one, None)),
        (StalePlyError, (game, player, 1)),
        (StalePlyError, (game, player, -1)),
    ]:
        with pytest.raises(error):
            ask(*arguments)
    for error, pair in [
        (UnknownGameError, ("NoSuchGame00", one)),
        (NotSeatedError, (game, stranger)),
        (HintNotAllowedError, (hot_seat, one)),
    ]:
        with pytest.raises(error):
            hints_of(game_id=pair[0], player_id=pair[1])
    assert not Hint.objects.exists()
    assert queued(redis) == []


def test_operators_see_hints_and_change_nothing(game: str, player: int, redis: Redis) -> None:
    ask(game, player)
    work(redis)
    site = Client()
    site.force_login(create_player(name="Boss", staff=True))
    hint = Hint.objects.get()
    listed = site.get(reverse("admin:bots_hint_changelist"), {"q": game}).content.decode()
    assert hint.move in listed
    address = reverse("admin:bots_hint_change", args=[hint.pk])
    assert site.get(address).status_code == 200
    assert site.post(address, {"number": 3}).status_code == 403
    assert Hint.objects.get().number == hint.number


def test_several_seats_of_one_player_share_the_three(player: int, redis: Redis) -> None:
    game = against_cpu(player, "", "", "starter", variant="classic-3")
    for ply in range(2):
        ask(game, player, ply)
        work(redis)
        commit_moves(game, 1, now=now_ms())
    assert [item["colour"] for item in inbox_of(player)] == ["blue", "yellow"]
    assert hints_of(game_id=game, player_id=player).hints_left == 1
    wait(undo(game_id=game, player_id=player, ply=2))
    assert ask(game, player).hint.colour == "yellow"

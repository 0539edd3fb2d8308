"""Correspondence: many games at once, whom they wait for, and who is told of it."""

import json
from typing import Any

import pytest

from common import streams
from common.clock import now_ms
from common.database import wait
from games.territory import decide as de
from games.territory import selectors
from games.territory.models import Engagement, Game
from games.territory.own_games import live_games_of
from games.territory.rules import TimeControl
from games.territory.services.play import play_move
from games.territory.services.sweep import sweep
from games.territory.waiting import MOST_REMINDER_MS, awaited
from tests.games.territory.support import BLITZ, DAYS, NO_CLOCK, a_move, after_moves, begin
from tests.games.territory.tables import at_once, commit, commit_moves, registered, started

pytestmark = pytest.mark.django_db(transaction=True)
HOUR = 3_600_000


def told(player: int) -> list[tuple[str, str, int]]:
    """What the inbox says of turns: the kind, the game and the ply."""
    items = [json.loads(note.payload) for note in streams.events_after(f"inbox:{player}", 0)]
    kinds = ("your_turn", "turn_reminder")
    return [(item["type"], item["game"], item["ply"]) for item in items if item["type"] in kinds]


def test_each_turn_is_told_once_whoever_sweeps() -> None:
    one, two = registered(2)
    game = started([one, two], control=DAYS)
    at_once(6, lambda _: sweep(now=now_ms()))
    assert told(one) == [("your_turn", game, 0)]
    state = selectors.load_state(game)
    wait(play_move(game_id=game, player_id=one, ply=0, move=a_move(state)))
    at_once(6, lambda _: sweep(now=now_ms()))
    assert told(one) == [("your_turn", game, 0)]
    assert told(two) == [("your_turn", game, 1)]


def test_the_reminder_comes_once_in_time_and_not_after_a_move() -> None:
    one, two = registered(2)
    begun = now_ms() - 41 * HOUR
    game = started([one, two], control=DAYS, now=begun)
    deadline = begun + DAYS.initial_ms
    remind_at = deadline - DAYS.initial_ms // 6
    sweep(now=begun)
    wake_at = Game.objects.get(id=game).wake_at
    assert wake_at is not None
    assert begun < wake_at <= remind_at, "the sweeper looks in time"
    sweep(now=remind_at - 1)
    assert told(one) == [("your_turn", game, 0)]
    sweep(now=remind_at)
    at_once(4, lambda _: sweep(now=remind_at + 1))
    assert told(one) == [("your_turn", game, 0), ("turn_reminder", game, 0)]
    state = commit_moves(game, 1, now=now_ms())
    sweep(now=now_ms())
    assert told(two) == [("your_turn", game, 1)]
    assert awaited(state) is not None
    assert Game.objects.get(id=game).wake_at == awaited(state).remind_at  # type: ignore[union-attr]


def test_who_comes_late_to_a_turn_is_told_but_not_reminded_at_once() -> None:
    one, two = registered(2)
    game = started([one, two], control=DAYS, now=now_ms() - 45 * HOUR)
    sweep(now=now_ms())
    sweep(now=now_ms())
    assert told(one) == [("your_turn", game, 0)]


@pytest.mark.parametrize(
    ("days", "before"), [(1, 4 * HOUR), (2, 8 * HOUR), (3, 12 * HOUR), (14, MOST_REMINDER_MS)]
)
def test_when_to_remind(days: int, before: int) -> None:
    turn = awaited(after_moves(begin("duo", TimeControl.correspondence(days)), 1))
    assert turn is not None
    assert (turn.seat, turn.ply) == (1, 1)
    assert turn.deadline - turn.remind_at == before


@pytest.mark.parametrize("control", [BLITZ, NO_CLOCK])
def test_of_other_games_nobody_is_told(control: TimeControl) -> None:
    one, two = registered(2)
    game = started([one, two], control=control)
    Game.objects.filter(id=game).update(wake_at=0)
    sweep(now=now_ms())
    assert told(one) == told(two) == []


def test_many_games_at_once_and_one_in_real_time_besides() -> None:
    one, two = registered(2)
    for _ in range(3):
        started([one, two], control=DAYS)
    started([two, one])
    assert Engagement.objects.count() == 2
    assert len(live_games_of(one, my_turn=False, after=None, limit=10)) == 4


def test_own_games_say_which_wait_page_by_page() -> None:
    one, two, other = registered(3)
    now = now_ms()
    mine = [started([one, two], control=DAYS, now=now - 100 + n) for n in range(3)]
    theirs = started([two, one], control=DAYS, now=now)
    started([two, other], control=DAYS)
    over = started([one, two], control=DAYS)
    commit(over, de.Resign(0), now_ms())
    commit_moves(mine[1], 3, now=now)

    def games(**wanted: Any) -> list[str]:
        asked = {"my_turn": False, "after": None, "limit": 10, **wanted}
        return [game.game for game in live_games_of(one, **asked)]

    assert games() == [theirs, mine[2], mine[1], mine[0]]
    assert games(my_turn=True) == [mine[2], mine[0]]
    assert games(limit=2) == [theirs, mine[2]]
    assert games(after=mine[2]) == [mine[1], mine[0]]
    _, shown, _ = live_games_of(one, my_turn=False, after=theirs, limit=3)
    assert (shown.game, shown.my_seats, shown.my_turn) == (mine[1], [0], False)
    assert shown.turn.seat == 1
    assert [place.player for place in shown.seats] == ["Player0", "Player1"]

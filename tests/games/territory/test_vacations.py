"""Vacation days: kept by year, shown in every game, over by themselves, and never half told."""

from collections.abc import Callable

import pytest

from common.clock import from_datetime, now_ms, to_datetime
from games.territory import selectors
from games.territory.errors import NoVacationLeftError
from games.territory.models import Game, Vacation
from games.territory.services import vacations
from games.territory.services.sweep import sweep
from games.territory.services.vacations import DAY_MS, LEAST_MS, QUOTA_MS, begin, end, vacation_of
from tests.games.territory.support import BLITZ, DAYS
from tests.games.territory.tables import (
    assert_record_is_whole,
    at_once,
    commit_moves,
    registered,
    started,
)

pytestmark = pytest.mark.django_db(transaction=True)
YEAR = from_datetime(to_datetime(now_ms()).replace(month=1, day=2))
"""An instant at the beginning of this year: quotas of one year."""


def test_all_correspondence_games_stand_until_the_player_is_back() -> None:
    one, two = registered(2)
    games = [started([one, two], control=DAYS), started([two, one], control=DAYS)]
    other = started([one, two], control=BLITZ)
    now = now_ms()
    view = begin(player_id=one, now=now)
    assert (view.on, view.until) == (True, now + QUOTA_MS)
    first, second = (assert_record_is_whole(game) for game in games)
    assert (first.vacations, first.deadline) == ((0,), None)
    assert second.vacations == (1,)
    assert second.deadline is not None
    assert selectors.version_of(other) == 1
    sweep(now=now + 5 * DAY_MS)
    assert not selectors.load_state(games[0]).is_over
    assert Game.objects.get(id=games[0]).wake_at is None, "there is nothing to wait for"
    view = end(player_id=one, now=now + 5 * DAY_MS)
    assert (view.on, view.left_ms) == (False, QUOTA_MS - 5 * DAY_MS)
    state = assert_record_is_whole(games[0])
    assert state.vacations == ()
    assert state.deadline is not None
    wake_at = Game.objects.get(id=games[0]).wake_at
    assert wake_at is not None
    assert wake_at <= state.deadline


def test_it_ends_by_itself_when_the_days_are_used() -> None:
    (one, two), now = registered(2), now_ms()
    game = started([one, two], control=DAYS)
    begin(player_id=one, now=now)
    sweep(now=now + QUOTA_MS - 1)
    assert selectors.load_state(game).vacations == (0,)
    at_once(4, lambda _: sweep(now=now + QUOTA_MS))
    assert assert_record_is_whole(game).vacations == ()
    row = Vacation.objects.get()
    assert (row.began, row.used_ms, row.settled) == (None, QUOTA_MS, True)


def test_the_days_of_a_year() -> None:
    (one,) = registered(1)
    now = YEAR
    begin(player_id=one, now=now)
    assert end(player_id=one, now=now + 1_000).left_ms == QUOTA_MS - LEAST_MS
    begin(player_id=one, now=now + 2_000)
    now += QUOTA_MS - LEAST_MS - DAY_MS // 2
    assert end(player_id=one, now=now + 2_000).left_ms == DAY_MS // 2
    with pytest.raises(NoVacationLeftError):
        begin(player_id=one, now=now + 3_000)
    assert not vacation_of(player_id=one, now=now + 3_000).on
    later = now + 366 * DAY_MS
    assert vacation_of(player_id=one, now=later).left_ms == QUOTA_MS
    assert begin(player_id=one, now=later).on


def test_saying_it_twice_or_never_changes_nothing() -> None:
    (one, two), now = registered(2), now_ms()
    game = started([one, two], control=DAYS)
    assert end(player_id=one, now=now).left_ms == QUOTA_MS
    at_once(6, lambda number: begin(player_id=one, now=now + number))
    assert selectors.version_of(game) == 2
    at_once(6, lambda number: end(player_id=one, now=now + 100 + number))
    assert selectors.version_of(game) == 3
    assert vacation_of(player_id=one, now=now + 200).left_ms == QUOTA_MS - LEAST_MS


def test_coming_and_going_at_once_leaves_the_games_as_the_row_says() -> None:
    (one, two), now = registered(2), now_ms()
    games = [started([one, two], control=DAYS) for _ in range(3)]
    steps: list[Callable[..., object]] = [begin, end]
    at_once(8, lambda number: steps[number % 2](player_id=one, now=now + number))
    sweep(now=now + 100)
    on = vacation_of(player_id=one, now=now + 200).on
    for game in games:
        assert assert_record_is_whole(game).vacations == ((0,) if on else ())
    assert Vacation.objects.get().settled


def test_what_a_dead_process_has_not_told_the_sweeper_tells() -> None:
    (one, two), now = registered(2), now_ms()
    game = started([one, two], control=DAYS)
    commit_moves(game, 2, now=now)
    Vacation.objects.create(
        player_id=one,
        year=to_datetime(now).year,
        used_ms=0,
        began=now,
        until=now + QUOTA_MS,
        settled=False,
    )
    sweep(now=now + 1_000)
    assert assert_record_is_whole(game).vacations == (0,)
    assert vacations.due(now=now + 2_000) == []

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.territory.rules import Clock, ClockError, Speed, TimeControl, TimeKind
from games.territory.rules.clock import DAY_MS

BLITZ = TimeControl.realtime(120_000, 3_000)
NOW = 1_700_000_000_000


def started(control: TimeControl = BLITZ, seats: int = 2) -> Clock:
    return Clock.start(control, seats=seats, now=NOW)


@pytest.mark.parametrize(
    ("control", "speed"),
    [
        (TimeControl.realtime(120_000, 3_000), Speed.BLITZ),
        (TimeControl.realtime(299_999), Speed.BLITZ),
        (TimeControl.realtime(300_000), Speed.RAPID),
        (TimeControl.realtime(300_000, 5_000), Speed.RAPID),
        (TimeControl.realtime(60_000, 8_000), Speed.RAPID),
        (TimeControl.correspondence(3), Speed.CORRESPONDENCE),
        (TimeControl.none(), Speed.NONE),
    ],
)
def test_speeds(control: TimeControl, speed: Speed) -> None:
    assert control.speed is speed


@pytest.mark.parametrize(
    ("kind", "initial", "increment"),
    [
        (TimeKind.REALTIME, 0, 3_000),
        (TimeKind.REALTIME, -1, 0),
        (TimeKind.REALTIME, 1_000, -1),
        (TimeKind.CORRESPONDENCE, 0, 0),
        (TimeKind.CORRESPONDENCE, DAY_MS, 1),
        (TimeKind.NONE, 1, 0),
        (TimeKind.NONE, 0, 1),
    ],
)
def test_impossible_time_controls(kind: TimeKind, initial: int, increment: int) -> None:
    says = f"A {kind} time control cannot have {initial} ms and an increment of {increment} ms"
    with pytest.raises(ClockError, match=says) as caught:
        TimeControl(kind, initial, increment)
    assert caught.value.code == "bad-time-control"


def test_one_millisecond_is_time_and_there_need_not_be_an_increment() -> None:
    assert TimeControl.realtime(1) == TimeControl(TimeKind.REALTIME, 1, 0)
    assert TimeControl(TimeKind.CORRESPONDENCE, 1).initial_ms == 1


def test_only_the_running_clock_runs() -> None:
    clock = started()
    assert clock.remaining(0, NOW + 10_000) == 110_000
    assert clock.remaining(1, NOW + 10_000) == 120_000
    assert clock.deadline == NOW + 120_000


def test_a_move_takes_its_time_adds_the_increment_and_starts_the_next() -> None:
    clock = started().press(NOW + 10_000, next_seat=1)
    assert clock == Clock(BLITZ, (113_000, 120_000), 1, NOW + 10_000)
    assert clock.deadline == NOW + 130_000


def test_the_same_seat_may_move_again() -> None:
    clock = started().press(NOW + 1_000, next_seat=0)
    assert clock.running == 0
    assert clock.deadline == NOW + 1_000 + 122_000


@pytest.mark.parametrize("early", [1, 2, 1_000, 119_999, 120_000])
def test_before_the_deadline_a_move_is_in_time(early: int) -> None:
    clock = started()
    assert clock.deadline is not None
    now = clock.deadline - early
    assert not clock.flagged(now)
    assert clock.remaining(0, now) == early
    assert clock.press(now, next_seat=1).left_ms[0] == early + 3_000


@pytest.mark.parametrize("late", [0, 1, 60_000])
def test_from_the_deadline_on_a_move_is_late(late: int) -> None:
    clock = started()
    assert clock.deadline is not None
    now = clock.deadline + late
    assert clock.flagged(now)
    assert clock.remaining(0, now) == 0
    with pytest.raises(ClockError, match=r"^The time was used up before this move\.$") as caught:
        clock.press(now, next_seat=1)
    assert caught.value.code == "too-late"


def test_the_end_of_the_game_stops_the_clock() -> None:
    clock = started().press(NOW + 5_000, next_seat=None)
    assert (clock.running, clock.since, clock.deadline) == (None, None, None)
    assert clock.remaining(0, NOW + 10**9) == 118_000
    assert not clock.flagged(NOW + 10**9)
    with pytest.raises(ClockError, match=r"^No clock is running\.$") as caught:
        clock.press(NOW, next_seat=0)
    assert caught.value.code == "clock-standing"


def test_stopping_takes_the_time_used_and_adds_nothing() -> None:
    clock = started().stop(NOW + 5_000)
    assert clock == Clock(BLITZ, (115_000, 120_000))
    assert clock.stop(NOW + 9_000) == clock
    assert started().stop(NOW + 10**9).left_ms == (0, 120_000)


def test_another_clock_may_be_run_without_a_move() -> None:
    clock = started(seats=3).run(2, NOW + 5_000)
    assert clock == Clock(BLITZ, (115_000, 120_000, 120_000), 2, NOW + 5_000)


def test_a_clock_may_wait_for_its_start() -> None:
    clock = Clock.start(BLITZ, seats=2, now=NOW, seat=None)
    assert clock == Clock(BLITZ, (120_000, 120_000))
    assert clock.run(0, NOW + 7).deadline == NOW + 120_007


def test_time_never_runs_backwards() -> None:
    clock = started()
    assert clock.remaining(0, NOW - 500) == 120_000
    assert clock.press(NOW - 500, next_seat=1).left_ms == (123_000, 120_000)


def test_correspondence_gives_the_time_anew_for_every_move() -> None:
    control = TimeControl.correspondence(2)
    clock = started(control).press(NOW + DAY_MS, next_seat=1)
    assert clock.left_ms == (2 * DAY_MS, 2 * DAY_MS)
    assert clock.deadline == NOW + 3 * DAY_MS
    assert clock.flagged(NOW + 3 * DAY_MS)


def test_without_a_time_control_nobody_is_late() -> None:
    clock = started(TimeControl.none())
    assert clock.deadline is None
    assert clock.remaining(0, NOW + 10**12) is None
    clock = clock.press(NOW + 10**12, next_seat=1)
    assert clock.running == 1
    assert clock.extended(5_000).left_ms == (0, 0)
    assert clock.stop(NOW).running is None


def test_time_given_back_is_equal_for_all_and_moves_the_deadline() -> None:
    clock = started().extended(30_000)
    assert clock.left_ms == (150_000, 150_000)
    assert clock.deadline == NOW + 150_000


@given(st.lists(st.integers(0, 30_000), max_size=30), st.integers(0, 10_000))
def test_no_time_is_lost_or_made(thoughts: list[int], increment: int) -> None:
    clock = Clock.start(TimeControl.realtime(1_000_000, increment), seats=2, now=NOW)
    now, spent = NOW, [0, 0]
    for turn, thought in enumerate(thoughts):
        now += thought
        spent[turn % 2] += thought - increment
        clock = clock.press(now, next_seat=(turn + 1) % 2)
    assert clock.left_ms == (1_000_000 - spent[0], 1_000_000 - spent[1])
    assert clock.since == now

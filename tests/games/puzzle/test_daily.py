"""Daily puzzles: one counted attempt, closed at the end of its UTC date, exactly, whoever does what at that moment."""

import itertools
import json
import random
import threading
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django import Settings

from accounts.models import Player, ScoreBoard, ScoreEntry
from accounts.selectors import leaderboard_page
from games.puzzle import errors, rules, selectors
from games.puzzle import events as ev
from games.puzzle.models import Best, Daily, Run
from games.puzzle.services import begin, days, play
from tests.games.puzzle.tables import (
    Json,
    a_guest,
    at_once,
    choices,
    owner,
    place,
    placed,
    play_out,
    registered,
    row,
    state,
    view,
)

pytestmark = pytest.mark.django_db(transaction=True)

DAY = date(2027, 3, 4)
NOON = rules.opens_at(DAY) + 43_200_000
END = rules.closes_at(DAY)


def at(instant: int) -> Callable[[], int]:
    return lambda: instant


def attempt(player: int, day: date = DAY, now: int = NOON) -> str:
    """The player's counted attempt."""
    run, _ = begin.play_daily(player_id=player, day=day, clock=at(now))
    return run


def close_all(now: int = END) -> int:
    """Rounds of a sweeper until there is nothing to close any more."""
    return sum(iter(lambda: days.sweep_days(now=now), 0))


# One attempt


def test_everybody_gets_the_same_blocks_and_one_attempt() -> None:
    one, two = registered(2)
    mine, theirs = attempt(one), attempt(two)
    assert state(mine).hand == state(theirs).hand
    assert view(mine)["rules"]["key"] == "daily"
    assert (view(mine)["date"], view(mine)["counted"]) == ("2027-03-04", True)
    assert begin.play_daily(player_id=one, day=DAY, clock=at(END - 1)) == (mine, False)
    placed(mine, 3, clock=at(NOON))
    assert begin.play_daily(player_id=one, day=DAY, clock=at(END - 1)) == (mine, False)
    assert state(mine).turn == 3, "and one goes on with it, on whatever device"


def test_twenty_devices_begin_at_once() -> None:
    (player,) = registered(1)
    answers = at_once(20, lambda _: begin.play_daily(player_id=player, day=DAY, clock=at(NOON)))
    assert len({run for run, _ in answers}) == 1  # type: ignore[misc]
    assert sum(made for _, made in answers) == 1  # type: ignore[misc]


def test_an_attempt_that_is_over_is_not_begun_again() -> None:
    (player,) = registered(1)
    run = attempt(player)
    placed(run, 1_000, clock=at(NOON))
    assert view(run)["status"] == "over"
    assert attempt(player) == run
    with pytest.raises(errors.UndoOffError):
        take_back_at(run, NOON)


def take_back_at(run: str, now: int) -> None:
    play.take_back(run_id=run, player_id=owner(run), turn=state(run).turn, clock=at(now))


# Secrecy


def test_the_seed_of_an_open_day_is_nowhere() -> None:
    """Not even when an attempt has ended by itself."""
    (player,) = registered(1)
    run = attempt(player)
    placed(run, 1_000, clock=at(NOON))
    secret = bytes(Daily.objects.get().seed).hex()
    assert view(run)["end"]["reason"] == "no-block-fits"
    assert selectors.seed_of(Daily.objects.get()) is None
    for text in (
        json.dumps(view(run)),
        rules.write_json(selectors.load_record(Run.objects.get())),
        "".join(note.payload for note in selectors.notes_after(run, 0)),
        repr(Run.objects.get()) + repr(Daily.objects.get()),
    ):
        assert secret not in text
    with pytest.raises(errors.RunNotOverError):
        selectors.run_to_show(run, None)

    close_all()
    assert selectors.seed_of(Daily.objects.get()) == secret
    assert view(run)["seed"] == secret
    record = selectors.load_record(selectors.run_to_show(run, None))
    assert rules.replay(record).verdict == "agrees"
    assert rules.seed_hash(bytes.fromhex(secret)) == view(run)["seed_hash"]


def test_another_secret_does_not_change_a_day_that_was_published(
    settings: Settings,
) -> None:
    one, two = registered(2)
    run = attempt(one)
    before = Daily.objects.values().get()
    settings.DAILY_SECRET = b"another one"
    assert state(attempt(two)).hand == state(run).hand
    assert Daily.objects.values().get() == before
    tomorrow = days.publish_day(day=DAY + timedelta(days=1), now=END)
    assert bytes(tomorrow.seed) == rules.daily_seed(b"another one", tomorrow.date)


def test_a_day_is_published_once() -> None:
    made = at_once(12, lambda _: bytes(days.publish_day(day=DAY, now=NOON).seed))
    assert set(made) == {bytes(Daily.objects.get().seed)}


@pytest.mark.parametrize(
    ("day", "now"),
    [
        pytest.param(DAY + timedelta(days=1), NOON, id="tomorrow, as at UTC+14"),
        pytest.param(DAY, rules.opens_at(DAY) - 1, id="a millisecond before"),
        pytest.param(days.FIRST - timedelta(days=1), NOON, id="before the first"),
    ],
)
def test_days_to_come_and_before_the_first_are_unknown(day: date, now: int) -> None:
    (player,) = registered(1)
    with pytest.raises(errors.UnknownDailyError):
        days.publish_day(day=day, now=now)
    with pytest.raises(errors.UnknownDailyError):
        attempt(player, day, now)
    with pytest.raises(errors.UnknownDailyError):
        begin.practise_daily(player_id=player, day=day, clock=at(now))
    assert not Daily.objects.exists()


# The end of the day


def test_the_last_millisecond_counts_and_the_next_does_not() -> None:
    (player,) = registered(1)
    run = attempt(player)
    note = place(run, choices(run)[0], clock=at(END - 1))
    kept = row(run)
    with pytest.raises(errors.DailyClosedError) as refused:
        play.place(run_id=run, player_id=player, **choices(run)[0], clock=at(END))
    assert refused.value.data == {"turn": 1, "version": 2}
    with pytest.raises(errors.DailyClosedError):
        attempt(player, now=END)
    assert row(run) == kept
    wish: Json = {"turn": 0, "slot": 0, "rotation": 0, "at": "j10"}
    with pytest.raises(errors.DailyClosedError):
        play.place(run_id=run, player_id=player, **wish, clock=at(END))
    said = ev.decode(note.payload)
    assert isinstance(said, ev.BlockPlaced)
    again: Json = {"turn": 0, "slot": said.slot, "rotation": said.rotation, "at": said.at}
    for _ in range(2):  # what was accepted is answered again, before closing and after it
        answer = play.place(run_id=run, player_id=player, **again, clock=at(END + 5))
        assert answer.body() == note.body()
        close_all()


def test_closing_ends_attempts_with_the_score_they_have() -> None:
    one, two, three, four = registered(4)
    guest = a_guest()
    half, over, fresh = attempt(one), attempt(two), attempt(three)
    theirs = attempt(guest)
    placed(half, 7, clock=at(NOON))
    placed(over, 1_000, random.Random(8), clock=at(NOON + 5_000))
    placed(theirs, 4, clock=at(NOON))
    assert days.sweep_days(now=END - 1) == 0
    assert close_all() == 4
    assert [view(run)["status"] for run in (half, over, fresh, theirs)] == [
        *("closed", "over", "closed", "closed"),
    ]
    end = view(half)["end"]
    assert (end["reason"], end["duration_ms"]) == ("day-over", END - NOON)
    assert end["best"] == state(half).score == Best.objects.get(player_id=one).score
    assert view(fresh)["end"]["best"] is None, "who placed nothing has no result"
    assert _board() == _runs() != {}
    assert {one, two} == set(_board())
    assert Best.objects.filter(player_id=guest).exists()
    day = Daily.objects.get()
    assert day.closed_at == day.frozen_at == datetime(2027, 3, 5, tzinfo=UTC)
    assert ScoreBoard.objects.get(key="daily:2027-03-04").frozen_at == END
    assert close_all() == 0
    with pytest.raises(errors.DailyClosedError):
        attempt(four, now=END + 1)


def _board() -> dict[int, tuple[int, int, int]]:
    """The day's leaderboard: score, placements and end by player."""
    return {
        entry.player_id: (entry.score, entry.placements, entry.finished_at)
        for entry in ScoreEntry.objects.filter(board="daily:2027-03-04")
    }


def _runs() -> dict[int, tuple[int, int, int]]:
    """The same from the registered players' runs, with what their last events say."""
    found = {}
    for run in Run.objects.filter(counted=True, placements__gt=0, player__kind="registered"):
        last = selectors.notes_after(run.id, run.version - 2)[0]
        ended = END if run.status == "closed" else last.at
        now = state(run.id)
        found[run.player_id] = (now.score, now.statistics.placements, ended)
    return found


def test_placements_around_the_boundary_are_kept_or_refused() -> None:
    """Players place as fast as they can while the day ends and two sweepers close it, on a clock that all share.

    Every placement that was answered stands in the record, none at or after the end, and the frozen leaderboard is
    what the runs say.
    """
    players = registered(8)
    runs = [attempt(player) for player in players]
    ticks = itertools.count(END - 60)
    clock: Callable[[], int] = lambda: next(ticks)  # noqa: E731  # every look at it is a millisecond
    late: list[str] = []
    answered: list[tuple[str, str]] = []

    def act(number: int) -> None:
        if number >= len(runs):
            while next(ticks) < END + 60:
                days.sweep_days(now=clock())
            return
        run, chance = runs[number], random.Random(number)
        while legal := choices(run):
            try:
                note = play.place(
                    run_id=run, player_id=players[number], **chance.choice(legal), clock=clock
                )
            except errors.DailyClosedError as error:
                late.append(error.code)
                return
            answered.append((run, note.body()))

    results = at_once(len(runs) + 2, act)
    assert results == [None] * len(results)
    assert len(late) == len(runs), "everybody placed until the day was over"
    assert 0 < len(answered) < 60
    close_all(now=END + 1_000)
    kept = [
        (run, note.body())
        for run in runs
        for note in selectors.notes_after(run, 1)
        if '"block_placed"' in note.payload
    ]
    assert sorted(kept) == sorted(answered)
    for run in runs:
        notes = selectors.notes_after(run, 0)
        placements = [note for note in notes if '"block_placed"' in note.payload]
        assert all(note.at < END for note in placements)
        assert [ev.decode(note.payload).__class__ for note in notes[-2:]] == [
            *(ev.RunEnded, ev.SeedRevealed),
        ]
    assert _board() == _runs()
    assert len(_board()) == len([run for run in runs if state(run).turn])


def test_closing_waits_for_a_placement_under_way() -> None:
    """A placement that read the clock in time and has not committed yet is not overtaken."""
    (player,) = registered(1)
    run = attempt(player)
    wish = choices(run)[0]
    looks = itertools.count(1)
    holding, closed = threading.Event(), threading.Event()

    def slow_clock() -> int:
        if next(looks) == 2:  # it has the day's row now
            holding.set()
            assert not closed.wait(0.5), "the sweeper must wait"
        return END - 1

    def act(number: int) -> Any:
        if number == 0:
            return play.place(run_id=run, player_id=player, **wish, clock=slow_clock).version
        assert holding.wait(10)
        days.close(day=Daily.objects.get(), now=END)
        closed.set()
        return "closed"

    assert at_once(2, act) == [2, "closed"]
    close_all()
    assert _board()[player][1] == 1


def test_sweepers_at_once_close_each_attempt_once() -> None:
    players = registered(24)
    for player in players:
        placed(attempt(player), 2, clock=at(NOON))
    closed = at_once(6, lambda _: close_all())
    assert sum(closed) + close_all() == len(players)  # type: ignore[arg-type]
    assert Run.objects.filter(status="closed", revealed=True).count() == len(players)
    assert Daily.objects.get().frozen_at is not None
    assert len(_board()) == len(players)


def test_a_round_closes_a_bounded_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(days, "LIMIT", 3)
    for player in registered(7):
        placed(attempt(player), 1, clock=at(NOON))
    assert [days.sweep_days(now=END) for _ in range(4)] == [3, 3, 1, 0]
    assert Daily.objects.get().frozen_at is not None


def test_a_run_that_cannot_be_read_does_not_stop_the_others() -> None:
    runs = [attempt(player) for player in registered(3)]
    for run in runs:
        placed(run, 1, clock=at(NOON))
    kept = Run.objects.get(id=runs[0]).state
    Run.objects.filter(id=runs[0]).update(state="{}")
    assert days.sweep_days(now=END) == 2
    assert Daily.objects.get().frozen_at is None, "it waits for the last one"
    Run.objects.filter(id=runs[0]).update(state=kept)
    assert close_all() == 1


def test_a_sweeper_that_comes_days_later_closes_all() -> None:
    (player,) = registered(1)
    for number in range(3):
        day = DAY + timedelta(days=number)
        now = NOON + number * rules.closes_at(DAY) - number * rules.opens_at(DAY)
        placed(attempt(player, day, now), 2, clock=at(now))  # yesterday's is still running
    assert Run.objects.filter(status="running").count() == 3
    later = END + 10 * 86_400_000
    assert close_all(later) == 3
    ends = set(Run.objects.values_list("finished_at", flat=True))
    assert ends == {datetime(2027, 3, day, tzinfo=UTC) for day in (5, 6, 7)}
    assert Best.objects.get().runs == 3


def test_the_command_closes(capsys: pytest.CaptureFixture[str]) -> None:
    (player,) = registered(1)
    day = date(2026, 2, 3)
    placed(attempt(player, day, rules.opens_at(day)), 1, clock=at(rules.opens_at(day)))
    call_command("sweeper", "--once")
    assert capsys.readouterr().out.endswith(
        "closed 1 attempts at daily puzzles, brought 0 players back onto the leaderboards\n"
    )


# Practice


def test_past_days_are_practised_and_do_not_count() -> None:
    one, two = registered(2)
    counted = attempt(one)
    placed(counted, 3, clock=at(NOON))
    with pytest.raises(errors.DailyOpenError):
        begin.practise_daily(player_id=two, day=DAY, clock=at(END - 1))
    run = begin.practise_daily(player_id=two, day=DAY, clock=at(END))
    assert Daily.objects.get().closed_at is not None, (
        "no sweeper has come yet, and nothing is placed"
    )
    with pytest.raises(errors.DailyClosedError):
        play.place(run_id=counted, player_id=one, **choices(counted)[0], clock=at(END - 1))
    close_all()
    board = _board()
    assert (view(run)["counted"], view(run)["date"]) == (False, "2027-03-04")
    result = play_out(run, clock=at(END))
    assert view(run)["seed"] == bytes(Daily.objects.get().seed).hex()
    assert (view(run)["end"]["best"], view(run)["end"]["new_best"]) == (None, False)
    assert result.score > 0
    assert _board() == board
    assert not Best.objects.filter(player_id=two).exists()
    assert not ScoreEntry.objects.filter(player_id=two).exists()


def test_practice_abandons_practice_of_the_same_day_and_no_attempt() -> None:
    (player,) = registered(1)
    tomorrow = DAY + timedelta(days=1)
    first = begin.practise_daily(player_id=player, day=DAY, clock=at(END))
    counted = attempt(player, tomorrow, END)
    second = begin.practise_daily(player_id=player, day=DAY, clock=at(END))
    assert [view(run)["status"] for run in (first, counted, second)] == [
        *("abandoned", "running", "running"),
    ]


def test_practice_before_the_sweeper_has_come_leaves_the_attempt() -> None:
    (player,) = registered(1)
    counted = attempt(player)
    placed(counted, 2, clock=at(NOON))
    begin.practise_daily(player_id=player, day=DAY, clock=at(END))
    assert view(counted)["status"] == "running"
    close_all()
    assert (view(counted)["status"], view(counted)["end"]["reason"]) == ("closed", "day-over")


def test_a_past_day_that_nobody_played_can_be_practised() -> None:
    (player,) = registered(1)
    run = begin.practise_daily(player_id=player, day=days.FIRST, clock=at(NOON))
    day = Daily.objects.get()
    assert day.closed_at is not None
    assert bytes(day.seed) == bytes(Run.objects.get(id=run).seed)
    placed(run, 2, clock=at(NOON))


def test_the_leap_day() -> None:
    (player,) = registered(1)
    leap = date(2028, 2, 29)
    run = attempt(player, leap, rules.opens_at(leap))
    place(run, choices(run)[0], clock=at(rules.closes_at(leap) - 1))
    assert days.sweep_days(now=rules.closes_at(leap) - 1) == 0
    assert close_all(rules.closes_at(leap)) == 1
    assert Run.objects.get().finished_at == datetime(2028, 3, 1, tzinfo=UTC)
    assert attempt(player, date(2028, 3, 1), rules.closes_at(leap)) != run


# People


def test_a_banned_player_is_on_no_board() -> None:
    one, two = registered(2)
    for player in (one, two):
        placed(attempt(player), 3, clock=at(NOON))
    Player.objects.filter(pk=one).update(is_active=False)
    close_all()
    page = leaderboard_page("daily:2027-03-04")
    assert [entry.player.id for entry in page.entries] == [two]


def test_a_deleted_player_does_not_keep_a_day_from_closing() -> None:
    one, two = registered(2)
    for player in (one, two):
        placed(attempt(player), 3, clock=at(NOON))
    Player.objects.get(pk=one).delete()
    assert close_all() == 1
    assert set(_board()) == {two}


def test_undo_is_off() -> None:
    run = attempt(registered(1)[0])
    placed(run, 1, clock=at(NOON))
    with pytest.raises(errors.UndoOffError):
        take_back_at(run, NOON)
    with pytest.raises(errors.DailyClosedError):
        take_back_at(run, END)

"""The sweeper keeps the promises of processes that died; any number of sweepers may run."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command

from accounts.models import LedgerRow
from accounts.services.people import cpu_player
from common.clock import now_ms
from common.database import wait
from games.territory import decide as de
from games.territory import selectors, signals
from games.territory import state as st
from games.territory.models import Engagement, Event, Game
from games.territory.services.follow_up import CPU_PATIENCE_MS
from games.territory.services.play import check_clock
from games.territory.services.sweep import CPU_LIMIT_MS, SETTLE_GRACE_MS, Swept, sweep
from games.territory.state import FIRST_MOVE_MS, IDLE_MS
from tests.games.territory.support import DAYS, NO_CLOCK
from tests.games.territory.tables import (
    assert_record_is_whole,
    at_once,
    commit,
    commit_moves,
    registered,
    started,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def asked() -> Iterator[list[tuple[str, int]]]:
    """The CPU moves that were asked for: game and version."""
    heard: list[tuple[str, int]] = []

    def hear(game_id: str, version: int, **_: Any) -> None:
        heard.append((game_id, version))

    signals.turn_started.connect(hear)
    yield heard
    signals.turn_started.disconnect(hear)


def test_there_is_nothing_to_do() -> None:
    started(registered(2))
    assert sweep(now=now_ms()) == Swept(0, 0)


def test_time_that_is_up_ends_the_game_with_nobody_there() -> None:
    one, two = registered(2)
    past = now_ms() - 600_000
    game = started([one, two], now=past)
    commit_moves(game, 4, now=past + 1_000)
    assert sweep(now=now_ms()).woken == 1
    state = assert_record_is_whole(game)
    assert state.outcome is not None
    assert state.outcome.termination == "timeout"
    assert [seat.rank for seat in state.outcome.seats] == [2, 1]
    assert sweep(now=now_ms()) == Swept(0, 0), "the worker has its time to settle"
    assert sweep(now=now_ms() + SETTLE_GRACE_MS) == Swept(0, 1)
    assert LedgerRow.objects.count() == 2
    assert not Engagement.objects.exists()
    assert_record_is_whole(game)
    assert sweep(now=now_ms() + SETTLE_GRACE_MS) == Swept(0, 0)


@pytest.mark.parametrize("moves", [0, 1])
def test_a_first_move_that_never_comes_aborts(moves: int) -> None:
    past = now_ms() - FIRST_MOVE_MS - 10_000
    game = started(registered(2), now=past)
    commit_moves(game, moves, now=past + 500)
    sweep(now=now_ms())
    assert Game.objects.get(id=game).status == "aborted"
    sweep(now=now_ms() + SETTLE_GRACE_MS)
    assert not LedgerRow.objects.exists()
    assert not Engagement.objects.exists()


@pytest.mark.parametrize("control", [NO_CLOCK, DAYS])
def test_games_without_haste_end_as_well(control: Any) -> None:
    past = now_ms() - IDLE_MS - 1_000
    game = started(registered(2), control=control, now=past)
    commit_moves(game, 2, now=past + 500)
    sweep(now=now_ms())
    state = assert_record_is_whole(game)
    assert state.outcome is not None
    assert state.outcome.termination == ("aborted" if control is NO_CLOCK else "timeout")


def test_a_game_that_goes_on_is_looked_at_again_in_time() -> None:
    """Moves do not touch `wake_at`; the sweeper sets it anew, never later than the next deadline."""
    past = now_ms() - 31_000
    game = started(registered(2), now=past)
    state = commit_moves(game, 6, now=now_ms() - 6_000, every=1_000)
    assert Game.objects.get(id=game).wake_at == past + FIRST_MOVE_MS
    now = now_ms()
    assert sweep(now=now) == Swept(1, 0)
    assert selectors.version_of(game) == 7
    wake = Game.objects.get(id=game).wake_at
    assert wake is not None
    assert now < wake <= (state.deadline or 0)
    assert wake == state.earliest_deadline(now)
    assert sweep(now=now) == Swept(0, 0)


def test_a_lost_cpu_move_is_asked_for_again(asked: list[tuple[str, int]]) -> None:
    (person,) = registered(1)
    past = now_ms() - CPU_PATIENCE_MS
    players = [person, cpu_player("starter").pk]
    game = started(
        players, control=NO_CLOCK, rated=False, matched=False, levels=["", "starter"], now=past
    )
    commit_moves(game, 1, now=past)
    assert asked == [], "the process died before it asked"
    now = now_ms()
    assert sweep(now=now).woken == 1
    assert asked == [(game, 2)]
    assert Game.objects.get(id=game).wake_at == now + CPU_PATIENCE_MS
    sweep(now=now + CPU_PATIENCE_MS - 1)
    assert asked == [(game, 2)]
    sweep(now=now + CPU_PATIENCE_MS)
    assert asked == [(game, 2)] * 2


def test_a_cpu_that_nothing_moves_for_is_moved_for(asked: list[tuple[str, int]]) -> None:
    """No worker for a minute: the sweeper places something, and the game goes on."""
    (person,) = registered(1)
    past = now_ms() - CPU_LIMIT_MS
    players = [person, cpu_player("starter").pk]
    game = started(
        players, control=NO_CLOCK, rated=False, matched=False, levels=["", "starter"], now=past
    )
    commit_moves(game, 1, now=past)
    since = selectors.load_state(game).clock.since
    assert since is not None
    sweep(now=since + CPU_LIMIT_MS - 1)
    assert selectors.load_state(game).ply == 1
    assert asked == [(game, 2)]
    sweep(now=since + CPU_LIMIT_MS - 1 + CPU_PATIENCE_MS)
    state = assert_record_is_whole(game)
    assert [(played.seat, len(played.move.cells)) for played in state.plies[1:]] == [(1, 5)]
    assert state.position.seat_to_move == 0
    sweep(now=since + 3 * CPU_LIMIT_MS)
    assert selectors.load_state(game).ply == 2, "nobody moves for a person"


def test_a_move_while_the_sweeper_looks_keeps_its_earlier_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The sweeper says when to look next by a state that a person's move has made old: the move's look stands."""
    (person,) = registered(1)
    players = [person, cpu_player("starter").pk]
    past = now_ms() - IDLE_MS + 60_000
    game = started(
        players, control=NO_CLOCK, rated=False, matched=False, levels=["", "starter"], now=past
    )
    Game.objects.filter(id=game).update(wake_at=past)
    load_state = selectors.load_state

    def and_somebody_moves(game_id: str) -> st.GameState:
        state = load_state(game_id)
        monkeypatch.setattr(selectors, "load_state", load_state)
        commit_moves(game, 1, now=now_ms())
        return state

    wait(
        check_clock(game_id=game)
    )  # this process knows the game, so the sweeper's is the next reading
    monkeypatch.setattr(selectors, "load_state", and_somebody_moves)
    sweep(now=now_ms())
    wake_at = Game.objects.values_list("wake_at", flat=True).get(id=game)
    assert wake_at is not None
    assert wake_at <= now_ms() + CPU_PATIENCE_MS


def test_a_cpu_that_begins_is_asked_when_the_game_has_been_committed(
    asked: list[tuple[str, int]],
) -> None:
    (person,) = registered(1)
    players = [cpu_player("starter").pk, person]
    game = started(players, control=NO_CLOCK, rated=False, matched=False, levels=["starter", ""])
    assert asked == [(game, 1)]


def test_nobody_is_asked_while_a_person_is_to_move(asked: list[tuple[str, int]]) -> None:
    (person,) = registered(1)
    players = [person, cpu_player("starter").pk]
    started(players, control=NO_CLOCK, rated=False, matched=False, levels=["", "starter"])
    sweep(now=now_ms() + CPU_PATIENCE_MS)
    assert asked == []


def test_a_game_that_cannot_be_read_does_not_stop_the_others() -> None:
    past = now_ms() - 600_000
    games = [started(registered(2, f"P{number}x"), now=past + number) for number in range(3)]
    Event.objects.filter(game=games[0]).update(payload='{"type":"nonsense"}')
    sweep(now=now_ms())
    assert [Game.objects.get(id=game).status for game in games] == ["started", "aborted", "aborted"]


def test_games_that_cannot_be_read_do_not_crowd_out_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A round looks at a bounded number of games: those that fail again and again may not fill it for ever."""
    from games.territory.services import sweep as module

    monkeypatch.setattr(module, "LIMIT", 2)
    past = now_ms() - 600_000
    games = [started(registered(2, f"P{number}x"), now=past + number) for number in range(4)]
    Event.objects.filter(game__in=games[:2]).update(payload='{"type":"nonsense"}')
    for _ in range(3):
        sweep(now=now_ms())
    assert [Game.objects.get(id=game).status for game in games[2:]] == ["aborted", "aborted"]


def test_sweepers_at_once() -> None:
    """Eight sweepers and twenty games: each ends once and is settled once."""
    past = now_ms() - 600_000
    games = [started(registered(2, f"P{number}x"), now=past + number) for number in range(20)]
    for game in games[::2]:
        commit_moves(game, 2, now=past + 1_000)
    assert not [
        r for r in at_once(8, lambda _: sweep(now=now_ms())) if isinstance(r, BaseException)
    ]
    later = now_ms() + SETTLE_GRACE_MS
    assert not [r for r in at_once(8, lambda _: sweep(now=later)) if isinstance(r, BaseException)]
    for game in games:
        state = assert_record_is_whole(game)
        assert state.is_over
        assert (state.ratings is not None) == (game in games[::2])
    assert LedgerRow.objects.count() == 20
    assert not Game.objects.filter(settled_at=None).exists()


def test_the_command_does_one_round(capsys: pytest.CaptureFixture[str]) -> None:
    started(registered(2), now=now_ms() - 600_000)
    call_command("sweeper", "--once")
    assert capsys.readouterr().out == (
        "looked at 1 games, settled 0, closed 0 attempts at daily puzzles, "
        "brought 0 players back onto the leaderboards\n"
    )


def test_with_four_seats_a_timeout_is_not_the_end() -> None:
    past = now_ms() - 300_000
    game = started(registered(4), variant="classic", now=past)
    commit_moves(game, 6, now=past + 1_000)
    sweep(now=now_ms())
    state = assert_record_is_whole(game)
    assert [(seat, reason.value) for seat, reason in state.leavers] == [(2, "timeout")]
    assert not state.is_over
    assert state.position.seat_to_move == 3
    commit(game, de.Resign(3), now_ms())

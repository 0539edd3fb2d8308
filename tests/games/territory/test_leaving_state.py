"""Clocks at their edges, and who leaves a game and comes back, as data."""

import pytest
from hypothesis import given
from hypothesis import strategies as hyp

from bots.levels import LEVELS
from common.clock import rfc3339
from common.errors import KadoError
from games.territory import decide as de
from games.territory import events as ev
from games.territory import lag, leaving
from games.territory import state as st
from games.territory.decide import CheckClock, PlayMove, Resign
from games.territory.leaving import Abort, Claim, GiveTime, Return
from games.territory.record import record_of
from games.territory.rules import Speed, TimeControl
from games.territory.state import FIRST_MOVE_MS, GameState
from tests.games.territory.support import (
    BLITZ,
    DAYS,
    NOW,
    a_move,
    accepted,
    after_moves,
    begin,
    begin_alone,
    next_move,
    view,
)

THEN = NOW + 30_000
AWAY = leaving.AWAY_MS[Speed.BLITZ]


def refusal(state: GameState, command: de.Command, now: int) -> KadoError:
    decision = accepted(state, command, now)
    assert decision.events == ()
    assert decision.refusal is not None
    return decision.refusal


def claim(seat: int, away: int, result: leaving.Result, away_ms: int | None = AWAY) -> Claim:
    """A claim at `THEN` against somebody who has been away for so long."""
    return Claim(seat, away, result, None if away_ms is None else THEN - away_ms)


def lagging(state: GameState, lag_ms: int) -> PlayMove:
    seat = state.position.seat_to_move
    assert seat is not None
    return PlayMove(seat, state.ply, a_move(state), lag_ms=lag_ms)


# Lag


@given(
    measured=hyp.integers(-(10**6), 10**6),
    account=hyp.integers(0, lag.ACCOUNT_MS),
    passed=hyp.integers(-(10**6), 10**6),
)
def test_lag_is_bounded_by_everything(measured: int, account: int, passed: int) -> None:
    given_ms = lag.compensation(measured, account, passed)
    assert 0 <= given_ms <= max(0, min(measured, lag.MOST_MS, account, passed))
    assert 0 <= lag.account_after(account, given_ms) <= lag.ACCOUNT_MS


def test_a_move_is_given_its_way_and_the_next_clock_runs_from_its_arrival() -> None:
    state = after_moves(begin(), 2)
    since, arrival = NOW + 2_000, NOW + 7_000
    (played,) = accepted(state, lagging(state, 120), arrival).events
    assert isinstance(played, ev.MovePlayed)
    assert played.lag_ms == 120
    assert played.turn is not None
    left = state.clock.left_ms
    assert played.turn.clocks_ms == [left[0] - (arrival - 120 - since) + 2_000, left[1]]
    after = accepted(state, lagging(state, 120), arrival).state
    assert after.clock.since == arrival


def test_lag_never_gives_more_than_the_time_that_passed() -> None:
    state = after_moves(begin(), 2)
    (played,) = accepted(state, lagging(state, 250), NOW + 2_000 + 40).events
    assert isinstance(played, ev.MovePlayed)
    assert played.lag_ms == 40


def test_who_always_lags_empties_the_account() -> None:
    account, gains = lag.ACCOUNT_MS, []
    for _ in range(60):
        gains.append(lag.compensation(10**6, account, 10**6))
        account = lag.account_after(account, gains[-1])
    assert gains[0] == lag.MOST_MS
    assert gains[-1] == lag.EARNED_MS
    assert sum(gains) <= lag.ACCOUNT_MS + lag.EARNED_MS * len(gains)


def test_each_seat_has_an_account_of_its_own() -> None:
    state, now, gains = after_moves(begin(), 2), NOW + 2_000, []
    for _ in range(26):
        now += 1_000
        (played, *_) = accepted(state, lagging(state, 10**6), now).events
        assert isinstance(played, ev.MovePlayed)
        gains.append(played.lag_ms)
        state = accepted(state, lagging(state, 10**6 * (played.seat == 0)), now).state
    assert min(gains[1::2]) == lag.MOST_MS
    assert gains[24] == lag.ACCOUNT_MS - 12 * (lag.MOST_MS - lag.EARNED_MS)


@pytest.mark.parametrize("control", [DAYS, TimeControl.none()])
def test_only_realtime_knows_lag(control: TimeControl) -> None:
    state = after_moves(begin("duo", control), 2)
    (played, *_) = accepted(state, lagging(state, 200), NOW + 50_000).events
    assert isinstance(played, ev.MovePlayed)
    assert played.lag_ms == 0


@pytest.mark.parametrize("moves", [1, 4])
@pytest.mark.parametrize("late_ms", [-1, 0, 1, 149, 150, 151, 299, 300, 301])
@pytest.mark.parametrize("lag_ms", [0, 150, 10**6])
def test_at_the_deadline_a_move_or_the_end_never_both_never_neither(
    moves: int, late_ms: int, lag_ms: int
) -> None:
    state = after_moves(begin(), moves)
    assert state.deadline is not None
    now = state.deadline + late_ms
    in_time = late_ms < min(lag_ms, lag.MOST_MS)
    decision = accepted(state, lagging(state, lag_ms), now)
    if in_time or late_ms < 0:
        assert decision.refusal is None
        assert isinstance(decision.events[0], ev.MovePlayed)
    else:
        assert decision.refusal is not None
        assert decision.refusal.code == "too-late"
        assert decision.state.is_over
    # The sweeper ends the turn only when no such move can come any more.
    swept = accepted(state, CheckClock(), now)
    assert bool(swept.events) == (late_ms >= lag.MOST_MS)
    assert not (swept.events and decision.refusal is None)


def test_who_resigns_while_a_last_move_may_be_on_its_way_resigns() -> None:
    state = after_moves(begin(), 4)
    assert state.deadline is not None
    assert state.clock.running == 0
    (left, finished) = accepted(state, Resign(1), state.deadline + 100).events
    assert isinstance(left, ev.SeatLeft)
    assert (left.seat, left.reason) == (1, "resigned")
    (left, finished) = accepted(state, Resign(1), state.deadline + lag.MOST_MS).events[:2]
    assert isinstance(left, ev.SeatLeft)
    assert (left.seat, left.reason) == (0, "timeout")
    assert isinstance(finished, ev.GameFinished)


# Outages


def test_an_outage_gives_every_seat_the_same_once() -> None:
    state = after_moves(begin(), 5)
    before, since = state.clock.left_ms, NOW + 5_000
    outage = GiveTime(1, since + 3_000, since + 33_000)
    decision = accepted(state, outage, since + 34_000)
    (event,) = decision.events
    assert isinstance(event, ev.TimeGiven)
    assert (event.outage, event.ms) == (1, 30_000)
    assert event.turn.clocks_ms == [before[0] + 30_000, before[1] + 30_000 - 34_000]
    assert decision.state.deadline == (state.deadline or 0) + 30_000
    assert accepted(decision.state, outage, since + 34_000).events == ()
    again = accepted(decision.state, GiveTime(2, since + 40_000, since + 41_000), since + 42_000)
    assert [type(each) for each in again.events] == [ev.TimeGiven]


def test_time_comes_back_also_after_the_deadline_has_passed_meanwhile() -> None:
    state = after_moves(begin(), 4)
    assert state.deadline is not None
    began, ended = state.deadline - 1_000, state.deadline + 60_000
    after = accepted(state, GiveTime(1, began, ended), ended + 500).state
    assert after.deadline == state.deadline + 61_000
    assert accepted(after, CheckClock(), ended + 501).events == ()


def test_a_first_move_has_its_whole_bound_again() -> None:
    state = begin()
    after = accepted(state, GiveTime(1, NOW + 1_000, NOW + 60_000), NOW + 61_000).state
    assert after.deadline == NOW + 61_000 + FIRST_MOVE_MS


def test_a_game_that_began_in_an_outage_gets_its_own_part() -> None:
    (event,) = accepted(begin(), GiveTime(1, NOW - 60_000, NOW + 2_000), NOW + 3_000).events
    assert isinstance(event, ev.TimeGiven)
    assert event.ms == 2_000
    assert accepted(begin(), GiveTime(1, NOW - 60_000, NOW), NOW + 3_000).events == ()


def test_a_long_outage_ends_the_game_for_everybody_alike() -> None:
    state = after_moves(begin(), 5)
    longest = GiveTime(1, NOW + 6_000, NOW + 6_000 + leaving.LONG_OUTAGE_MS)
    assert not accepted(state, longest, longest.ended).state.is_over
    told, finished = accepted(
        state, GiveTime(1, longest.began, longest.ended + 1), longest.ended + 9
    ).events
    assert isinstance(told, ev.TimeGiven)
    assert told.ms == 0
    assert isinstance(finished, ev.GameFinished)
    assert (finished.outcome.termination, finished.outcome.by) == ("aborted", None)


@pytest.mark.parametrize("control", [DAYS, TimeControl.none()])
def test_days_are_not_given_back(control: TimeControl) -> None:
    state = after_moves(begin("duo", control), 2)
    assert accepted(state, GiveTime(1, NOW, NOW + 60_000), NOW + 61_000).events == ()


# Claims of two


@pytest.mark.parametrize(
    ("result", "termination", "ranks", "rating"),
    [("win", "abandoned", [1, 2], "loss"), ("draw", "drawn", [1, 1], "draw")],
)
def test_a_win_or_a_draw_is_claimed_from_who_went_away(
    result: leaving.Result, termination: str, ranks: list[int], rating: str
) -> None:
    state = after_moves(begin(), 3)
    decision = accepted(state, claim(0, 1, result), THEN)
    claimed, left, finished = decision.events
    assert claimed == ev.SeatClaimed(1, 0, result, AWAY, None, rating)  # type: ignore[arg-type]
    assert isinstance(left, ev.SeatLeft)
    assert (left.seat, left.reason) == (1, termination)
    assert isinstance(finished, ev.GameFinished)
    assert finished.outcome.termination == termination
    assert [seat.rank for seat in finished.outcome.seats] == ranks
    assert refusal(decision.state, claim(0, 1, result), THEN + 1).code == "game-over"


@pytest.mark.parametrize("away_ms", [None, 0, AWAY - 1])
def test_who_is_there_or_was_a_moment_ago_loses_nothing(away_ms: int | None) -> None:
    state = after_moves(begin(), 3)
    error = refusal(state, claim(0, 1, "win", away_ms), THEN)
    assert error.code == "opponent-present"
    assert (error.data["claimable_at"] is None) == (away_ms is None)


def test_only_a_connection_that_ended_in_the_game_counts_and_no_earlier_than_the_last_move() -> (
    None
):
    state = after_moves(begin(), 4)
    moved = NOW + 4_000
    before = Claim(0, 1, "win", NOW - 1)
    assert refusal(state, before, NOW + 90_000).data["claimable_at"] is None
    early = Claim(0, 1, "win", NOW + 10)
    error = refusal(state, early, moved + AWAY - 1)
    assert error.data["claimable_at"] == rfc3339(moved + AWAY)
    assert accepted(state, early, moved + AWAY).state.is_over


def test_what_can_never_be_claimed() -> None:
    cases: list[tuple[GameState, Claim]] = [
        (after_moves(begin(), 3), claim(0, 0, "win")),
        (after_moves(begin(), 3), claim(0, 1, "cpu")),
        (after_moves(begin("classic"), 5), claim(0, 1, "win")),
        (after_moves(begin("classic"), 5), claim(0, 1, "draw")),
        (after_moves(begin("duo", DAYS), 3), claim(0, 1, "win", 10**9)),
        (after_moves(begin("duo", TimeControl.none()), 3), claim(0, 1, "win", 10**9)),
        (after_moves(begin(), 1), claim(0, 1, "win")),
        (after_moves(begin_alone("duo", BLITZ), 3), claim(0, 1, "win")),
        (after_moves(begin_alone("duo", BLITZ, cpus=[1]), 3), claim(0, 1, "win")),
    ]
    for state, command in cases:
        assert refusal(state, command, THEN).code == "claim-not-allowed"


def test_a_claim_after_the_time_is_up_is_the_time() -> None:
    state = after_moves(begin(), 4)
    assert state.expiry is not None
    decision = accepted(state, claim(1, 0, "draw"), state.expiry)
    assert decision.refusal is not None
    assert decision.refusal.code == "too-late"
    assert decision.state.outcome is not None
    assert decision.state.outcome.termination == "timeout"


# A CPU takes the seat


def replaced(seat: int = 2) -> GameState:
    state = after_moves(begin("classic"), 6)
    decision = accepted(state, claim(0, seat, "cpu"), THEN)
    assert decision.events == (
        ev.SeatClaimed(seat, 0, "cpu", AWAY, leaving.STAND_IN, "below-who-stays"),
    )
    return decision.state


def test_the_stated_level_is_one() -> None:
    assert leaving.STAND_IN in LEVELS


def test_with_more_seats_a_cpu_plays_on_and_everybody_sees_it() -> None:
    state = replaced()
    seen = view(state)
    assert [seat["level"] for seat in seen["seats"]] == [None, None, leaving.STAND_IN, None]
    assert seen["leavers"] == [{"seat": 2, "reason": "replaced"}]
    assert state.clock == after_moves(begin("classic"), 6).clock, "the running clock goes on"
    chosen = PlayMove(2, state.ply, a_move(state), chosen_at=state.version)
    (played,) = accepted(state, chosen, THEN + 1_000).events
    assert isinstance(played, ev.MovePlayed)
    assert refusal(state, claim(0, 2, "cpu"), THEN + 1_000).code == "claim-not-allowed"
    assert refusal(state, claim(2, 0, "cpu"), THEN + 1_000).code == "claim-not-allowed"


def test_the_player_comes_back_by_saying_so_or_by_a_move() -> None:
    state = replaced()
    back = accepted(state, Return(2), THEN + 1_000)
    assert back.events == (ev.SeatReturned(2),)
    assert refusal(back.state, Return(2), THEN + 1_001).code == "not-replaced"
    assert refusal(state, Return(1), THEN + 1_001).code == "not-replaced"
    moved = accepted(state, next_move(state), THEN + 1_000)
    assert [type(event) for event in moved.events] == [ev.SeatReturned, ev.MovePlayed]
    late = PlayMove(2, state.ply, a_move(state), chosen_at=state.version)
    decision = accepted(back.state, late, THEN + 2_000)
    assert decision.refusal is not None
    assert decision.refusal.code == "stale-ply", "what the CPU chose is for the seat that it had"


def played_out(state: GameState, now: int) -> tuple[GameState, list[tuple[ev.AnyEvent, int]]]:
    """To the end by moves; the seats that a CPU plays for by moves of the CPU."""
    log: list[tuple[ev.AnyEvent, int]] = []
    while not state.is_over:
        now += 100
        seat = state.position.seat_to_move
        assert seat is not None
        chosen_at = state.version if state.stand_in(seat) else None
        decision = accepted(state, PlayMove(seat, state.ply, a_move(state), chosen_at), now)
        log += [(event, now) for event in decision.events]
        state = decision.state
    return state, log


def log_of(state: GameState, count: int) -> list[tuple[ev.AnyEvent, int]]:
    """The first events of a game as `after_moves` makes it."""
    log: list[tuple[ev.AnyEvent, int]] = [(state.started, NOW)]
    for number in range(count):
        now = NOW + (number + 1) * 1_000
        decision = accepted(state, next_move(state), now)
        log += [(event, now) for event in decision.events]
        state = decision.state
    return log


@pytest.mark.parametrize("comes_back", [False, True])
def test_who_left_ranks_below_who_stayed_unless_back(comes_back: bool) -> None:
    log = log_of(begin("classic"), 6)
    state = st.restore(log)
    commands: list[de.Command] = [claim(0, 2, "cpu"), claim(3, 1, "cpu")]
    commands += [Return(2), Return(1)] if comes_back else []
    for command in commands:
        decision = accepted(state, command, THEN)
        log += [(event, THEN) for event in decision.events]
        state = decision.state
    state, rest = played_out(state, THEN)
    log += rest
    assert state.outcome is not None
    assert state.outcome.termination == "completed"
    ranks = [seat.rank for seat in state.outcome.seats]
    points = [seat.points for seat in state.outcome.seats]
    if comes_back:
        assert ranks == [1 + sum(other > mine for other in points) for mine in points]
    else:
        assert (ranks[2], ranks[1]) == (4, 3), "whoever left earlier ranks lower"
        assert {ranks[0], ranks[3]} in ({1, 2}, {1})
    record = record_of(log)
    found = record.replay().outcome
    assert found is not None
    assert list(found.ranks) == ranks
    assert found.termination == "completed"


def test_a_seat_that_a_cpu_plays_for_can_run_out_of_time_and_keeps_its_place() -> None:
    state = replaced(2)
    state = accepted(state, Resign(3), THEN + 1_000).state
    assert state.expiry is not None
    state = accepted(state, CheckClock(), state.expiry).state
    assert view(state)["leavers"] == [
        {"seat": 2, "reason": "timeout"},
        {"seat": 3, "reason": "resigned"},
    ]
    assert refusal(state, Return(2), THEN + 2_000).code == "not-replaced"


# Aborting


@pytest.mark.parametrize(("moves", "by"), [(0, 0), (0, 1), (1, 1)])
def test_who_has_not_moved_may_abort(moves: int, by: int) -> None:
    decision = accepted(after_moves(begin(), moves), Abort(by), NOW + 5_000)
    (finished,) = decision.events
    assert isinstance(finished, ev.GameFinished)
    assert finished.outcome.termination == "aborted"
    assert finished.outcome.by == by
    assert [seat.rank for seat in finished.outcome.seats] == [1, 1]


def test_after_the_first_move_or_with_more_seats_nobody_aborts() -> None:
    assert refusal(after_moves(begin(), 1), Abort(0), NOW + 5_000).code == "abort-not-allowed"
    assert refusal(begin("classic"), Abort(3), NOW + 5_000).code == "abort-not-allowed"


def test_who_does_not_move_in_time_is_answerable() -> None:
    state = after_moves(begin(), 1)
    assert state.expiry is not None
    (finished,) = accepted(state, CheckClock(), state.expiry).events
    assert isinstance(finished, ev.GameFinished)
    assert finished.outcome.by == 1


# Vacation


def on_vacation(state: GameState, seat: int, now: int) -> GameState:
    decision = accepted(state, leaving.Vacation(seat, now + 10**9), now)
    (event,) = decision.events
    assert isinstance(event, ev.VacationBegan)
    assert accepted(decision.state, leaving.Vacation(seat, now + 10**9), now).events == ()
    return decision.state


def test_the_time_stands_and_runs_on_from_where_it_stood() -> None:
    state = after_moves(begin("duo", DAYS), 3)
    assert state.clock.running == 1
    assert state.deadline is not None
    left = state.deadline - (NOW + 50_000)
    away = on_vacation(state, 1, NOW + 50_000)
    assert away.deadline is None
    assert away.earliest_deadline(NOW + 60_000) is None
    turn = st.turn_of(away)
    assert turn is not None
    assert turn.deadline is None
    assert turn.clocks_ms == [DAYS.initial_ms, left]
    assert accepted(away, CheckClock(), NOW + 10**12).events == ()
    back = accepted(away, leaving.Vacation(1, None), NOW + 10**10)
    assert [type(event) for event in back.events] == [ev.VacationEnded]
    assert back.state.deadline == NOW + 10**10 + left
    assert accepted(back.state, leaving.Vacation(1, None), NOW + 10**10).events == ()


def test_the_turn_that_comes_meanwhile_waits_and_the_others_time_runs() -> None:
    away = on_vacation(after_moves(begin("duo", DAYS), 3), 0, NOW + 4_000)
    assert away.deadline is not None, "it is the other one's turn"
    moved = accepted(away, next_move(away), NOW + 5_000).state
    assert moved.deadline is None
    again = accepted(moved, next_move(moved), NOW + 10**10).state
    assert again.clock.running == 1
    assert again.deadline == NOW + 10**10 + DAYS.initial_ms, "a move on vacation is one"
    assert view(again)["vacations"] == [0]


@pytest.mark.parametrize("delta", [-1, 0, 1])
def test_vacation_at_the_deadline_is_one_or_the_other(delta: int) -> None:
    state = after_moves(begin("duo", DAYS), 3)
    assert state.deadline is not None
    decision = accepted(state, leaving.Vacation(1, 10**14), state.deadline + delta)
    assert decision.state.is_over == (delta >= 0)
    assert (1 in decision.state.vacations) == (delta < 0)


@pytest.mark.parametrize("control", [BLITZ, TimeControl.none()])
def test_only_correspondence_knows_vacation(control: TimeControl) -> None:
    state = after_moves(begin("duo", control), 3)
    assert accepted(state, leaving.Vacation(0, 10**14), NOW + 4_000).events == ()

"""The whole game as data: every command, every event, every boundary of the clock, and whole games at random."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as hyp

from common.clock import rfc3339
from common.errors import KadoError
from games.territory import decide as de
from games.territory import events as ev
from games.territory import state as st
from games.territory.decide import CheckClock, Decision, PlayMove, Resign
from games.territory.record import record_of
from games.territory.rules import (
    VARIANTS,
    Record,
    Termination,
    TimeControl,
    read_json,
    read_sgf,
    write_json,
    write_sgf,
)
from games.territory.state import FIRST_MOVE_MS, IDLE_MS, GameState
from tests.games.territory.support import (
    BLITZ,
    DAYS,
    NO_CLOCK,
    NOW,
    a_move,
    accepted,
    after_moves,
    assert_consistent,
    begin,
    next_move,
    view,
)

CONTROLS = [
    BLITZ,
    DAYS,
    NO_CLOCK,
    TimeControl.realtime(5_000),
    TimeControl.realtime(600_000, 10_000),
]
SEEDS = hyp.integers(0, 2**32 - 1)
KEYS = sorted(VARIANTS)


def refusal(decision: Decision) -> KadoError:
    """The refusal of a decision that changes nothing."""
    assert decision.refusal is not None
    assert decision.events == ()
    return decision.refusal


def changed(command: PlayMove, **change: Any) -> PlayMove:
    said: dict[str, Any] = {"seat": command.seat, "ply": command.ply, "move": command.move}
    return PlayMove(**{**said, **change})


# Whole games


def story(key: str, control: TimeControl, seed: int) -> Iterator[tuple[GameState, Decision, int]]:
    """A game at random: moves, now and then a resignation or a time that is up, until it is over and rated.

    Gives each state with what was decided on it, and when.
    """
    chance = random.Random(seed)
    state, now = begin(key, control), NOW
    while not state.is_over:
        now += chance.choice([0, 1, 40, 900, 1_500])
        luck = chance.random()
        command: de.Command = next_move(state, chance)
        if luck < 0.01:
            command = Resign(chance.randrange(state.position.variant.seats))
        elif luck < 0.02 and state.deadline is not None:
            now, command = state.deadline + chance.randrange(3), CheckClock()
        decision = de.decide(state, command, now)
        yield state, decision, now
        state = decision.state
    rated = ev.GameRated([ev.RatingData(0, "1500?", "1600?", 1500.0, 1600.5, 500.0, 470.25)])
    yield state, Decision(st.fold(state, [(rated, now)]), (rated,), version=state.version + 1), now


@pytest.mark.parametrize("key", KEYS)
@settings(deadline=None, max_examples=8)
@given(seed=SEEDS, control=hyp.sampled_from(CONTROLS))
def test_whole_games_fold_to_what_was_decided(key: str, seed: int, control: TimeControl) -> None:
    log: list[tuple[ev.AnyEvent, int]] = [(begin(key, control).started, NOW)]
    state = begin(key, control)
    for before, decision, now in story(key, control, seed):
        assert before == state
        assert_consistent(before, decision, now)
        log += [(ev.decode(ev.encode(event)), now) for event in decision.events]
        state = decision.state
    assert st.restore(log) == state
    assert state.is_over
    assert_record_tells_all(record_of(log), state)
    for cut in range(1, len(log)):  # any process may have stopped listening anywhere
        if cut % 7 == 0:
            assert st.fold(st.restore(log[:cut]), log[cut:]) == state


def assert_record_tells_all(record: Record, state: GameState) -> None:
    """The record of a game has its moves, who left, and its outcome, and so it has after a journey as JSON or SGF."""
    assert read_json(write_json(record)) == record
    bare = [replace(node, at=None) for node in record.nodes]
    assert read_sgf(write_sgf(record)) == replace(record, nodes=tuple(bare))
    replay = record.replay()
    made = [record.nodes[number] for number in replay.plies()]
    assert [(n.colour, n.move) for n in made] == [(p.colour, p.move) for p in state.plies]
    assert [left for node in record.nodes for left in node.left] == list(state.leavers)
    assert record.nodes[0].at == NOW
    assert [node.at for node in record.nodes] == sorted(node.at or 0 for node in record.nodes)
    found = replay.outcome
    assert found is not None
    assert state.outcome is not None
    assert found.termination == state.outcome.termination
    seats = zip(found.points, found.penalty_points, found.ranks, strict=True)
    assert list(seats) == [(s.points, s.penalty_points, s.rank) for s in state.outcome.seats]


def test_every_kind_of_event_occurs_in_those_games() -> None:
    seen: set[type[ev.AnyEvent]] = {ev.GameStarted}
    terminations: set[str] = set()
    skips = 0
    for seed in range(60):
        key = KEYS[seed % len(KEYS)]
        for _, decision, _ in story(key, CONTROLS[seed % 3], seed):
            seen |= {type(event) for event in decision.events}
            skips += sum(bool(getattr(event, "skipped", ())) for event in decision.events)
            if decision.state.outcome is not None:
                terminations.add(decision.state.outcome.termination)
    # Not in rated games; test_undo_state.py and test_undo_rule.py have them.
    undone = {ev.MovesUndone, ev.UndoAsked, ev.UndoAnswered}
    assert seen == set(ev.AnyEvent.__args__) - undone
    assert terminations == {"completed", "resigned", "timeout", "aborted"}
    assert skips > 20


# What a move does


def test_a_move_names_its_ply_its_points_and_the_next_turn() -> None:
    state = begin("duo", BLITZ)
    move = a_move(state)
    decision = accepted(state, PlayMove(0, 0, move), NOW + 700)
    (played,) = decision.events
    assert isinstance(played, ev.MovePlayed)
    assert (played.ply, played.colour, played.seat, played.move) == (0, "blue", 0, move)
    assert played.points == move.count(",") + 1
    assert played.skipped == []
    assert played.turn == ev.Turn(
        ply=1,
        colour="orange",
        seat=1,
        clocks_ms=[120_000 - 700 + 2_000, 120_000],
        deadline=rfc3339(NOW + 700 + FIRST_MOVE_MS),
    )
    assert decision.version == 2


def test_after_the_first_moves_the_deadline_is_the_clock() -> None:
    state = after_moves(begin("duo", BLITZ), 2)
    turn = st.turn_of(state)
    assert turn == ev.Turn(2, "blue", 0, [121_000, 121_000], rfc3339(NOW + 2_000 + 121_000))


def test_a_game_without_clocks_shows_neither_clocks_nor_a_deadline() -> None:
    state = begin("duo", NO_CLOCK)
    assert state.started.turn == ev.Turn(0, "blue", 0, None, None)
    assert state.deadline == NOW + IDLE_MS


def test_correspondence_gives_the_whole_time_for_every_move() -> None:
    state = after_moves(begin("duo", DAYS), 3, every=3_600_000)
    turn = st.turn_of(state)
    assert turn is not None
    assert turn.clocks_ms == [DAYS.initial_ms, DAYS.initial_ms]
    assert state.deadline == NOW + 3 * 3_600_000 + DAYS.initial_ms


def test_the_text_of_a_move_is_made_canonical() -> None:
    state = begin()
    cells = a_move(state).split(",")
    shuffled = " , ".join(cell.upper() for cell in reversed(cells))
    (played,) = accepted(state, PlayMove(0, 0, shuffled), NOW + 1).events
    assert isinstance(played, ev.MovePlayed)
    assert played.move == ",".join(cells)


# Saying it twice


def test_an_accepted_move_said_again_gets_the_first_version() -> None:
    first = begin()
    command = next_move(first)
    state = accepted(first, command, NOW + 1).state
    state = after_moves(state, 3, now=NOW + 1_000)
    again = accepted(state, command, NOW + 9_000)
    assert (again.events, again.refusal, again.version, again.state) == ((), None, 2, state)
    cells = ",".join(reversed(command.move.split(","))).upper()
    assert accepted(state, changed(command, move=cells), NOW + 9_000).version == 2


def test_and_so_it_does_after_the_end_and_when_the_time_is_up() -> None:
    first = begin()
    command = next_move(first)
    state = accepted(first, command, NOW + 1).state
    assert accepted(state, command, NOW + 10**9).version == 2
    over = accepted(state, Resign(1), NOW + 2).state
    assert over.is_over
    again = accepted(over, command, NOW + 3)
    assert (again.version, again.refusal) == (2, None)


@pytest.mark.parametrize(
    "change",
    [
        {"seat": 1},
        {"move": "a1"},
        {"move": "nonsense"},
        {"move": ""},
        {"ply": 5},
        {"ply": 4},
        {"ply": -1},
        {"ply": -2},
    ],
)
def test_what_is_not_the_same_move_is_stale(change: dict[str, Any]) -> None:
    first = begin()
    command = next_move(first)
    state = after_moves(accepted(first, command, NOW + 1).state, 2)
    assert state.ply == 3
    error = refusal(accepted(state, changed(command, **change), NOW + 5_000))
    assert error.code == "stale-ply"
    assert error.data == {"version": state.version, "ply": 3}


# Refusals


def test_refusals_have_their_codes_and_change_nothing() -> None:
    state = after_moves(begin(), 2)
    told: dict[str, tuple[str, object]] = {}
    for name, command in {
        "other seat": PlayMove(1, 2, a_move(state)),
        "later ply": PlayMove(0, 3, a_move(state)),
        "not cells": PlayMove(0, 2, "e10;f10"),
        "empty": PlayMove(0, 2, ""),
        "long": PlayMove(0, 2, "a1," * 400),
        "unicode": PlayMove(0, 2, "ｅ１０,ｆ１０"),
        "nul": PlayMove(0, 2, "a1\x00"),
        "twice a cell": PlayMove(0, 2, "a1,a1"),
        "outside": PlayMove(0, 2, "z99"),
        "no piece": PlayMove(0, 2, "a1,c3"),
        "occupied": PlayMove(0, 2, state.plies[1].move.text),
        "no contact": PlayMove(0, 2, "m14,n14"),
    }.items():
        decision = accepted(state, command, NOW + 3_000)
        assert decision.state is state
        error = refusal(decision)
        assert error.data["version"] == state.version
        told[name] = (error.code, error.data.get("reason"))
    assert told == {
        "other seat": ("not-your-turn", None),
        "later ply": ("stale-ply", None),
        "not cells": ("malformed-move", None),
        "empty": ("malformed-move", None),
        "long": ("malformed-move", None),
        "unicode": ("malformed-move", None),
        "nul": ("malformed-move", None),
        "twice a cell": ("malformed-move", None),
        "outside": ("illegal-move", "outside-board"),
        "no piece": ("illegal-move", "not-a-piece"),
        "occupied": ("illegal-move", told["occupied"][1]),
        "no contact": ("illegal-move", "no-corner-contact"),
    }
    assert told["occupied"][1] in ("occupied", "piece-not-left")


def test_a_game_that_is_over_takes_nothing() -> None:
    over = accepted(after_moves(begin(), 2), Resign(1), NOW + 3_000).state
    for command in (PlayMove(0, 2, "a1"), PlayMove(0, 9, "a1"), Resign(0), Resign(1)):
        decision = accepted(over, command, NOW + 10**9)
        assert refusal(decision).code == "game-over"
        assert refusal(decision).data["version"] == over.version
    nothing = accepted(over, CheckClock(), NOW + 10**12)
    assert (nothing.events, nothing.refusal) == ((), None)


# Time


def boundary(control: TimeControl, moves: int) -> GameState:
    state = after_moves(begin("duo", control), moves)
    assert state.deadline is not None
    return state


@pytest.mark.parametrize(
    ("control", "moves", "ends"),
    [
        (BLITZ, 4, "timeout"),
        (DAYS, 2, "timeout"),
        (BLITZ, 0, "aborted"),
        (BLITZ, 1, "aborted"),
        (DAYS, 1, "aborted"),
        (NO_CLOCK, 0, "aborted"),
        (NO_CLOCK, 5, "aborted"),
        (TimeControl.realtime(5_000), 0, "aborted"),
        (TimeControl.realtime(5_000), 2, "timeout"),
    ],
)
@pytest.mark.parametrize("delta", [-1, 0, 1, 10**7])
def test_a_move_or_a_timeout_never_both_never_neither(
    control: TimeControl, moves: int, ends: str, delta: int
) -> None:
    state = boundary(control, moves)
    assert state.deadline is not None
    now = state.deadline + delta
    moved = accepted(state, next_move(state), now)
    checked = accepted(state, CheckClock(), now)
    resigned = accepted(state, Resign(0), now)
    if delta < 0:
        assert moved.refusal is None
        assert isinstance(moved.events[0], ev.MovePlayed)
        assert (checked.events, checked.refusal) == ((), None)
        assert isinstance(resigned.events[0], ev.SeatLeft)
        return
    assert moved.refusal is not None
    assert moved.refusal.code == "too-late"
    assert not any(isinstance(event, ev.MovePlayed) for event in moved.events)
    assert moved.events == checked.events == resigned.events
    outcome = checked.state.outcome
    assert outcome is not None
    assert outcome.termination == ends
    if ends == "timeout":
        assert outcome.seats[state.position.seat_to_move or 0].rank == 2
    else:
        assert [seat.rank for seat in outcome.seats] == [1, 1]
        assert len(checked.events) == 1
        assert view(checked.state)["status"] == "aborted"


def test_the_first_move_has_a_bound_of_its_own_in_realtime_only() -> None:
    assert begin("duo", BLITZ).deadline == NOW + FIRST_MOVE_MS
    assert begin("duo", TimeControl.realtime(5_000)).deadline == NOW + 5_000
    assert begin("duo", DAYS).deadline == NOW + DAYS.initial_ms
    assert begin("duo", NO_CLOCK).deadline == NOW + IDLE_MS


def test_final_clocks_are_those_at_the_end() -> None:
    state = after_moves(begin("duo", BLITZ), 4)
    assert state.deadline is not None
    end = accepted(state, CheckClock(), state.deadline + 5).events[-1]
    assert isinstance(end, ev.GameFinished)
    assert end.clocks_ms == [0, 120_000 + 2 * 1_000]
    end = accepted(state, Resign(1), NOW + 4_000 + 500).events[-1]
    assert isinstance(end, ev.GameFinished)
    assert end.clocks_ms == [120_000 + 2 * 1_000 - 500, 120_000 + 2 * 1_000]


def test_a_clock_of_another_machine_that_is_behind_gives_no_time() -> None:
    state = after_moves(begin("duo", BLITZ), 2)
    after = accepted(state, next_move(state), NOW - 60_000).state
    turn = st.turn_of(after)
    assert turn is not None
    assert turn.clocks_ms == [123_000, 121_000]


# Leaving


def test_with_four_seats_the_others_play_on() -> None:
    state = after_moves(begin("classic", BLITZ), 5)
    assert state.position.seat_to_move == 1
    left = accepted(state, Resign(3), NOW + 6_000)
    (event,) = left.events
    assert event == ev.SeatLeft(3, "resigned", [], st.turn_of(state))
    assert left.state.clock == state.clock, "the running clock does not notice"
    assert refusal(accepted(left.state, Resign(3), NOW + 6_100)).code == "game-over"
    out = accepted(left.state, CheckClock(), left.state.deadline or 0)
    (event,) = out.events
    assert isinstance(event, ev.SeatLeft)
    assert (event.seat, event.reason) == (1, "timeout")
    assert event.turn is not None
    assert (event.turn.seat, event.turn.ply) == (2, 5)
    assert not out.state.is_over
    done = accepted(out.state, Resign(0), (left.state.deadline or 0) + 1)
    assert [type(event) for event in done.events] == [ev.SeatLeft, ev.GameFinished]
    assert done.state.outcome is not None
    assert [seat.rank for seat in done.state.outcome.seats] == [2, 3, 1, 4]
    assert done.state.leavers == (
        (3, Termination.RESIGNED),
        (1, Termination.TIMEOUT),
        (0, Termination.RESIGNED),
    )


def test_who_left_is_passed_over() -> None:
    state = after_moves(begin("classic", BLITZ), 4)
    state = accepted(state, Resign(1), NOW + 5_000).state
    state = accepted(state, next_move(state), NOW + 6_000).state
    assert state.position.seat_to_move == 2


def test_the_shared_colour_is_played_by_whoever_is_left() -> None:
    state = after_moves(begin("classic-3", BLITZ), 3)
    assert state.position.seat_to_move == 0
    assert state.position.turn == 3
    left = accepted(state, Resign(0), NOW + 4_000)
    assert left.state.position.turn == 3
    assert left.state.position.seat_to_move == 1
    assert left.state.clock.running == 1


# When to look next


@settings(deadline=None, max_examples=60)
@given(
    seed=SEEDS,
    key=hyp.sampled_from(KEYS),
    control=hyp.sampled_from(CONTROLS),
    plan=hyp.lists(hyp.floats(0, 1), min_size=3, max_size=40),
)
def test_no_deadline_comes_before_the_earliest_one(
    seed: int, key: str, control: TimeControl, plan: list[float]
) -> None:
    """Whoever moves how fast, whoever leaves: no turn ends before the bound that was computed at any time before."""
    chance = random.Random(seed)
    state, now = begin(key, control), NOW
    bounds: list[int] = []
    for share in plan:
        if state.is_over:
            break
        assert state.deadline is not None
        bound = state.earliest_deadline(now)
        assert bound is not None
        assert now <= bound <= state.deadline
        bounds.append(bound)
        assert max(bounds) <= state.deadline
        luck = chance.random()
        spare = state.deadline - now - 1
        if luck < 0.05:
            command: de.Command = Resign(chance.randrange(state.position.variant.seats))
        elif luck < 0.1:
            now, command = state.deadline, CheckClock()
        else:
            now += int(spare * share**3)
            command = next_move(state, chance)
        state = de.decide(state, command, now).state


def test_a_seat_that_left_does_not_keep_the_sweeper_awake() -> None:
    """Its clock stands at nothing for the rest of the game: that is no deadline to come."""
    state = after_moves(begin("classic", BLITZ), 8)
    assert state.deadline is not None
    now = state.deadline
    state = accepted(state, CheckClock(), now).state
    assert not state.is_over
    assert 0 in state.clock.left_ms
    bound = state.earliest_deadline(now)
    assert bound is not None
    assert bound > now + 60_000


# What is read back


@pytest.mark.parametrize(
    "spoil", [lambda text: text[:-1], lambda text: text.replace("seat", "seet")]
)
def test_a_spoilt_event_is_noticed(spoil: Callable[[str], str]) -> None:
    state = begin()
    (event,) = accepted(state, next_move(state), NOW + 1).events
    with pytest.raises(ValueError, match=r"."):
        ev.decode(spoil(ev.encode(event)))


def test_a_game_starts_once() -> None:
    state = begin()
    with pytest.raises(ValueError, match="starts once"):
        st.fold(state, [(state.started, NOW)])

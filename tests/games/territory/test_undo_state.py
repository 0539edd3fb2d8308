"""Taking moves back, as data: how far, at what price, what is refused, and whole games with undos in them."""

import random
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hyp

from common.clock import rfc3339
from common.errors import KadoError
from games.territory import decide as de
from games.territory import events as ev
from games.territory import state as st
from games.territory.decide import CheckClock, Decision, PlayMove, Resign, Undo
from games.territory.record import record_of
from games.territory.rules import (
    VARIANTS,
    Record,
    TimeControl,
    read_json,
    read_sgf,
    write_json,
    write_sgf,
)
from games.territory.state import FIRST_MOVE_MS, MAX_UNDONE, GameState
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
    begin_alone,
    next_move,
    view,
)

SEEDS = hyp.integers(0, 2**32 - 1)
LONG = TimeControl.realtime(600_000, 10_000)
TABLES = [
    (key, cpus)
    for key, on in sorted(VARIANTS.items())
    for cpus in ((), (1,), tuple(range(1, on.seats)), tuple(range(on.seats - 1)))
]


def refusal(decision: Decision) -> KadoError:
    """The refusal of a decision that changes nothing."""
    assert decision.refusal is not None
    assert decision.events == ()
    return decision.refusal


def undone(state: GameState, now: int = NOW + 500_000) -> GameState:
    """The game after an undo, which is accepted."""
    decision = accepted(state, Undo(state.ply), now)
    assert decision.refusal is None
    assert [type(event) for event in decision.events] == [ev.MovesUndone]
    return decision.state


def played_out(state: GameState, seed: int = 1, now: int = NOW) -> GameState:
    chance = random.Random(seed)
    while not state.is_over:
        now += 10
        state = de.decide(state, next_move(state, chance), now).state
    return state


def board_of(state: GameState) -> object:
    """What an undo brings back: all of it but the version, the clocks, and that there were undos."""
    return (state.position, state.plies, state.leavers, state.floor, state.outcome, state.ratings)


# Whole games


def story(
    key: str, cpus: Collection[int], control: TimeControl, seed: int
) -> Iterator[tuple[GameState, Decision, int]]:
    """A game at random in which now and then moves are taken back, or a seat is given up, also after the end."""
    chance = random.Random(seed)
    state, now, ends = begin_alone(key, control, cpus), NOW, 0
    people = [seat.seat for seat in state.started.seats if seat.level is None]
    while not state.is_over or (ends := ends + 1) < 4:
        now += chance.choice([0, 1, 40, 900])
        luck = chance.random()
        if state.is_over or luck < 0.12:
            command: de.Command = Undo(state.ply)
        elif luck < 0.13:
            command = Resign(chance.choice(people))
        else:
            command = next_move(state, chance)
        decision = de.decide(state, command, now)
        yield state, decision, now
        state = decision.state


@pytest.mark.parametrize(("key", "cpus"), TABLES)
@settings(deadline=None, max_examples=4)
@given(seed=SEEDS, control=hyp.sampled_from([NO_CLOCK, DAYS, LONG]))
def test_whole_games_with_undos_fold_to_what_was_decided(
    key: str, cpus: Collection[int], seed: int, control: TimeControl
) -> None:
    state = begin_alone(key, control, cpus)
    log: list[tuple[ev.AnyEvent, int]] = [(state.started, NOW)]
    lines: list[list[str]] = []
    for before, decision, now in story(key, cpus, control, seed):
        assert before == state
        assert_consistent(before, decision, now)
        if any(isinstance(event, ev.MovesUndone) for event in decision.events):
            lines.append([played.move.text for played in before.plies])
        log += [(ev.decode(ev.encode(event)), now) for event in decision.events]
        state = decision.state
    assert st.restore(log) == state
    for cut in range(1, len(log), 9):  # any process may have stopped listening anywhere
        assert st.fold(st.restore(log[:cut]), log[cut:]) == state
    if state.is_over:
        assert_record_tells_all(record_of(log), state, lines)


def assert_record_tells_all(record: Record, state: GameState, lines: list[list[str]]) -> None:
    """The main line is what stands, and every line that was taken back is in the record, which survives its texts."""
    assert read_json(write_json(record)) == record
    bare = tuple(replace(node, at=None) for node in record.nodes)
    assert read_sgf(write_sgf(record)) == replace(record, nodes=bare)
    replay = record.replay()
    made = [record.nodes[number] for number in replay.plies()]
    assert [(n.colour, n.move) for n in made] == [(p.colour, p.move) for p in state.plies]
    assert [left for n in replay.line for left in record.nodes[n].left] == list(state.leavers)
    assert replay.outcome is not None
    assert state.outcome is not None
    assert [seat.rank for seat in state.outcome.seats] == list(replay.outcome.ranks)
    known = {tuple(line) for line in all_lines(record)}
    for line in lines:
        assert any(other[: len(line)] == tuple(line) for other in known)


def all_lines(record: Record) -> Iterator[list[str]]:
    """The moves from the beginning to every node that nothing follows."""
    lines: list[list[str]] = []
    for node, after in zip(record.nodes, record.followers(), strict=True):
        before = lines[node.parent] if node.parent >= 0 else []
        lines.append(before + ([node.move.text] if node.move else []))
        if not after:
            yield lines[-1]


def test_everything_that_can_happen_happens_in_those_games() -> None:
    """Undos after undos, after the end, with colours that are out or skipped, and those that are refused."""
    seen = Counter[str]()
    for seed in range(40):
        key, cpus = TABLES[seed % len(TABLES)]
        for before, decision, _ in story(key, cpus, NO_CLOCK, seed):
            if decision.refusal is not None:
                seen[decision.refusal.code] += 1
            if not any(isinstance(event, ev.MovesUndone) for event in decision.events):
                continue
            taken = before.plies[decision.state.ply :]
            seen["undone"] += 1
            seen["undone twice"] += bool(
                before.undone and before.undone[-1].version == before.version
            )
            seen["after the end"] += before.is_over
            seen["out no more"] += len(before.position.out) > len(decision.state.position.out)
            seen["out still"] += bool(decision.state.position.out)
            seen["after one left"] += bool(before.leavers)
            seen["several"] += len(taken) > 1
            seen["shared"] += any(before.position.variant.owners[p.colour] is None for p in taken)
    names = ("undone", "undone twice", "after the end", "out no more", "out still")
    assert min(seen[name] for name in (*names, "after one left", "several", "shared")) >= 3, seen
    assert seen["nothing-to-undo"] >= 3
    assert seen["game-over"] >= 3


def test_the_record_of_a_game_that_goes_on_ends_where_it_stands() -> None:
    state = begin_alone("duo")
    log: list[tuple[ev.AnyEvent, int]] = [(state.started, NOW)]
    for command in (PlayMove(0, 0, "e10"), PlayMove(1, 1, "j5"), Undo(2), Undo(1)):
        decision = accepted(state, command, NOW + 1_000)
        log += [(event, NOW + 1_000) for event in decision.events]
        record, state = record_of(log), decision.state
        assert len(record.main_line) == state.ply + 1
        assert record.result is None
    (event,) = accepted(state, PlayMove(0, 0, "e10,e11"), NOW + 2_000).events
    record = record_of([*log, (event, NOW + 2_000)])
    moves = [node.move.text for node in record.nodes if node.move]
    assert moves == ["e10,e11", "e10", "j5"]
    assert [node.parent for node in record.nodes] == [-1, 0, 0, 2]


# How far


@pytest.mark.parametrize(
    ("key", "cpus", "moves", "back"),
    [
        ("duo", (1,), 2, 0),  # the player's turn again: both moves go
        ("duo", (1,), 1, 0),  # while the CPU thinks: the player's own move goes
        ("duo", (1,), 5, 4),
        ("duo", (1,), 6, 4),
        ("duo", (0,), 2, 1),  # the CPU began
        ("duo", (0,), 3, 1),
        ("duo", (), 5, 4),  # on one device: one ply, whoever's
        ("classic", (1, 2, 3), 4, 0),
        ("classic", (1, 2, 3), 3, 0),
        ("classic", (2, 3), 4, 1),  # two seats are the player's: the latest of them
        ("classic", (2, 3), 5, 4),
        ("classic-2", (1,), 4, 2),  # seat 0 has two colours
        ("classic-3", (1, 2), 3, 0),
        ("classic-3", (1, 2), 4, 3),  # the shared colour's move was the player's
        ("classic-3", (1, 2), 8, 4),
    ],
)
def test_back_to_the_players_own_turn(
    key: str, cpus: tuple[int, ...], moves: int, back: int
) -> None:
    states = [begin_alone(key, cpus=cpus)]
    for _ in range(moves):
        states.append(after_moves(states[-1], 1, now=NOW + 1_000 * len(states)))
    state = undone(states[-1])
    assert state.ply == back
    assert board_of(state) == board_of(states[back])
    assert state.position.seat_to_move not in cpus
    assert state.version == states[-1].version + 1


def test_the_event_says_what_a_client_has_to_draw() -> None:
    state = after_moves(begin_alone("duo", cpus=(1,)), 2)
    (event,) = accepted(state, Undo(2), NOW + 9_000).events
    empty = view(begin_alone("duo", cpus=(1,)))
    assert msgspec.to_builtins(event) == {
        "type": "moves_undone",
        "ply": 0,
        "colours": empty["colours"],
        "turn": empty["turn"],
    }
    assert ev.is_undo(ev.encode(event))
    assert not ev.is_undo(ev.encode(state.started))


def test_undo_after_undo_to_the_beginning_and_forward_again() -> None:
    state = end = played_out(begin_alone("classic-3"))
    for ply in range(end.ply - 1, -1, -1):
        state = undone(state)
        assert state.ply == ply
    assert board_of(state) == board_of(begin_alone("classic-3"))
    assert refusal(accepted(state, Undo(0), NOW)).code == "nothing-to-undo"
    for played in end.plies:
        state = accepted(state, PlayMove(played.seat, state.ply, played.move.text), NOW).state
    assert state.position == end.position
    assert state.outcome == end.outcome
    assert state.version == 2 * end.version + len(end.plies) - 1


def test_a_game_that_moves_have_ended_goes_on() -> None:
    end = played_out(begin_alone("duo", cpus=(1,)))
    state = undone(end)
    assert view(end)["status"] == "finished"
    assert view(state)["status"] == "started"
    assert (state.outcome, view(state)["outcome"]) == (None, None)
    assert played_out(state, seed=7).is_over


def test_colours_that_were_out_play_again() -> None:
    end = played_out(begin_alone("duo"))
    assert end.position.out == {0, 1}
    state = undone(end)
    assert len(state.position.out) < 2
    while state.position.out:
        state = undone(state)
    assert [colour["out"] for colour in view(state)["colours"]] == [False, False]


# Seats that left


def test_who_left_stays_away_and_what_was_before_stands() -> None:
    state = after_moves(begin_alone("classic"), 6)
    state = accepted(state, Resign(3), NOW + 7_000).state
    assert refusal(accepted(state, Undo(6), NOW + 8_000)).code == "nothing-to-undo"
    later = after_moves(state, 2, now=NOW + 9_000)
    back = undone(undone(later))
    assert board_of(back) == board_of(state)
    assert refusal(accepted(back, Undo(6), NOW + 20_000)).code == "nothing-to-undo"


def test_what_others_went_on_to_play_can_be_taken_back_after_the_end() -> None:
    state = accepted(after_moves(begin_alone("classic"), 5), Resign(0), NOW + 6_000).state
    end = played_out(state, now=NOW + 7_000)
    assert end.outcome is not None
    assert end.outcome.termination == "completed"
    assert not undone(end).is_over


def test_a_game_that_ended_otherwise_stays_over() -> None:
    state = after_moves(begin_alone("duo", cpus=(1,)), 4)
    resigned = accepted(state, Resign(0), NOW + 5_000).state
    assert state.deadline is not None
    aborted = accepted(state, CheckClock(), state.expiry or 0).state
    for over in (resigned, aborted):
        assert not over.may_go_back
        error = refusal(accepted(over, Undo(4), NOW + 6_000))
        assert (error.code, error.data) == ("game-over", {"version": over.version})


# Refusals


def test_only_who_plays_alone_takes_back() -> None:
    alone = begin_alone("classic", cpus=(1, 2, 3)).started
    other = [*alone.seats[:3], msgspec.structs.replace(alone.seats[3], player="Ben", level=None)]
    for started in (
        begin("classic").started,
        begin("classic", rated=False).started,
        msgspec.structs.replace(alone, rated=True),
        msgspec.structs.replace(alone, seats=other),
    ):
        state = replace_started(after_moves(begin_alone("classic"), 3), started)
        assert not state.may_go_back
        assert refusal(accepted(state, Undo(3), NOW + 4_000)).code == "undo-not-allowed"


def replace_started(state: GameState, started: ev.GameStarted) -> GameState:
    return msgspec.structs.replace(state, started=started)


@pytest.mark.parametrize("ply", [-1, 0, 2, 4, 10**9])
def test_an_undo_for_another_ply_is_stale(ply: int) -> None:
    state = after_moves(begin_alone(), 3)
    error = refusal(accepted(state, Undo(ply), NOW + 4_000))
    assert (error.code, error.data) == ("stale-ply", {"version": state.version, "ply": 3})


def test_there_is_nothing_of_the_players_to_take_back() -> None:
    for state in (begin_alone(), begin_alone(cpus=(0,)), after_moves(begin_alone(cpus=(0,)), 1)):
        error = refusal(accepted(state, Undo(state.ply), NOW + 4_000))
        assert (error.code, error.data) == ("nothing-to-undo", {"version": state.version})


def test_an_undo_that_comes_too_late_ends_the_turn_like_a_move() -> None:
    state = after_moves(begin_alone("duo", LONG), 4)
    assert state.deadline is not None
    late = accepted(state, Undo(4), state.deadline)
    assert late.refusal is not None
    assert late.refusal.code == "too-late"
    assert late.events == accepted(state, CheckClock(), state.expiry or 0).events
    assert accepted(state, Undo(4), state.deadline - 1).refusal is None


def test_the_log_does_not_grow_without_bound() -> None:
    state = begin_alone("duo")
    for number in range(MAX_UNDONE):
        moved = de.decide(state, PlayMove(0, 0, "e10"), NOW + number).state
        state = de.decide(moved, Undo(1), NOW + number).state
    assert state.ply == 0
    state = after_moves(state, 1)
    assert refusal(accepted(state, Undo(1), NOW + 2_000)).code == "undo-not-allowed"
    assert accepted(state, next_move(state), NOW + 2_000).refusal is None


# Saying it twice, and what was chosen for another position


def test_an_undo_said_again_takes_nothing_more_back() -> None:
    state = undone(after_moves(begin_alone("duo", cpus=(1,)), 6))
    for later in (state, after_moves(state, 1, now=NOW + 600_000)):
        again = accepted(later, Undo(6), NOW + 700_000)
        assert (again.events, again.refusal, again.version) == ((), None, state.version)
    anew = after_moves(state, 2, now=NOW + 600_000)
    assert undone(anew, NOW + 700_000).ply == 4, "at the same ply once more it is another undo"


def test_and_so_it_does_after_the_end() -> None:
    end = played_out(begin_alone("duo"))
    state = undone(end)
    over = accepted(state, Resign(0), NOW + 600_000).state
    again = accepted(over, Undo(end.ply), NOW + 700_000)
    assert (again.refusal, again.version) == (None, state.version)


def test_a_move_that_was_taken_back_is_a_new_one_when_it_is_made_again() -> None:
    first = begin_alone()
    command = next_move(first)
    state = undone(accepted(first, command, NOW + 1).state)
    again = accepted(state, command, NOW + 600_000)
    assert (again.version, len(again.events)) == (4, 1)


def test_a_move_that_was_chosen_for_another_position_is_refused() -> None:
    """The CPU thinks about ply 1; its answer comes when ply 1 is to be played again, after another first move."""
    begun = begin_alone("duo", cpus=(1,))
    asked = accepted(begun, PlayMove(0, 0, "e10"), NOW + 1_000).state
    answer = PlayMove(1, 1, a_move(asked), chosen_at=asked.version)
    assert accepted(asked, answer, NOW + 2_000).refusal is None
    back = undone(asked)
    now = accepted(back, PlayMove(0, 0, "e10,e11"), NOW + 600_000).state
    assert (now.ply, now.position.seat_to_move) == (1, 1)
    error = refusal(accepted(now, answer, NOW + 600_100))
    assert (error.code, error.data) == ("stale-ply", {"version": now.version, "ply": 1})
    fits = msgspec.structs.replace(answer, chosen_at=now.version)
    assert accepted(now, fits, NOW + 600_100).refusal is None


# Clocks


def test_time_that_was_used_does_not_come_back() -> None:
    state = after_moves(begin_alone("duo", BLITZ), 4, every=7_000)
    before = state.clock.left_ms
    now = NOW + 4 * 7_000 + 5_000
    back = undone(undone(state, now), now + 1_000)
    turn = st.turn_of(back)
    assert turn is not None
    assert turn.clocks_ms == [before[0] - 5_000, before[1] - 1_000]
    assert turn.seat == 0
    assert turn.deadline == rfc3339(now + 1_000 + before[0] - 5_000)


def test_a_first_move_that_is_to_be_made_again_has_its_bound_again() -> None:
    state = after_moves(begin_alone("duo", BLITZ), 1)
    back = undone(state, NOW + 20_000)
    assert back.deadline == NOW + 20_000 + FIRST_MOVE_MS
    assert back.earliest_deadline(NOW + 20_000) == back.expiry


def test_correspondence_gives_the_whole_time_again() -> None:
    state = after_moves(begin_alone("duo", DAYS), 4, every=3_600_000)
    back = undone(state, NOW + 5 * 3_600_000)
    assert back.clock.left_ms == (DAYS.initial_ms, DAYS.initial_ms)
    assert back.deadline == NOW + 5 * 3_600_000 + DAYS.initial_ms


def test_after_the_end_the_clock_of_who_is_to_move_runs() -> None:
    end = played_out(begin_alone("duo", LONG))
    left = end.clock.left_ms
    back = undone(end, NOW + 10**8)
    turn = st.turn_of(back)
    assert turn is not None
    assert turn.clocks_ms == list(left)
    assert back.deadline == NOW + 10**8 + left[turn.seat]

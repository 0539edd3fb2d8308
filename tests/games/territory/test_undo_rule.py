"""Taking moves back in games of several people: never, at once, or when all others agree."""

import random
from collections import Counter
from collections.abc import Collection, Iterator

import msgspec
import pytest

from common.errors import KadoError
from games.territory import decide as de
from games.territory import events as ev
from games.territory import lag
from games.territory import state as st
from games.territory.decide import AnswerUndo, CheckClock, Decision, PlayMove, Resign, Undo
from games.territory.rules import TimeControl
from games.territory.state import MAX_UNDONE, GameState
from tests.games.territory.support import (
    BLITZ,
    NO_CLOCK,
    NOW,
    accepted,
    after_moves,
    assert_consistent,
    begin,
    next_move,
    view,
)

TABLES: list[tuple[str, tuple[int, ...]]] = [
    ("duo", ()),
    ("classic", ()),
    ("classic", (1, 3)),
    ("classic-2", ()),
    ("classic-3", (2,)),
]


def table(
    rule: ev.UndoRule, key: str = "duo", cpus: Collection[int] = (), control: TimeControl = NO_CLOCK
) -> GameState:
    state = begin(key, control, rated=False)
    seats = [
        msgspec.structs.replace(seat, level="starter" if seat.seat in cpus else None)
        for seat in state.started.seats
    ]
    started = msgspec.structs.replace(state.started, seats=seats, pool=None, undo=rule)
    return msgspec.structs.replace(state, started=started)


def refusal(decision: Decision) -> KadoError:
    assert decision.refusal is not None
    assert not decision.events
    return decision.refusal


def ask(state: GameState, seat: int, now: int = NOW + 500_000) -> GameState:
    decision = accepted(state, Undo(state.ply, seat), now)
    assert decision.refusal is None
    return decision.state


def answer(state: GameState, seat: int, *, agreed: bool, now: int = NOW + 600_000) -> GameState:
    decision = accepted(state, AnswerUndo(state.ply, seat, agreed), now)
    assert decision.refusal is None
    return decision.state


# Whole games


def story(rule: ev.UndoRule, seed: int) -> Iterator[tuple[GameState, Decision, int]]:
    """A game with wishes, answers and resignations at any time: each state, what was decided, and when."""
    chance = random.Random(seed)
    key, cpus = TABLES[seed % len(TABLES)]
    state, now = table(rule, key, cpus), NOW
    people = [seat for seat in range(state.position.variant.seats) if seat not in cpus]
    for _ in range(160):
        now += chance.randrange(1, 5_000)
        drawn = chance.random()
        seat = chance.choice(people)
        command: de.Command
        if drawn < 0.25:
            command = Undo(state.ply - chance.choice([0, 0, 0, 0, 1]), seat)
        elif drawn < 0.55:
            command = AnswerUndo(state.ply, seat, chance.random() < 0.8)
        elif drawn < 0.56:
            command = Resign(seat)
        elif state.is_over:
            command = CheckClock()
        else:
            command = next_move(state, chance)
        decision = de.decide(state, command, now)
        yield state, decision, now
        state = decision.state


@pytest.mark.parametrize("rule", ["ask", "free", "none"])
def test_whole_games_fold_to_what_was_decided(rule: ev.UndoRule) -> None:
    for seed in range(10):
        log: list[tuple[ev.AnyEvent, int]] = []
        state = begun = None
        for before, decision, now in story(rule, seed):
            begun = begun or before
            assert_consistent(before, decision, now)
            log += [(ev.decode(ev.encode(event)), now) for event in decision.events]
            state = decision.state
        assert begun is not None
        assert st.fold(begun, log) == state
        for cut in range(1, len(log), 11):
            assert st.fold(st.fold(begun, log[:cut]), log[cut:]) == state


def test_everything_that_can_happen_happens_in_those_games() -> None:
    seen = Counter[str]()
    rules: tuple[ev.UndoRule, ...] = ("ask", "free", "none")
    for rule in rules:
        for seed in range(10):
            for before, decision, _ in story(rule, seed):
                names = [type(event).__name__ for event in decision.events]
                seen.update(f"{rule} {name}" for name in names)
                if decision.refusal is not None:
                    seen[f"{rule} {decision.refusal.code}"] += 1
                if before.asked and names and not decision.state.asked:
                    seen[f"over by {names[0]}"] += 1
    assert not seen["free UndoAsked"]
    assert not seen["none MovesUndone"]
    assert seen["ask MovesUndone"] < seen["ask UndoAsked"]
    taken_back = (
        "ask MovesUndone",
        "free MovesUndone",
        "over by MovePlayed",
        "over by UndoAnswered",
    )
    refused = ("ask undo-asked", "ask undo-declined", "ask no-undo-asked", "none undo-not-allowed")
    assert min(seen[name] for name in (*taken_back, *refused)) >= 3, seen


# One thing after another


def test_none_takes_nothing_back() -> None:
    state = after_moves(table("none"), 2)
    assert not state.may_go_back
    assert refusal(accepted(state, Undo(2, 0), NOW + 9_000)).code == "undo-not-allowed"
    assert refusal(accepted(state, AnswerUndo(2, 0, True), NOW + 9_000)).code == "no-undo-asked"


@pytest.mark.parametrize(("seat", "back"), [(0, 2), (1, 3)])
def test_free_takes_the_latest_own_move_and_what_came_after_it(seat: int, back: int) -> None:
    states = [table("free")]
    for _ in range(4):
        states.append(after_moves(states[-1], 1))
    decision = accepted(states[-1], Undo(4, seat), NOW + 9_000)
    assert [type(event) for event in decision.events] == [ev.MovesUndone]
    assert view(decision.state)["moves"] == view(states[back])["moves"]
    assert decision.state.position == states[back].position


def test_ask_waits_for_every_other_person_and_for_no_cpu() -> None:
    state = ask(after_moves(table("ask", "classic", (3,)), 6), 0)
    assert view(state)["undo_asked"] == {"seat": 0, "ply": 4, "agreed": []}
    state = answer(state, 2, agreed=True)
    assert view(state)["undo_asked"] == {"seat": 0, "ply": 4, "agreed": [2]}
    assert state.ply == 6
    state = answer(state, 1, agreed=True)
    assert (state.ply, view(state)["undo_asked"]) == (4, None)


def test_a_no_ends_the_wish_until_the_next_move() -> None:
    state = answer(ask(after_moves(table("ask", "classic"), 6), 1), 3, agreed=False)
    assert view(state)["undo_asked"] is None
    assert refusal(accepted(state, Undo(6, 1), NOW + 700_000)).code == "undo-declined"
    assert ask(state, 0).asked is not None, "another seat may ask"
    assert ask(after_moves(state, 1, now=NOW + 700_000), 1).asked is not None


def test_a_move_and_a_resignation_end_the_wish() -> None:
    state = ask(after_moves(table("ask", "classic"), 6), 1)
    assert after_moves(state, 1, now=NOW + 600_000).asked is None
    assert accepted(state, Resign(3), NOW + 600_000).state.asked is None
    two = ask(after_moves(table("ask"), 3), 0)
    over = accepted(two, Resign(1), NOW + 600_000).state
    assert (over.is_over, over.asked) == (True, None)
    for command in (Undo(3, 0), AnswerUndo(3, 0, True)):
        assert refusal(accepted(over, command, NOW + 700_000)).code == "game-over"


def test_one_wish_at_a_time_and_none_answers_its_own() -> None:
    state = ask(after_moves(table("ask"), 3), 0)
    error = refusal(accepted(state, Undo(3, 1), NOW + 600_000))
    assert (error.code, error.data) == ("undo-asked", {"version": state.version, "seat": 0})
    assert refusal(accepted(state, AnswerUndo(3, 0, True), NOW + 600_000)).code == "no-undo-asked"


def test_said_twice_is_said_once() -> None:
    asked = ask(after_moves(table("ask", "classic"), 6), 0)
    again = accepted(asked, Undo(6, 0), NOW + 600_000)
    assert (again.events, again.version) == ((), asked.version)
    one = answer(asked, 1, agreed=True)
    twice = accepted(answer(one, 2, agreed=True), AnswerUndo(6, 1, True), NOW + 650_000)
    assert (twice.events, twice.version) == ((), one.version)
    done = answer(answer(one, 2, agreed=True), 3, agreed=True)
    for command in (Undo(6, 0), AnswerUndo(6, 1, True), AnswerUndo(6, 3, True)):
        late = accepted(done, command, NOW + 700_000)
        assert (late.events, late.refusal, late.version) == ((), None, done.version)
    assert refusal(accepted(done, Undo(6, 1), NOW + 700_000)).code == "stale-ply"
    assert refusal(accepted(done, AnswerUndo(6, 1, False), NOW + 700_000)).code == "stale-ply"


def test_nobody_is_left_to_ask() -> None:
    state = accepted(after_moves(table("ask", "classic", (1, 2)), 5), Resign(3), NOW + 9_000).state
    state = after_moves(state, 3, now=NOW + 10_000)
    assert accepted(state, Undo(state.ply, 0), NOW + 20_000).state.ply < state.ply


def test_moves_before_a_seat_left_stand() -> None:
    state = accepted(after_moves(table("free", "classic"), 6), Resign(3), NOW + 9_000).state
    assert refusal(accepted(state, Undo(6, 0), NOW + 10_000)).code == "nothing-to-undo"
    assert refusal(accepted(state, Undo(6, 3), NOW + 10_000)).code == "nothing-to-undo"


@pytest.mark.parametrize("rule", ["ask", "free"])
def test_too_late_ends_the_turn(rule: ev.UndoRule) -> None:
    state = after_moves(table(rule, control=BLITZ), 4)
    commands: list[de.Command] = [Undo(4, 0)]
    if rule == "ask":
        state = accepted(state, Undo(4, 1), NOW + 5_000).state
        commands = [AnswerUndo(4, 0, agreed) for agreed in (True, False)]
    assert state.deadline is not None
    for command in commands:
        late = accepted(state, command, state.deadline + lag.MOST_MS)
        assert late.refusal is not None
        assert late.refusal.code == "too-late"
        assert late.events == accepted(state, CheckClock(), state.deadline + lag.MOST_MS).events
        assert accepted(state, command, state.deadline - 1).refusal is None


def test_after_the_end_nothing_is_taken_back() -> None:
    state = table("free")
    while not state.is_over:
        state = de.decide(state, next_move(state), NOW + 1).state
    assert not state.may_go_back
    assert refusal(accepted(state, Undo(state.ply, 0), NOW + 2)).code == "game-over"


def test_the_log_does_not_grow_without_bound() -> None:
    state = table("free")
    for _ in range(MAX_UNDONE):
        moved = de.decide(state, PlayMove(0, 0, "e10"), NOW).state
        state = de.decide(moved, Undo(1, 0), NOW).state
    assert refusal(accepted(after_moves(state, 1), Undo(1, 0), NOW)).code == "undo-not-allowed"


def test_games_from_before_the_rule_are_read() -> None:
    text = ev.encode(begin().started)
    old = text.replace(',"undo":"none","spectators":true', "")
    assert old != text
    assert ev.decode(old) == ev.decode(text)

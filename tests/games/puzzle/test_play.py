"""Playing runs: whole ones, the same thing said often, two devices at once, undo, and refusals that change nothing."""

import dataclasses
import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import ScoreEntry
from common.errors import KadoError, UnavailableError
from games.puzzle import errors, rules, selectors
from games.puzzle.models import Best, Run, RunEvent
from games.puzzle.rules import Rules
from games.puzzle.services import play
from tests.games.puzzle.tables import (
    EASY,
    FORGIVING,
    SEED,
    STRICT,
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
    started,
    state,
    take_back,
    view,
)

pytestmark = pytest.mark.django_db(transaction=True)

CUSTOM = Rules.of("custom", "9x9", "off", rotation=True, dealing="random", shapes="mostly-big")


# Whole runs


@pytest.mark.parametrize("chosen", [STRICT, FORGIVING, CUSTOM], ids=lambda rules: rules.key)
def test_a_whole_run(chosen: Rules) -> None:
    (player,) = registered(1)
    run = started(player, chosen, seed=None)
    result = play_out(run)
    assert result.over
    end = view(run)["end"]
    assert (end["reason"], end["best"], end["new_best"]) == ("no-block-fits", result.score, True)
    assert view(run)["status"] == "over"
    assert not any(block and block["fits"] for block in view(run)["state"]["hand"])
    best = Best.objects.get(player_id=player)
    assert (best.key, best.score, best.run_id, best.runs) == (chosen.key, result.score, run, 1)
    entry = ScoreEntry.objects.get(player_id=player)
    assert (entry.board_id, entry.score, entry.source) == (f"puzzle:{chosen.key}", best.score, run)


def test_a_guest_plays_and_has_bests_but_is_on_no_shared_board() -> None:
    run = started(a_guest(), STRICT)
    score = play_out(run).score
    assert Best.objects.get().score == score
    assert not ScoreEntry.objects.exists()


def test_only_a_better_run_is_the_best() -> None:
    (player,) = registered(1)
    scores = []
    for number in range(6):
        run = started(player, STRICT, seed=bytes([number] * 32))
        scores.append(play_out(run, random.Random(number)).score)
        end = view(run)["end"]
        assert end["best"] == max(scores)
        assert end["new_best"] == (scores[-1] > max([-1, *scores[:-1]]))
        assert Best.objects.get().runs == number + 1
        assert ScoreEntry.objects.get().score == max(scores)
    assert len(set(scores)) > 1, "the runs should differ, or this shows nothing"


def test_of_equal_scores_the_one_with_fewer_placements_is_better() -> None:
    """And of those that are equal in that too, the earlier one."""
    (player,) = registered(1)
    seed, slots = next(
        (seed, slots)
        for seed in (number.to_bytes(32, "big") for number in range(1_000))
        for slots in itertools.permutations(range(3))
        if _squares(seed, slots[0]) == _squares(seed, slots[1]) + _squares(seed, slots[2])
    )
    whole, *parts = slots
    runs = []
    for chosen in (parts, [whole], parts, [whole]):
        runs.append(started(player, seed=seed))
        for slot in chosen:
            place(runs[-1], next(wish for wish in choices(runs[-1]) if wish["slot"] == slot))
    started(player)  # and the last one is abandoned too
    assert len(set(Run.objects.filter(id__in=runs).values_list("score", flat=True))) == 1
    best = Best.objects.get()
    assert (best.run_id, best.placements, best.runs) == (runs[1], 1, 4)
    assert view(runs[2])["end"]["new_best"] is view(runs[3])["end"]["new_best"] is False


def _squares(seed: bytes, slot: int) -> int:
    block = rules.start(EASY, seed).hand[slot]
    return len(block.cells) if block else 0


# The same thing often


def test_a_repeated_placement_gets_the_first_answer_to_the_byte() -> None:
    (player,) = registered(1)
    run = started(player, FORGIVING)
    wishes, answers = [], []
    chance = random.Random(5)
    while legal := choices(run):
        wishes.append(chance.choice(legal))
        answers.append(place(run, wishes[-1]).body())
    kept = row(run)
    again = [play.place(run_id=run, player_id=player, **wish).body() for wish in wishes]
    assert again == answers
    assert row(run) == kept, "the run is over, and saying it again changes nothing"
    undone = take_back(run, len(wishes)).body()
    again = [play.place(run_id=run, player_id=player, **wish).body() for wish in wishes]
    assert again == answers, "also what was taken back"
    assert take_back(run, len(wishes)).body() == undone
    started(player, FORGIVING)  # and when it has been abandoned
    assert play.place(run_id=run, player_id=player, **wishes[0]).body() == answers[0]
    assert take_back(run, len(wishes)).body() == undone


def test_the_same_placement_twenty_times_at_once() -> None:
    (player,) = registered(1)
    run = started(player)
    wish = choices(run)[0]
    results = at_once(20, lambda _: play.place(run_id=run, player_id=player, **wish).body())
    assert len(set(map(str, results))) == 1
    assert results[0] == selectors.notes_after(run, 1)[0].body()
    assert RunEvent.objects.filter(run=run).count() == 2


def test_twenty_different_placements_at_once() -> None:
    """Devices cannot fork a run: one of them is first, the others hear that they are behind."""
    (player,) = registered(1)
    run = started(player)
    for turn in range(3):
        wishes = choices(run)[:20]

        def say(number: int, wishes: list[Any] = wishes) -> str:
            return play.place(run_id=run, player_id=player, **wishes[number]).body()

        results = at_once(len(wishes), say)
        accepted = [result for result in results if isinstance(result, str)]
        assert len(accepted) == 1
        for refusal in results:
            if not isinstance(refusal, str):
                assert isinstance(refusal, errors.StaleTurnError)
                assert refusal.data == {"turn": turn + 1, "version": turn + 2}
        assert RunEvent.objects.filter(run=run).count() == turn + 2


def test_undo_and_placement_at_once() -> None:
    (player,) = registered(1)
    for number in range(5):
        run = started(player, seed=bytes([number] * 32))
        placed(run, 2)
        wish = choices(run)[0]

        def act(n: int, run: str = run, wish: Any = wish) -> str:
            if n:
                return play.place(run_id=run, player_id=player, **wish).body()
            return play.take_back(run_id=run, player_id=player, turn=2).body()

        results = at_once(2, act)
        assert sum(isinstance(result, errors.StaleTurnError) for result in results) == 1
        assert state(run).turn == 3


# Undo


def test_an_undo_gives_back_everything_but_the_turn() -> None:
    run = started(registered(1)[0])
    placed(run, 4)
    before = state(run)
    placed(run, 1, random.Random(7))
    take_back(run, 5)
    after = state(run)
    assert (after.board, after.hand, after.draws, after.score) == (
        before.board,
        before.hand,
        before.draws,
        before.score,
    )
    assert (after.turn, after.undo_used) == (6, True)
    assert view(run)["state"]["undos_left"] == 0


def test_taking_the_end_back_takes_back_what_followed_from_it() -> None:
    (player,) = registered(1)
    first = started(player, FORGIVING, seed=bytes(32))
    first_score = play_out(first).score
    run = started(player, FORGIVING, seed=b"\x07" * 32)
    while (score := play_out(run).score) <= first_score:  # until one is better
        run = started(player, FORGIVING, seed=None)
    runs = Best.objects.get().runs
    assert view(run)["seed"] is None, "it can go on, so nobody may know what is dealt"
    best = Best.objects.get()
    assert (best.run_id, best.score) == (run, score)
    assert ScoreEntry.objects.get().source == run

    take_back(run, state(run).turn)
    seen = view(run)
    assert (seen["status"], seen["end"], seen["seed"]) == ("running", None, None)
    best = Best.objects.get()
    others = Run.objects.exclude(id=run).order_by("-score", "placements", "finished_at")
    assert (best.run_id, best.score, best.runs) == (others[0].id, others[0].score, runs - 1)
    entry = ScoreEntry.objects.get()
    assert (entry.source, entry.score) == (others[0].id, others[0].score)

    end = play_out(run, random.Random(3))
    assert end.undo_used
    assert Best.objects.get().runs == runs
    assert view(run)["seed"] == bytes(Run.objects.get(id=run).seed).hex()


def test_taking_back_an_end_that_was_no_best_leaves_the_best() -> None:
    (player,) = registered(1)
    best = started(player, FORGIVING, seed=bytes(32))
    score = play_out(best).score
    run = started(player, FORGIVING, seed=None)
    while play_out(run).score > score:  # until one is worse
        best, score = run, state(run).score
        run = started(player, FORGIVING, seed=None)
    runs = Best.objects.get().runs
    take_back(run, state(run).turn)
    kept = Best.objects.get()
    assert (kept.run_id, kept.score, kept.runs) == (best, score, runs - 1)
    assert ScoreEntry.objects.get().source == best


def test_taking_the_only_end_back_leaves_no_best() -> None:
    (player,) = registered(1)
    run = started(player, FORGIVING)
    play_out(run)
    take_back(run, state(run).turn)
    assert not Best.objects.exists()
    assert not ScoreEntry.objects.exists()


def test_an_end_is_final_when_another_run_is_started() -> None:
    """The seed is public then: nobody may go on who could know it."""
    (player,) = registered(1)
    run = started(player, FORGIVING)
    play_out(run)
    other = started(player, FORGIVING)
    assert view(run)["seed"] == SEED.hex()
    kept = row(run)
    with pytest.raises(errors.OtherRunStartedError):
        take_back(run, state(run).turn)
    play_out(other)  # and that one is over too: still
    with pytest.raises(errors.OtherRunStartedError):
        take_back(run, state(run).turn)
    assert row(run) == kept


def test_undo_after_the_end_and_a_new_start_at_once() -> None:
    """One of the two is first; never are there two running runs, never one whose seed is known."""
    (player,) = registered(1)
    for number in range(6):
        run = started(player, FORGIVING, seed=bytes([number + 1] * 32))
        turn = play_out(run).turn

        def act(n: int, run: str = run, turn: int = turn) -> Any:
            if n:
                return started(player, FORGIVING)
            return play.take_back(run_id=run, player_id=player, turn=turn)

        results = at_once(2, act)
        assert isinstance(results[1], str)
        assert Run.objects.filter(status="running").count() == 1
        undone = not isinstance(results[0], errors.OtherRunStartedError)
        assert Run.objects.get(id=run).status == ("abandoned" if undone else "over")


# Refusals


def empty_slot(run: rules.Run) -> Json:
    return {"slot": run.hand.index(None)}


def over_the_edge(run: rules.Run) -> Json:
    """The top right corner, for a block of more than one cell."""
    slot = next(n for n, block in enumerate(run.hand) if block and len(block.cells) > 1)
    return {"slot": slot, "at": "h8"}


def on_covered_cells(run: rules.Run) -> Json:
    """Where the block would fit on an empty board, and does not now."""
    empty = dataclasses.replace(run, board=0)
    fits = {(each.slot, each.rotation, each.at) for each in rules.legal(run)}
    return next(
        {"slot": each.slot, "rotation": each.rotation, "at": each.at}
        for each in rules.legal(empty)
        if (each.slot, each.rotation, each.at) not in fits
    )


def an_earlier_turn(run: rules.Run) -> Json:
    """Another placement than the one that was accepted there."""
    return {"turn": run.turn - 1, "slot": 2, "at": "d4"}


REFUSALS: dict[str, tuple[type[KadoError], Rules, int, Callable[[rules.Run], Json]]] = {
    "a fourth slot": (errors.BlockNotInHandError, EASY, 0, lambda run: {"slot": 3}),
    "an empty slot": (errors.BlockNotInHandError, EASY, 1, empty_slot),
    "a turn in hard": (errors.RotationNotAllowedError, STRICT, 0, lambda run: {"rotation": 1}),
    "four turns": (errors.RotationNotAllowedError, EASY, 0, lambda run: {"rotation": 4}),
    "over the edge": (errors.OutsideBoardError, EASY, 0, over_the_edge),
    "a cell outside": (errors.OutsideBoardError, EASY, 0, lambda run: {"at": "k1"}),
    "a capital": (errors.OutsideBoardError, EASY, 0, lambda run: {"at": "A1"}),
    "no cell": (errors.OutsideBoardError, EASY, 0, lambda run: {"at": ""}),
    "a zero byte": (errors.OutsideBoardError, EASY, 0, lambda run: {"at": "\0"}),
    "covered cells": (errors.CellsOccupiedError, EASY, 3, on_covered_cells),
    "an earlier turn": (errors.StaleTurnError, EASY, 2, an_earlier_turn),
    "a turn to come": (errors.StaleTurnError, EASY, 1, lambda run: {"turn": 2}),
    "turn 2,147,483,637": (errors.StaleTurnError, EASY, 0, lambda run: {"turn": 2**31 - 11}),
    "after the end": (errors.RunOverError, STRICT, 1_000, lambda run: {}),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refused_placement_changes_nothing(name: str) -> None:
    error, chosen, turns, change = REFUSALS[name]
    run = started(registered(1)[0], chosen)
    placed(run, turns)
    now = state(run)
    wish: Json = {"turn": now.turn, "slot": 0, "rotation": 0, "at": "a1"}
    wish |= (choices(run) or [{}])[0] | change(now)
    kept = row(run)
    with pytest.raises(error) as refused:
        play.place(run_id=run, player_id=owner(run), **wish)
    assert refused.value.data == {"turn": now.turn, "version": kept["run"]["version"]}
    assert row(run) == kept


def test_a_refused_undo_changes_nothing() -> None:
    one, two = registered(2)
    fresh, used, off = started(one), started(two), started(two, STRICT)
    placed(used, 2)
    take_back(used, 2)
    placed(off, 1)
    for run, turn, error in (
        (fresh, 0, errors.NothingToUndoError),
        (fresh, 1, errors.StaleTurnError),
        (used, 3, errors.UndoUsedError),
        (used, 1, errors.StaleTurnError),
        (off, 1, errors.UndoOffError),
    ):
        kept = row(run)
        with pytest.raises(error) as refused:
            play.take_back(run_id=run, player_id=owner(run), turn=turn)
        assert refused.value.data == {"turn": state(run).turn, "version": kept["run"]["version"]}
        assert row(run) == kept


@pytest.mark.parametrize("run_id", ["NoSuchRun000", "", "x" * 500, "a\x00b", "another's"])
def test_only_ones_own_runs_are_known(run_id: str) -> None:
    one, two = registered(2)
    run = started(two)
    wish = choices(run)[0]
    kept = row(run)
    if run_id == "another's":
        run_id = run
    with pytest.raises(errors.UnknownRunError):
        play.place(run_id=run_id, player_id=one, **wish)
    with pytest.raises(errors.UnknownRunError):
        play.take_back(run_id=run_id, player_id=one, turn=0)
    assert row(run) == kept


def test_every_refusal_has_a_code_of_its_own() -> None:
    classes = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, KadoError)]
    own = [e.code for e in classes if e.__module__ == errors.__name__]
    assert len(own) == len(set(own)) >= 15
    assert set(play.REFUSALS) == {
        *("run-over", "block-not-in-hand", "rotation-not-allowed", "outside-board"),
        *("cells-occupied", "undo-off", "undo-used", "nothing-to-undo"),
    }


# Starting


def test_another_run_of_the_same_rules_abandons_the_old_one() -> None:
    (player,) = registered(1)
    old, elsewhere = started(player), started(player, STRICT)
    placed(old, 5)
    score = state(old).score
    before = view(old)
    new = started(player)
    seen = view(old)
    assert (seen["status"], seen["end"]["reason"]) == ("abandoned", "abandoned")
    assert seen["seed"] == SEED.hex()
    assert before["state"] == seen["state"], "its board stays as it was"
    assert Best.objects.get().score == score > 0, "and its score counts if it is the best"
    assert view(new)["status"] == view(elsewhere)["status"] == "running"
    kept = row(old)
    with pytest.raises(errors.RunOverError):
        play.place(run_id=old, player_id=player, slot=0, rotation=0, at="a1", turn=5)
    with pytest.raises(errors.RunOverError):
        play.take_back(run_id=old, player_id=player, turn=5)
    assert row(old) == kept


def test_a_run_without_a_placement_leaves_no_trace() -> None:
    (player,) = registered(1)
    old = started(player)
    started(player)
    assert view(old)["end"] == {
        "reason": "abandoned",
        "best": None,
        "new_best": False,
        "duration_ms": view(old)["end"]["duration_ms"],
    }
    assert not Best.objects.exists()
    assert not ScoreEntry.objects.exists()


def test_ten_starts_at_once_leave_one_running() -> None:
    (player,) = registered(1)
    placed(started(player), 1)
    runs = at_once(10, lambda _: started(player, seed=None))
    made = [run for run in runs if isinstance(run, str)]
    assert all(isinstance(run, str | UnavailableError) for run in runs)
    assert made
    assert Run.objects.filter(player_id=player, status="running").count() == 1
    assert Run.objects.count() == len(made) + 1


def test_starts_and_placements_at_once() -> None:
    """A placement is kept before its run is abandoned, or refused: the score in the history has it, or has not."""
    (player,) = registered(1)
    for _ in range(5):
        run = started(player, seed=None)
        wish = choices(run)[0]

        def act(n: int, run: str = run, wish: Any = wish) -> Any:
            return started(player) if n else play.place(run_id=run, player_id=player, **wish)

        results = at_once(2, act)
        kept = not isinstance(results[0], errors.RunOverError)
        assert (Run.objects.get(id=run).placements == 1) == kept


def test_runs_are_dealt_from_seeds_of_their_own() -> None:
    (player,) = registered(1)
    hashes = {view(started(player, seed=None))["seed_hash"] for _ in range(10)}
    assert len(hashes) == 10


def test_a_deleted_player_takes_the_runs_along() -> None:
    from accounts.models import Player

    (player,) = registered(1)
    play_out(started(player, STRICT))
    placed(started(player, EASY), 2)
    Player.objects.get(pk=player).delete()
    assert not Run.objects.exists()
    assert not RunEvent.objects.exists()
    assert not ScoreEntry.objects.exists()

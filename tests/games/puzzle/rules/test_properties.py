"""What holds in every run, checked on random ones."""

import json
import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from games.puzzle.rules import (
    BOARDS,
    LEVELS,
    IllegalPlacementError,
    Place,
    Record,
    Result,
    Rules,
    TakeBack,
    dump,
    fits,
    legal,
    load,
    place,
    preview,
    replay,
    start,
    take_back,
)
from games.puzzle.rules.record import Command

from .runs import played

FREE = [level for level in LEVELS if level not in ("custom", "daily")]
some_rules = st.one_of(
    st.builds(
        Rules.of,
        st.sampled_from(FREE),
        st.sampled_from(list(BOARDS)),
        st.sampled_from(["once", "off"]),
    ),
    st.builds(
        Rules.of,
        st.just("custom"),
        st.sampled_from(list(BOARDS)),
        st.sampled_from(["once", "off"]),
        rotation=st.booleans(),
        dealing=st.sampled_from(["fitting", "random"]),
        shapes=st.sampled_from(["mostly-small", "some-big", "mostly-big"]),
    ),
    st.just(Rules.of("daily")),
)
seeds = st.binary(min_size=32, max_size=32)
chances = st.integers(0, 2**32 - 1).map(random.Random)
runs = settings(max_examples=30, deadline=None)


@runs
@given(some_rules, seeds, chances)
def test_squares_are_conserved_and_no_line_stays_full(
    rules: Rules, seed: bytes, chance: random.Random
) -> None:
    before = start(rules, seed)
    cleared = 0
    for run, _, placed in played(rules, seed, chance, at_most=60):
        if placed is not None:
            covered, emptied = (
                rules.board.mask_of(each) for each in (placed.cells, placed.cleared)
            )
            assert covered.bit_count() == len(placed.block.form) == placed.points[0].count
            assert not covered & before.board
            assert run.board == (before.board | covered) & ~emptied
            assert emptied & ~(before.board | covered) == 0
            assert run.score - before.score == placed.total
            assert bool(placed.lines) == (run.streak == before.streak + 1) == bool(emptied)
            cleared += len(placed.cleared)
        assert run.board & ~rules.board.full == 0
        assert run.board.bit_count() == run.statistics.squares - cleared
        assert not any(line.mask & run.board == line.mask for line in rules.board.lines)
        assert run.over == (not legal(run)) == (not any(fits(run)))
        assert run.turn == run.statistics.placements
        before = run


@runs
@given(some_rules, seeds, chances)
def test_a_fitting_deal_always_fits(rules: Rules, seed: bytes, chance: random.Random) -> None:
    for run, _, placed in played(rules, seed, chance, at_most=60):
        if rules.dealing == "fitting" and (placed is None or placed.dealt):
            assert fits(run) == (True, True, True)
            assert not run.over


@runs
@given(some_rules, seeds, chances)
def test_the_list_of_placements_is_that_of_single_trials(
    rules: Rules, seed: bytes, chance: random.Random
) -> None:
    *_, (run, _, _) = played(rules, seed, chance, at_most=chance.randrange(30))
    listed = {(each.slot, each.rotation, each.at): each.lines for each in legal(run)}
    forms = set()
    for slot, block in enumerate(run.hand):
        for rotation in range(4):
            for at in rules.board.cells:
                try:
                    plan = preview(run, slot, rotation, at)
                except IllegalPlacementError:
                    assert (slot, rotation, at) not in listed
                    continue
                assert block is not None
                if (slot, rotation, at) in listed:
                    assert listed[slot, rotation, at] == plan.lines
                    forms.add((slot, plan.mask))
                else:  # the same cells by a smaller turn
                    assert (slot, plan.mask) in forms
    assert len(forms) == len(listed)


@runs
@given(seeds, chances, st.sampled_from(FREE))
def test_undo_restores_exactly_and_deals_the_same_again(
    seed: bytes, chance: random.Random, level: str
) -> None:
    rules = Rules.of(level, "8x8", undo="once")
    before = start(rules, seed)
    for run, pick, placed in played(rules, seed, chance, at_most=40):
        if pick is not None:
            undone = take_back(run)
            assert undone == replace(before, before=None, turn=before.turn + 2, undo_used=True)
            again, placed_again = place(undone, seed, pick.slot, pick.rotation, pick.at)
            assert placed_again == placed
            assert again == replace(run, before=None, turn=run.turn + 2, undo_used=True)
        before = run


@runs
@given(some_rules, seeds, chances)
def test_a_run_is_kept_exactly(rules: Rules, seed: bytes, chance: random.Random) -> None:
    for run, _, _ in played(rules, seed, chance, at_most=20):
        assert load(json.loads(json.dumps(dump(run)))) == run


@runs
@given(some_rules, seeds, chances)
def test_a_replay_is_the_run_itself(rules: Rules, seed: bytes, chance: random.Random) -> None:
    run = start(rules, seed)
    hand = tuple(block for block in run.hand if block)
    commands: list[Command] = []
    while not run.over and run.turn < 40:
        if run.before is not None and chance.random() < 0.1:
            run = take_back(run)
            commands.append(TakeBack())
            continue
        pick = chance.choice(legal(run))
        run, placed = place(run, seed, pick.slot, pick.rotation, pick.at)
        commands.append(Place.of(pick.slot, pick.rotation, pick.at, placed))
    record = Record(rules, seed, tuple(commands), hand, result=Result.of(run))
    replayed = replay(record)
    assert replayed.run == run
    assert (replayed.verdict, replayed.differences) == ("agrees", ())

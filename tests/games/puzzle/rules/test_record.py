"""Records: there and back as JSON, what a replay finds wrong, and what cannot be read."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.puzzle.rules import (
    DAILY,
    Block,
    Place,
    Record,
    RecordError,
    Result,
    Rules,
    TakeBack,
    as_dict,
    daily_seed,
    legal,
    place,
    read_json,
    replay,
    seed_hash,
    start,
    take_back,
    write_json,
)

from .runs import SEED


def a_record(rules: Rules, *, placements: int = 5, seed: bytes = SEED) -> Record:
    """A run of some placements, with an undo after the third where there can be one."""
    run = start(rules, seed)
    hand = tuple(block for block in run.hand if block)
    commands: list[Place | TakeBack] = []
    for number in range(placements):
        pick = legal(run)[number]
        run, placed = place(run, seed, pick.slot, pick.rotation, pick.at)
        commands.append(Place.of(pick.slot, pick.rotation, pick.at, placed))
        if number == 2 and rules.undo == "once":
            run = take_back(run)
            commands.append(TakeBack())
    return Record(
        rules,
        seed,
        tuple(commands),
        hand,
        result=Result.of(run, "abandoned"),
        seed_hash=seed_hash(seed),
    )


EASY = a_record(Rules.of("easy", "9x9", undo="once"))
DAY = replace(
    a_record(DAILY, seed=daily_seed(b"secret", date(2028, 2, 29))), date=date(2028, 2, 29)
)


@pytest.mark.parametrize("record", [EASY, DAY, Record(Rules.of("hard"), None, ())])
def test_there_and_back(record: Record) -> None:
    text = write_json(record)
    assert read_json(text) == record
    assert json.loads(text) == as_dict(record)
    assert read_json(text.encode()) == record


def test_a_command_is_a_line() -> None:
    lines = write_json(EASY).splitlines()
    assert sum('"slot"' in line for line in lines) == 5
    assert lines.count('    {"undo": true},') == 1


def test_what_is_optional_may_be_missing_and_what_is_unknown_is_passed_over() -> None:
    data = as_dict(EASY) | {"player": "Ada", "id": "x"}
    for name in ("hand", "result", "seed_hash"):
        del data[name]
    for command in data["commands"]:
        command.pop("points", None)
        command.pop("dealt", None)
    record = read_json(json.dumps(data))
    assert (record.hand, record.result, record.seed_hash) == (None, None, "")
    assert replay(record).verdict == "agrees"
    assert replay(record).run == replay(EASY).run


@pytest.mark.parametrize("record", [EASY, DAY])
def test_a_true_record(record: Record) -> None:
    found = replay(record)
    assert (found.verdict, found.differences) == ("agrees", ())
    assert record.result is not None
    assert found.run.score == record.result.score


def edited(edit: Callable[[dict[str, Any]], None]) -> str:
    data: dict[str, Any] = json.loads(write_json(EASY))
    edit(data)
    return json.dumps(data)


def put(value: Any, *path: str | int) -> Callable[[dict[str, Any]], None]:
    def edit(data: Any) -> None:
        for step in path[:-1]:
            data = data[step]
        data[path[-1]] = value

    return edit


@pytest.mark.parametrize(
    ("edit", "code", "command"),
    [
        (put("0" * 64, "seed_hash"), "wrong-seed", None),
        (put(["1/0", "1/0", "1/0"], "hand"), "wrong-deal", None),
        (put(99, "commands", 0, "points"), "wrong-points", 1),
        (put(["1/0", "1/0", "1/0"], "commands", 0, "dealt"), "wrong-deal", 1),
        (put([], "commands", 2, "dealt"), "wrong-deal", 3),
        (put(99, "result", "score"), "wrong-result", None),
        (put(99, "result", "largest_clear"), "wrong-result", None),
        (put("over", "result", "status"), "wrong-result", None),
        (put(3, "commands", 1, "slot"), "block-not-in-hand", 2),
        (put(9, "commands", 1, "rotation"), "rotation-not-allowed", 2),
        (put("i9", "commands", 0, "at"), "outside-board", 1),
        (put("a1", "commands", 1, "at"), "cells-occupied", 2),
        (put({"undo": True}, "commands", 0), "nothing-to-undo", 1),
        (put({"undo": True}, "commands", 4), "undo-used", 5),
        (put("off", "rules", "undo"), "undo-off", 4),
    ],
)
def test_what_a_replay_finds(edit: Any, code: str, command: int | None) -> None:
    found = replay(read_json(edited(edit)))
    assert found.verdict == "differs"
    assert [(each.code, each.command) for each in found.differences] == [(code, command)]


def test_another_seed_deals_other_blocks() -> None:
    found = replay(replace(EASY, seed=bytes(32)))
    assert [each.code for each in found.differences][:2] == ["wrong-seed", "wrong-deal"]


def test_a_run_that_went_on_after_its_end() -> None:
    """Every placement until the end, and then one more."""
    rules = Rules.of("hard", "8x8")
    run, commands = start(rules, SEED), []
    while not run.over:
        pick = legal(run)[0]
        run, _ = place(run, SEED, pick.slot, pick.rotation, pick.at)
        commands.append(Place(pick.slot, pick.rotation, pick.at))
    whole = Record(rules, SEED, tuple(commands), result=Result.of(run))
    assert whole.result is not None
    assert (whole.result.status, replay(whole).verdict) == ("over", "agrees")
    longer = replay(replace(whole, commands=(*commands, commands[-1])))
    assert [each.code for each in longer.differences] == ["run-over"]
    (shorter, *_) = replay(replace(whole, commands=tuple(commands[:-1]))).differences
    assert shorter.message == "the run is said to be over, and is not over"
    left = replay(replace(whole, result=replace(whole.result, status="abandoned")))
    assert [each.message for each in left.differences] == [
        "the run is said to be abandoned, and is over"
    ]


def test_a_secret_seed_cannot_be_replayed() -> None:
    with pytest.raises(RecordError) as caught:
        replay(replace(EASY, seed=None))
    assert caught.value.code == "no-seed"
    with pytest.raises(RecordError) as caught:
        replay(replace(EASY, generator="kado-deal-2"))
    assert caught.value.code == "unknown-generator"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "bad-json"),
        ("{", "bad-json"),
        (b"\xff\xfe\xff", "bad-json"),
        ("[" * 100_000, "bad-json"),
        ("1" * 5000, "bad-json"),
        ("[]", "bad-schema"),
        ("null", "bad-schema"),
        ("{}", "bad-schema"),
        ('{"schema": 2}', "bad-schema"),
        ('{"schema": true}', "bad-schema"),
        ('{"schema": 1.0}', "bad-schema"),
        ('{"schema": 1}', "bad-field"),
        (edited(put("kado-deal-2", "generator")), "unknown-generator"),
        (edited(put("brutal", "rules", "level")), "wrong-rules"),
        (edited(put(False, "rules", "rotation")), "wrong-rules"),
        (edited(put("daily", "rules", "level")), "wrong-rules"),
        (edited(put(1, "rules", "rotation")), "bad-field"),
        (edited(put([], "rules")), "bad-field"),
        (edited(put("2028-02-29", "date")), "bad-field"),
        (edited(put("00", "seed")), "bad-field"),
        (edited(put("A" * 64, "seed")), "bad-field"),
        (edited(put("0" * 64 + "\n", "seed")), "bad-field"),
        (edited(put(0, "seed")), "bad-field"),
        (edited(put(["1/0"], "hand")), "bad-field"),
        (edited(put(["1/0", "1/0", None], "hand")), "bad-field"),
        (edited(put(["1/0", "1/0", []], "hand")), "bad-field"),
        (edited(put(["F/0", "1/0", "1/0"], "hand")), "bad-field"),
        (edited(put({}, "commands")), "bad-field"),
        (edited(put([1], "commands")), "bad-field"),
        (edited(put([{}], "commands")), "bad-field"),
        (edited(put(True, "commands", 0, "slot")), "bad-field"),
        (edited(put(0.0, "commands", 0, "slot")), "bad-field"),
        (edited(put("0", "commands", 0, "rotation")), "bad-field"),
        (edited(put(1, "commands", 0, "at")), "bad-field"),
        (edited(put(True, "commands", 0, "undo")), "bad-field"),
        (edited(put(["1/0"], "commands", 0, "dealt")), "bad-field"),
        (edited(put("won", "result", "status")), "bad-field"),
        (edited(put(None, "result", "score")), "bad-field"),
        (edited(put("5", "result", "lines")), "bad-field"),
    ],
)
def test_what_cannot_be_read(text: str | bytes, code: str) -> None:
    with pytest.raises(RecordError) as caught:
        read_json(text)
    assert caught.value.code == code


@pytest.mark.parametrize("day", ["2027-02-29", "20280229", ""])
def test_the_record_of_a_daily_puzzle_names_its_day(day: str) -> None:
    for edit in ({"date": day}, {"date": None}):
        with pytest.raises(RecordError) as caught:
            read_json(json.dumps(as_dict(DAY) | edit))
        assert caught.value.code == "bad-field"


def test_the_command_is_named() -> None:
    with pytest.raises(
        RecordError, match=r"^command 2: rotation holds '0', which is no whole number\.$"
    ):
        read_json(edited(put("0", "commands", 1, "rotation")))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
paths = st.sampled_from(
    [
        *[(name,) for name in as_dict(DAY)],
        *[("rules", name) for name in DAILY.as_dict()],
        *[("commands", 0, name) for name in ("slot", "rotation", "at", "points", "dealt", "undo")],
        *[("result", name) for name in ("status", "score", "lines")],
    ]
)


@given(paths, json_values)
def test_any_value_anywhere_is_read_or_refused_with_a_code(path: Any, value: Any) -> None:
    data = json.loads(write_json(DAY))
    put(value, *path)(data)
    try:
        record = read_json(json.dumps(data))
        replayed = replay(record)
    except RecordError as error:
        assert error.code != RecordError.code
    else:
        assert replayed.verdict in ("agrees", "differs")


def test_blocks_of_a_record_are_blocks() -> None:
    record = read_json(write_json(EASY))
    assert record.hand is not None
    assert all(isinstance(block, Block) for block in record.hand)

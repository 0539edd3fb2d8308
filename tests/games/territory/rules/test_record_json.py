"""Records as JSON."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from games.territory.rules import (
    Node,
    Record,
    RecordError,
    Setup,
    Termination,
    parse_move,
    read_json,
    variant,
    write_json,
)
from tests.games.territory.rules.records import records

DUO = variant("duo")


@settings(deadline=None, max_examples=50)
@given(records())
def test_records_round_trip(record: Record) -> None:
    text = write_json(record)
    assert read_json(text) == record
    assert read_json(text.encode()) == record
    assert write_json(read_json(text)) == text


def test_the_form() -> None:
    first = replace(Record.of(DUO, ["e10"]).nodes[1], at=1_764_489_600_123, comment="Good")
    nodes = (
        Node(-1, comment="Final"),
        first,
        Node(1, left=((1, Termination.RESIGNED),)),
        Record.of(DUO, ["e10,e11"]).nodes[1],
    )
    record = Record(DUO, nodes, ("Ada", "Ben"), "2025-11-30").with_result()
    assert json.loads(write_json(record)) == {
        "schema": 1,
        "variant": "duo",
        "players": ["Ada", "Ben"],
        "date": "2025-11-30",
        "comment": "Final",
        "moves": [
            {"colour": "blue", "move": "e10", "at": "2025-11-30T08:00:00.123Z", "comment": "Good"},
            {"left": [{"seat": 1, "reason": "resigned"}]},
            {"after": 0, "colour": "blue", "move": "e10,e11"},
        ],
        "result": {
            "termination": "resigned",
            "points": [1, 0],
            "penalty_points": [-88, -89],
            "ranks": [1, 2],
            "terminations": ["completed", "resigned"],
        },
    }
    assert write_json(record).count("\n") == 13


def test_the_form_of_a_beginning_that_is_set_up() -> None:
    e10, j5, a1 = (parse_move(text, DUO) for text in ("e10", "j5", "a1"))
    begun = Node(-1, setup=Setup(((e10,), ()), (a1,), 1), properties={"EV": ("Cup", "Åre")})
    record = Record(DUO, (begun,))
    assert write_json(record) == (
        '{\n  "schema": 1,\n  "variant": "duo",\n'
        '  "setup": {"placed": {"blue": ["e10"]}, "removed": ["a1"], "turn": "orange"},\n'
        '  "properties": {"EV": ["Cup", "Åre"]},\n  "moves": []\n}\n'
    )
    # A set-up says only what it changes, and nothing of the turn leaves that to the next move.
    bare = Record(DUO, (Node(-1, setup=Setup(((), (j5,)))),))
    assert json.loads(write_json(bare))["setup"] == {"placed": {"orange": ["j5"]}}
    with pytest.raises(ValueError, match="shorter"):
        write_json(Record(DUO, (Node(-1, setup=Setup(((),))),)))


def test_a_set_up_may_leave_out_what_it_does_not_change() -> None:
    data = json.loads(changed("moves/1/setup", {"removed": ["a1"]}))
    del data["result"]  # which counts the piece that is no longer set up
    assert read_json(json.dumps(data)).nodes[2].setup == Setup(
        ((), ()), (parse_move("a1", DUO),), None
    )


def test_an_instant_is_whole_milliseconds_whatever_its_zone() -> None:
    at = read_json(changed("moves/0/at", "2025-11-30T10:30:00.123999+02:30")).nodes[1].at
    assert (at, type(at)) == (1_764_489_600_123, int)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("variant", None, "variant is missing."),
        ("players", ["Ada"], "players names 1 players for 2 seats."),
        ("moves", [1], "moves holds 1, which is no object."),
        ("moves/0/move", "", "node 1: move and colour stand together or not at all."),
        (
            "moves/0/move",
            "e,",
            "node 1: 'e' is not a cell; write a move as its cells, such as e8,e9,f9.",
        ),
        ("moves/0/at", "2025-11-30T08:00:00", "node 1: at cannot be '2025-11-30T08:00:00'."),
        ("moves/1/after", 2, "node 2: after is 2, and not from 0 to 1."),
        ("moves/1/setup/placed/pink", [], "node 2: pink cannot be 'pink'."),
        ("moves/2/left", [{"seat": 2}], "node 3: seat is 2, and not from 0 to 1."),
        ("result/terminations", ["won"], "terminations cannot be 'won'."),
        (
            "comment",
            "\ud800",
            "node 0: comment holds half of a surrogate pair, which no text does.",
        ),
    ],
)
def test_refusals_name_the_member_and_what_it_may_hold(path: str, value: Any, message: str) -> None:
    with pytest.raises(RecordError) as caught:
        read_json(changed(path, value))
    assert str(caught.value) == message


def test_members_that_are_not_known_are_passed_over() -> None:
    record = Record.of(DUO, ["e10"])
    data = json.loads(write_json(record)) | {"next": 1}
    data["moves"][0]["eval"] = {"points": 0.5}
    assert read_json(json.dumps(data)) == record


def changed(path: str, value: Any) -> str:
    """A good record with one value replaced, or added."""
    data = json.loads(
        """{"schema": 1, "variant": "duo", "players": ["Ada", "Ben"], "comment": "", "moves": [
        {"colour": "blue", "move": "e10", "at": "2025-11-30T08:00:00.123Z", "properties": {"TE": ["1"]}},
        {"setup": {"placed": {"orange": ["j5"]}, "removed": ["a1"], "turn": "blue"}},
        {"after": 2, "left": [{"seat": 1, "reason": "resigned"}]}],
        "result": {"termination": "resigned", "points": [1, 1], "penalty_points": [-88, -88], "ranks": [1, 2],
        "terminations": ["completed", "resigned"]}}"""
    )
    *way, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    inner = data
    for step in way:
        inner = inner[step]
    inner[last] = value
    return json.dumps(data)


def test_the_record_that_is_spoiled_below_is_good() -> None:
    assert read_json(changed("comment", "x")).result is not None


@pytest.mark.parametrize(
    ("path", "value", "code", "node"),
    [
        ("schema", 2, "bad-schema", None),
        ("schema", True, "bad-schema", None),
        ("schema", "1", "bad-schema", None),
        ("variant", "go", "unknown-variant", None),
        ("variant", 1, "bad-field", None),
        ("variant", None, "bad-field", None),
        ("players", ["Ada"], "bad-field", None),
        ("players", ["Ada", 1], "bad-field", None),
        ("players", "Ada", "bad-field", None),
        ("date", 20251130, "bad-field", None),
        ("comment", 7, "bad-field", 0),
        ("comment", "\ud800", "bad-field", 0),
        ("moves", {}, "bad-field", None),
        ("moves", [1], "bad-field", None),
        ("moves/0/colour", "orange", "not-to-move", 1),
        ("moves/0/colour", "pink", "bad-field", 1),
        ("moves/0/colour", "", "bad-field", 1),
        ("moves/0/move", "e99", "outside-board", 1),
        ("moves/0/move", "e", "malformed-move", 1),
        ("moves/0/move", "", "bad-field", 1),
        ("moves/0/move", 5, "bad-field", 1),
        ("moves/0/at", "yesterday", "bad-field", 1),
        ("moves/0/at", "2025-11-30T08:00:00", "bad-field", 1),
        ("moves/0/at", "9999-12-31T23:59:59-23:59", "bad-field", 1),
        ("moves/0/after", 1, "bad-field", 1),
        ("moves/0/after", -1, "bad-field", 1),
        ("moves/0/after", True, "bad-field", 1),
        ("moves/0/after", 0.0, "bad-field", 1),
        ("moves/0/properties", ["TE"], "bad-field", 1),
        ("moves/0/properties/TE", "1", "bad-field", 1),
        ("moves/0/properties/TE", [1], "bad-field", 1),
        ("moves/1/setup", [], "bad-field", 2),
        ("moves/1/setup/placed", ["j5"], "bad-field", 2),
        ("moves/1/setup/placed/pink", [], "bad-field", 2),
        ("moves/1/setup/placed/orange", ["j5,j7"], "not-a-piece", 2),
        ("moves/1/setup/placed/orange", ["e10"], "occupied", 2),
        ("moves/1/setup/removed", ["z1"], "outside-board", 2),
        ("moves/1/setup/turn", "green", "bad-field", 2),
        ("moves/2/after", 3, "bad-field", 3),
        ("moves/2/left", [{"seat": 2, "reason": "resigned"}], "bad-field", 3),
        ("moves/2/left", [{"seat": 1, "reason": "bored"}], "bad-field", 3),
        ("moves/2/left", [{"seat": 1}], "bad-field", 3),
        ("moves/2/left", [{"reason": "resigned"}], "bad-field", 3),
        ("result", 7, "bad-field", None),
        ("result/termination", "won", "bad-field", None),
        ("result/points", [1, "1"], "bad-field", None),
        ("result/terminations", ["completed", "won"], "bad-field", None),
        ("result/points", [1, 2], "wrong-result", None),
        ("result/penalty_points", [-88, -89], "wrong-result", None),
        ("result/ranks", [2, 1], "wrong-result", None),
        ("result/termination", "completed", "wrong-result", None),
        ("result/terminations", ["resigned", "completed"], "wrong-result", None),
    ],
)
def test_what_is_wrong_is_refused_with_its_node(
    path: str, value: Any, code: str, node: int | None
) -> None:
    with pytest.raises(RecordError) as caught:
        read_json(changed(path, value))
    assert (caught.value.code, caught.value.node) == (code, node)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "bad-json"),
        ("{", "bad-json"),
        ("[" * 100_000, "bad-json"),
        (b"\xff\xfe\xfd", "bad-json"),
        ("1" * 5_000, "bad-json"),
        ("null", "bad-schema"),
        ("[]", "bad-schema"),
        ('{"variant": "duo"}', "bad-schema"),
    ],
)
def test_what_is_no_record_at_all(text: str | bytes, code: str) -> None:
    with pytest.raises(RecordError) as caught:
        read_json(text)
    assert caught.value.code == code

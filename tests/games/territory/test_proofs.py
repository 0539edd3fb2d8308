"""A proof is worth what it would find: every figure of a record is spoilt once, and the spoilt one is named."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from games.territory.proofs import (
    Difference,
    UnplayableError,
    digest,
    final_score,
    perft,
    read_game,
    verify,
)
from games.territory.rules import VARIANTS, Placements, Position, parse_move, variant

OWN = Path(__file__).parents[2] / "reference" / "territory" / "games.jsonl"
RECORDS: dict[str, Any] = {
    game["id"]: game for game in map(json.loads, OWN.read_text().splitlines())
}
PASSES = next(
    name for name, game in RECORDS.items() if game["variant"] == "duo" and game["n_passes"] > 1
)
"""A game with two colours and with passes."""


def record(name: str = PASSES) -> dict[str, Any]:
    """A copy to be spoilt, with the cells that only the large collection has."""
    game: dict[str, Any] = json.loads(json.dumps(RECORDS[name]))
    for turn in game["moves"]:
        passed = turn["m"] == "pass"
        turn["cells"] = [
            [game["size"] - int(cell[1:]), ord(cell[0]) - ord("a")]
            for cell in ([] if passed else turn["m"].split(","))
        ]
    return game


def found_in(game: dict[str, Any]) -> list[Difference]:
    return list(verify(read_game(json.dumps(game))).differences)


def pass_of(game: dict[str, Any]) -> int:
    """The place of the first pass."""
    return next(at for at, turn in enumerate(game["moves"]) if turn["m"] == "pass")


# Counting


def test_no_placement_is_one_sequence_of_nothing() -> None:
    assert perft(Position.start(variant("duo")), 0) == 1


def test_counts_from_a_position_are_the_sum_of_those_behind_its_moves() -> None:
    start = Position.start(variant("junior"))
    position = start.play(parse_move("e10", start.variant))
    assert perft(position, 2) == sum(len(position.play(move).legal()) for move in position.legal())


def test_a_sequence_goes_on_over_skipped_turns_and_ends_with_the_game() -> None:
    """Orange has only the single square, blue two pieces: then nobody has anything left."""
    start = Position.start(variant("duo"))
    position = replace(start, left=(("1", "2"), ("1",)))
    counts = [perft(position, depth) for depth in range(5)]
    assert counts[1] == 5  # the single square, or the domino in four ways
    assert counts[2] == counts[1]  # orange's only move
    assert counts[3] > counts[2]  # orange is out, blue places its other piece
    assert counts[4] == 0


# Records


def test_a_true_record_has_no_difference() -> None:
    game = record()
    report = verify(read_game(json.dumps(game)))
    assert report.positions == len(game["moves"])
    assert report.differences == ()


TURN_SPOILERS: list[tuple[str, Any]] = [
    ("c", lambda value: "w" if value == "b" else "b"),
    ("n", lambda value: value + 1),
    ("h", lambda value: value[::-1]),
    ("p", lambda value: "X" if value != "X" else "F"),
    ("cells", lambda value: value[::-1]),
    ("cells", lambda value: [[row + 1, column] for row, column in value]),
    ("m", lambda value: value.upper()),
    ("m", lambda value: ",".join(reversed(value.split(",")))),
]


@pytest.mark.parametrize(("field", "spoil"), TURN_SPOILERS)
@pytest.mark.parametrize("at", [0, 7])
def test_a_spoilt_placement_is_found(at: int, field: str, spoil: Callable[[Any], Any]) -> None:
    game = record()
    true = game["moves"][at][field]
    game["moves"][at][field] = spoil(true)
    (difference,) = found_in(game)
    assert (difference.game, difference.field) == (PASSES, f"moves[{at}].{field}")
    assert plain(difference.recorded) == spoil(true)
    assert plain(difference.found) == true


def plain(value: object) -> object:
    """As JSON has it: lists for tuples."""
    return json.loads(json.dumps(value))


@pytest.mark.parametrize(
    ("field", "spoilt"),
    [("c", "other"), ("n", 1), ("h", "0" * 64), ("p", "1"), ("cells", [[0, 0]])],
)
def test_a_spoilt_pass_is_found(field: str, spoilt: Any) -> None:
    game = record()
    at = pass_of(game)
    turn = game["moves"][at]
    turn[field] = {"b": "w", "w": "b"}[turn["c"]] if spoilt == "other" else spoilt
    (difference,) = found_in(game)
    assert difference.field == f"moves[{at}].{field}"


def test_a_missing_pass_is_found() -> None:
    game = record()
    at = pass_of(game)
    del game["moves"][at]
    differences = found_in(game)
    assert differences[0] == Difference(PASSES, f"moves[{at}].m", game["moves"][at]["m"], "pass")


def test_a_pass_of_a_colour_that_could_move_is_found() -> None:
    game = record()
    game["moves"].insert(2, {"c": "b", "m": "pass", "n": 0})
    (difference,) = found_in(game)
    assert difference == Difference(PASSES, "moves[2].m", "pass", "b")


def test_a_pass_after_the_end_is_found() -> None:
    game = record()
    game["moves"].append({"c": "b", "m": "pass", "n": 0})
    (difference,) = found_in(game)
    assert difference.field == f"moves[{len(game['moves']) - 1}].m"
    assert difference.found == "the end of the game"


def test_a_record_that_breaks_off_is_found() -> None:
    game = record()
    last = game["moves"].pop()
    differences = found_in(game)
    assert [each.field for each in differences] == [
        "moves",
        "points",
        "pieces_placed",
        "n_placements",
    ]
    assert differences[0].found == last["c"]


@pytest.mark.parametrize(
    ("field", "spoil"),
    [
        ("size", lambda value: value + 1),
        ("n_placements", lambda value: value - 1),
        ("n_passes", lambda value: value + 1),
        ("pieces_placed", lambda value: value[::-1]),
        ("points", lambda value: [value[0], value[1] + 5]),
        ("points", lambda value: value[:1]),
        ("final_score", lambda value: "0" if value != "0" else "B+1"),
    ],
)
def test_a_spoilt_figure_of_the_whole_game_is_found(
    field: str, spoil: Callable[[Any], Any]
) -> None:
    game = record()
    true = game[field]
    game[field] = spoil(true)
    assert game[field] != true
    (difference,) = found_in(game)
    assert difference == Difference(PASSES, field, game[field], true)


@pytest.mark.parametrize("key", ["classic", "classic_2", "classic_3", "junior"])
def test_scores_of_every_variant_are_compared(key: str) -> None:
    name = next(name for name, game in RECORDS.items() if game["variant"] == key)
    assert found_in(record(name)) == []
    game = record(name) | {"final_score": "nonsense"}
    assert [each.field for each in found_in(game)] == ["final_score"]


@pytest.mark.parametrize(
    ("key", "points", "score"),
    [
        ("duo", (60, 52), "B+8"),
        ("duo", (52, 60), "W+8"),
        ("duo", (52, 52), "0"),
        ("classic-2", (30, 20, 40, 20), "B+30"),
        ("classic-3", (30, 20, 40, 50), "30 20 40 50"),
    ],
)
def test_the_score_as_records_write_it(key: str, points: tuple[int, ...], score: str) -> None:
    start = Position.start(variant(key))
    squares = tuple((1 << covered) - 1 for covered in points)
    assert final_score(replace(start, squares=squares, turn=None)) == score


def test_rules_that_forget_a_move_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other side of the comparison: here the rules are wrong, not the record."""
    masks = Placements.masks
    monkeypatch.setattr(Placements, "masks", lambda self: masks(self)[1:])
    fields = {each.field for each in found_in(record())}
    assert {"moves[0].n", "moves[0].h"} <= fields


def test_rules_that_let_a_colour_out_too_early_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of a colour that passes is searched anew, whatever the position says about it."""
    has_placement = Position.has_placement
    monkeypatch.setattr(
        Position,
        "has_placement",
        lambda self, colour: has_placement(self, colour) and len(self.left[colour]) > 12,
    )
    game = record()
    fields = [each.field for each in found_in(game | {"moves": game["moves"][:18]})]
    assert "moves left to b" in fields


def test_a_difference_reads_as_a_sentence() -> None:
    game = record()
    game["moves"][0]["n"] = 413
    (difference,) = found_in(game)
    assert str(difference) == f"{PASSES}: moves[0].n: recorded 413, found 414"


# What is no record


def spoilt(**changes: Any) -> str:
    return json.dumps(record() | changes)


def with_move(at: int, **changes: Any) -> str:
    game = record()
    game["moves"][at] |= changes
    return json.dumps(game)


def without(field: str, at: int | None = None) -> str:
    game = record()
    del (game if at is None else game["moves"][at])[field]
    return json.dumps(game)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("nonsense", "malformed"),
        ("{", "truncated"),
        ("[]", "Expected `object`"),
        ("[" * 100_000, "."),
        ('{"id":"\\ud800"}', "."),
        *(
            (without(field), f"`{field}`")
            for field in (
                *("id", "variant", "size", "colors", "moves", "n_placements", "n_passes"),
                *("pieces_placed", "points", "final_score"),
            )
        ),
        *((without(field, 3), f"`{field}`.*moves\\[3\\]") for field in ("c", "m", "n", "p", "h")),
        (spoilt(id=7), r"`str`.*\$\.id"),
        (spoilt(points="many"), r"\$\.points"),
        (spoilt(pieces_placed=[1.5, 2]), r"\$\.pieces_placed\[0\]"),
        (spoilt(moves=3), r"\$\.moves"),
        (with_move(2, n="33"), r"moves\[2\]\.n"),
        (with_move(2, cells=[[1]]), r"moves\[2\]\.cells\[0\]"),
        (spoilt(variant="trigon"), "There is no variant 'trigon'"),
        (spoilt(colors=["b"]), "colors"),
        (spoilt(colors=["b", "b"]), "colors"),
        (with_move(0, m="a1"), r"moves\[0\]\.m: a1: Blue's first piece has to cover e10"),
        (with_move(0, m="z1"), "outside the board"),
        (with_move(0, m="e 10"), "not a cell"),
        (with_move(0, m=""), "not a cell"),
    ],
)
def test_what_cannot_be_played_is_refused_with_the_place(line: str, says: str) -> None:
    with pytest.raises(UnplayableError, match=says) as caught:
        verify(read_game(line))
    assert caught.value.code == "unplayable"


def test_a_placement_after_the_end_is_refused() -> None:
    game = record()
    game["moves"].append(game["moves"][0])
    with pytest.raises(UnplayableError, match="The game is over"):
        found_in(game)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(UnplayableError):
        read_game(b'{"id":"\xff\xfe"}')


# Fingerprints


@pytest.mark.parametrize("key", VARIANTS)
def test_the_digest_is_that_of_the_sorted_texts(key: str) -> None:
    """An empty list and a list of one, by hand; the long ones are those of the reference games."""
    on = variant(key)
    assert digest(Placements(on.size, (), 0, 0)).startswith("e3b0c44298fc1c14")
    single = Placements(on.size, ("1",), 1, 0)  # the cell a1
    assert digest(single) == "f55ff16f66f43360266b95db6f8fec01d76031054306ae4a4b380598f6cfd114"

"""Records as Blokus SGF: what is written, what is read, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from games.territory.rules import (
    VARIANTS,
    Node,
    Record,
    RecordError,
    Setup,
    Termination,
    parse_move,
    read_sgf,
    variant,
    write_sgf,
)
from tests.games.territory.rules.records import in_file_order, records

FILES = Path(__file__).parents[3] / "reference" / "territory"
PLAYED = sorted((FILES / "sgf").glob("*.blksgf"))
HANDMADE = sorted((FILES / "sgf_handmade").glob("*.blksgf"))
EXPECTED: dict[str, dict[str, Any]] = json.loads(
    (FILES / "sgf_handmade" / "expected.json").read_text()
)
GAMES = {
    game["id"]: game for game in map(json.loads, (FILES / "games.jsonl").read_text().splitlines())
}
DUO = variant("duo")
CLASSIC = variant("classic")
GAME_NAMES = "Blokus Duo, Blokus, Blokus Two-Player, Blokus Three-Player, Blokus Junior"

# What the handmade files are refused for: the code, and the node if one is at fault.
REFUSED = {
    "bad_empty": ("bad-syntax", None),
    "bad_junior_three_instances": ("piece-not-left", 5),
    "bad_missing_gm": ("unknown-game", 0),
    "bad_not_a_piece": ("not-a-piece", 1),
    "bad_pass_empty_value": ("malformed-move", 2),
    "bad_piece_twice": ("piece-not-left", 3),
    "bad_point_off_board": ("outside-board", 1),
    "bad_truncated": ("bad-syntax", None),
    "bad_two_trees": ("bad-syntax", None),
    "bad_unknown_gm": ("unknown-game", 0),
}
# Pentobi opens these, and here they are refused on purpose (docs/records.md): the rules do not allow them.
STRICTER = {
    "loads_illegal_edge_contact": ("edge-contact", 3),
    "loads_illegal_first_move_not_on_start": ("first-cell-not-covered", 1),
    "loads_illegal_overlap": ("occupied", 2),
    "loads_wrong_turn_order": ("not-to-move", 1),
    "ok_setup_overlap": ("occupied", 0),
    "ok_skipped_colors_no_pass_nodes": ("not-to-move", 6),
}
# Pentobi counts the bonus twice.
COUNTED_OTHERWISE = {
    "ok_setup_all_21_pieces_pentobi_says_119_correct_104": {"Purple": 104, "Orange": 0}
}


def refusal(text: str | bytes) -> RecordError:
    with pytest.raises(RecordError) as caught:
        read_sgf(text)
    return caught.value


# The collection


@pytest.mark.parametrize("path", PLAYED, ids=lambda path: path.stem)
def test_files_of_another_program(path: Path) -> None:
    record = read_sgf(path.read_bytes())
    assert record.result is not None
    assert record.result.termination is Termination.COMPLETED
    assert read_sgf(write_sgf(record)) == record
    game = GAMES.get(path.stem)
    if game is not None:
        moves = [entry["m"] for entry in game["moves"] if entry["m"] != "pass"]
        assert [node.move.text for node in record.nodes if node.move] == moves
        end = record.replay().end
        assert [end.points(colour) for colour in range(len(end.variant.colours))] == game["points"]


def test_the_collection_holds_what_the_games_are() -> None:
    assert len(PLAYED) == 19
    assert {path.stem for path in PLAYED} & set(GAMES)
    assert {path.name for path in HANDMADE} == set(EXPECTED)
    assert {*REFUSED, *STRICTER} <= {path.stem for path in HANDMADE}


@pytest.mark.parametrize("path", HANDMADE, ids=lambda path: path.stem)
def test_handmade_files(path: Path) -> None:
    expected = EXPECTED[path.name]
    # What the other program refuses is refused here, and so are some that it opens.
    assert (path.stem in REFUSED) == (not expected["loads"])
    wrong = (REFUSED | STRICTER).get(path.stem)
    if wrong is not None:
        error = refusal(path.read_bytes())
        assert (error.code, error.node) == wrong
        assert error.line == (2 if path.stem == "bad_two_trees" else 1)
        return
    record = read_sgf(path.read_bytes())
    end = record.replay().end
    points = COUNTED_OTHERWISE.get(path.stem, expected["points"])
    assert [end.points(colour) for colour in range(len(points))] == list(points.values())
    assert end.turn == list(points).index(expected["to_play"])
    assert read_sgf(write_sgf(record)) == record


@settings(deadline=None, max_examples=50)
@given(records())
def test_records_round_trip(record: Record) -> None:
    expected = in_file_order(record)
    assert read_sgf(write_sgf(record)) == expected
    assert read_sgf(write_sgf(record).encode()) == expected
    assert write_sgf(expected) == write_sgf(record)


# Writing


def test_the_form() -> None:
    moves = Record.of(DUO, ["e10", "j5", "f8,f9"]).nodes
    record = Record(
        DUO,
        (
            *moves,
            replace(moves[3], parent=3, colour=1, move=parse_move("k6,k7", DUO), comment="a]b"),
            Node(2, setup=Setup(((), ()), (moves[1].move,) if moves[1].move else (), 0)),
        ),
        ("Ada", "Ben"),
        "2026-11-30",
    )
    assert write_sgf(record) == (
        "(;GM[Blokus Duo]FF[4]CA[UTF-8]AP[Kado]PB[Ada]PW[Ben]DT[2026-11-30]\n"
        ";B[e10]\n"
        ";W[j5]\n"
        "(;B[f8,f9]\n"
        ";W[k6,k7]C[a\\]b])\n"
        "(;AE[e10]PL[B]))\n"
    )


@pytest.mark.parametrize(
    ("key", "game", "player", "move"),
    [
        ("duo", "Blokus Duo", "PB", "B[e10]"),
        ("classic", "Blokus", "P1", "1[a20]"),
        ("classic-2", "Blokus Two-Player", "PB", "1[a20]"),
        ("classic-3", "Blokus Three-Player", "P1", "1[a20]"),
        ("junior", "Blokus Junior", "PB", "B[e10]"),
    ],
)
def test_names_of_games_players_and_colours(key: str, game: str, player: str, move: str) -> None:
    on = VARIANTS[key]
    names = ["Ada", *[""] * (on.seats - 1)]
    text = write_sgf(Record.of(on, [on.first_cells[0]], names))
    assert text == f"(;GM[{game}]FF[4]CA[UTF-8]AP[Kado]{player}[Ada]\n;{move})\n"
    assert read_sgf(text).players == tuple(names)


LEFT = {
    "resigned": (Termination.RESIGNED, "R"),
    "timeout": (Termination.TIMEOUT, "T"),
    "abandoned": (Termination.ABANDONED, "F"),
}


@pytest.mark.parametrize("word", LEFT)
def test_who_leaves_and_the_result(word: str) -> None:
    reason, letter = LEFT[word]
    start = Record(CLASSIC, (Node(-1, left=((3, reason), (0, reason), (1, reason))),))
    record = start.with_result()
    text = write_sgf(record)
    assert f"RE[3+{letter}]LEFT[4:{word}][1:{word}][2:{word}]" in text
    assert read_sgf(text) == record


def test_results_by_points() -> None:
    """The lead over the best of the others who finished; a shared first place is 0."""
    record = read_sgf(next(p for p in PLAYED if p.stem == "classic-level6-3700").read_bytes())
    assert "RE[1+29]" in write_sgf(record)
    record = read_sgf(next(p for p in PLAYED if p.stem == "classic_2-level6-4700").read_bytes())
    assert "RE[B+22]" in write_sgf(record)
    assert record.result is not None
    drawn = replace(record.result, points=(5, 5), ranks=(1, 1))
    assert "RE[0]" in write_sgf(replace(record, result=drawn))


def test_the_lead_is_over_those_who_finished() -> None:
    moves = next(p for p in PLAYED if p.stem == "classic-level6-3700").read_text()
    record = read_sgf(moves)
    order = list(record.nodes)
    # Yellow, second with 80 points, leaves before the last move; Green has 78.
    order[-2] = replace(order[-2], left=((1, Termination.RESIGNED),))
    found = replace(record, nodes=tuple(order)).with_result()
    assert found.result is not None
    assert found.result.ranks == (1, 4, 3, 2)
    assert "RE[1+31]" in write_sgf(found)


def test_an_aborted_game_is_void() -> None:
    record = Record.of(DUO, ["e10"]).with_result(aborted=True)
    assert "RE[Void]" in write_sgf(record)
    assert read_sgf(write_sgf(record)) == record


def test_a_variant_without_a_name_in_sgf_is_refused() -> None:
    with pytest.raises(RecordError) as caught:
        write_sgf(Record(replace(DUO, key="other", sgf_game="")))
    assert caught.value.code == "unknown-game"


@pytest.mark.parametrize(
    "properties",
    [
        *({name: ("a1",)} for name in ("B", "W", "1", "2", "3", "4", "AB", "A1", "AE")),
        *({name: ("1",)} for name in ("PL", "LEFT", "C", "aa", "T E")),
        {"TE": ()},
    ],
)
def test_properties_that_would_spoil_the_file_are_refused(
    properties: dict[str, tuple[str, ...]],
) -> None:
    with pytest.raises(RecordError) as caught:
        write_sgf(Record(DUO, (Node(-1), Node(0, properties=properties))))
    assert caught.value.code == "bad-property"


# Reading


def test_other_properties_are_kept() -> None:
    record = read_sgf("(;GM[Blokus Duo]EV[Cup];B[e10]TE[1]XY[1][2])")
    assert (record.nodes[0].properties, record.nodes[1].properties) == (
        {"EV": ("Cup",)},
        {"TE": ("1",), "XY": ("1", "2")},
    )


def test_of_several_names_days_and_results_the_first_counts() -> None:
    record = read_sgf("(;GM[Blokus Duo]PB[Ada][Bea]DT[2026-11-30][x]RE[W+R][B+R];B[e10])")
    assert (record.players, record.date) == (("Ada", ""), "2026-11-30")
    assert record.result is not None
    assert record.result.winners == (1,)


def test_what_belongs_to_the_root_is_a_remark_elsewhere() -> None:
    record = read_sgf("(;GM[Blokus Duo];B[e10]PB[Ada])")
    assert (record.players, record.nodes[1].properties) == ((), {"PB": ("Ada",)})


def test_names_and_days_are_one_line() -> None:
    record = read_sgf("(;GM[Blokus\nDuo]PB[Ada\n Lovelace ]DT[2026-11-30,\n12-01])")
    assert (record.players, record.date) == (("Ada Lovelace", ""), "2026-11-30, 12-01")


def test_colours_may_stand_under_their_old_names() -> None:
    record = read_sgf("(;GM[Blokus Two-Player];BLUE[a20];YELLOW[t20];RED[t1];GREEN[a1])")
    assert [node.colour for node in record.nodes] == [None, 0, 1, 2, 3]
    assert ";3[t1]" in write_sgf(record)


@pytest.mark.parametrize(
    ("said", "winner", "reason"),
    [
        ("B+R", 0, Termination.RESIGNED),
        ("w+resign", 1, Termination.RESIGNED),
        ("W+T", 1, Termination.TIMEOUT),
        ("B+Time", 0, Termination.TIMEOUT),
        ("B+F", 0, Termination.ABANDONED),
        ("W+Forfeit", 1, Termination.ABANDONED),
    ],
)
def test_a_game_may_end_by_its_result_alone(said: str, winner: int, reason: Termination) -> None:
    record = read_sgf(f"(;GM[Blokus Duo]RE[{said}];B[e10](;W[j5])(;W[j5,j6]))")
    assert record.result is not None
    assert (record.result.winners, record.result.termination) == ((winner,), reason)
    assert record.nodes[2].left == ((1 - winner, reason),)
    assert read_sgf(write_sgf(record)) == record


def test_a_result_that_nothing_shows_stays_a_remark() -> None:
    for said in ("B+7", "?", "1+R"):
        record = read_sgf(f"(;GM[Blokus Duo]RE[{said}];B[e10])")
        assert record.result is None
        assert f"RE[{said}]" in write_sgf(record)


def test_a_result_against_the_moves_gives_way_to_theirs() -> None:
    path = next(p for p in PLAYED if p.stem == "duo-level6-1700")
    record = read_sgf(path.read_text().replace("GM[Blokus Duo]", "GM[Blokus Duo]RE[W+R]"))
    assert record.result is not None
    assert record.result.points == (74, 66)
    assert "RE[B+8]" in write_sgf(record)


@pytest.mark.parametrize(
    ("text", "code", "where"),
    [
        ("(;GM[]\n;B[e10])", "unknown-game", (1, 0)),
        ("(;\nGM[Blokus Duo]B[e10]W[j5])", "bad-property", (1, 0)),
        ("(;GM[Blokus Duo]\n;1[e10])", "bad-property", (2, 1)),
        ("(;GM[Blokus Duo]\n\n;A1[e10])", "bad-property", (3, 1)),
        ("(;GM[Blokus];B[a20])", "bad-property", (1, 1)),
        ("(;GM[Blokus];AW[a20])", "bad-property", (1, 1)),
        ("(;GM[Blokus];PL[B])", "bad-property", (1, 1)),
        ("(;GM[Blokus Duo]\n;LEFT[1:resigned])", "bad-property", (2, 1)),
        ("(;GM[Blokus Duo]\n;LEFT[B:bored])", "bad-property", (2, 1)),
        ("(;GM[Blokus Duo]\n;LEFT[B:completed])", "bad-property", (2, 1)),
        ("(;GM[Blokus Duo];B[e10]\n(;W[j5])\n(;W[j6]))", "first-cell-not-covered", (3, 3)),
        ("(;GM[Blokus Duo];AB[e10,e12])", "not-a-piece", (1, 1)),
        ("(;GM[Blokus Duo];B[e10];AE[e10,e11])", "not-placed", (1, 2)),
        ("(;GM[Blokus Duo];B[e10;W[j5])", "malformed-move", (1, 1)),
        ("(;GM[Blokus Duo];B[e10][e10])", "malformed-move", (1, 1)),
        (b"\n(;GM[Blokus Duo]\n;C[\xe4]\n)", "not-utf-8", (3, None)),
    ],
)
def test_refusals_name_line_and_node(
    text: str | bytes, code: str, where: tuple[int, int | None]
) -> None:
    error = refusal(text)
    assert (error.code, (error.line, error.node)) == (code, where)
    named = [f"line {where[0]}", *([f"node {where[1]}"] if where[1] is not None else [])]
    assert str(error).startswith(", ".join(named) + ": ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"\xe4", "line 1: The file is not in UTF-8."),
        ("(;)", f"line 1, node 0: GM, the game, is missing; it may be {GAME_NAMES}."),
        (
            "(;GM[Go])",
            f"line 1, node 0: The game 'Go' is not known here; it may be {GAME_NAMES}.",
        ),
        (
            "(;GM[Blokus Duo]B[e10]W[j5])",
            "line 1, node 0: B and W are two moves in one node.",
        ),
        (
            "(;GM[Blokus Duo]1[e10])",
            f"line 1, node 0: 1 is of no colour of {DUO.title}.",
        ),
        (
            "(;GM[Blokus Duo]B[])",
            "line 1, node 0: B is empty: a turn that is skipped is not written.",
        ),
        ("(;GM[Blokus Duo]PL[1])", "line 1, node 0: PL is one of B, W."),
        (
            "(;GM[Blokus Duo]LEFT[B:bored])",
            "line 1, node 0: LEFT is a player and a reason, such as B:resigned.",
        ),
    ],
)
def test_refusals_say_what_to_mend(text: str | bytes, message: str) -> None:
    assert str(refusal(text)) == message


def test_a_set_up_needs_pieces_for_every_colour_to_be_written() -> None:
    with pytest.raises(ValueError, match="shorter"):
        write_sgf(Record(DUO, (Node(-1, setup=Setup(((),))),)))


def test_a_byte_order_mark_is_passed_over() -> None:
    assert read_sgf(b"\xef\xbb\xbf(;GM[Blokus Duo]PB[\xc3\x85sa])").players == ("Åsa", "")

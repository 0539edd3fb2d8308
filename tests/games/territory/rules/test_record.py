"""Records: the tree of a game, and the replay that checks it."""

from dataclasses import replace

import pytest

from games.territory.rules import (
    IllegalMoveError,
    Node,
    Record,
    RecordError,
    RulesError,
    Setup,
    Termination,
    Variant,
    outcome,
    parse_move,
    variant,
)

DUO = variant("duo")
CLASSIC = variant("classic")
RESIGNED, TIMEOUT = Termination.RESIGNED, Termination.TIMEOUT


def node(
    parent: int,
    colour: int,
    text: str,
    *,
    on: Variant = DUO,
    left: tuple[tuple[int, Termination], ...] = (),
) -> Node:
    return Node(parent, colour, parse_move(text, on), left=left)


def test_a_record_of_moves_has_them_in_its_main_line() -> None:
    record = Record.of(DUO, ["e10", "j5", "f8,f9"], ("Ada", "Ben"), "2026-11-30")
    assert [(n.parent, n.colour, n.move and n.move.text) for n in record.nodes] == [
        (-1, None, None),
        (0, 0, "e10"),
        (1, 1, "j5"),
        (2, 0, "f8,f9"),
    ]
    assert record.main_line == (0, 1, 2, 3)
    assert (record.players, record.date) == (("Ada", "Ben"), "2026-11-30")
    replay = record.replay()
    assert replay.positions[-1] == replay.end
    assert list(replay.plies()) == [1, 2, 3]
    assert (replay.end.turn, replay.outcome) == (1, None)


def test_the_moves_given_have_to_be_legal() -> None:
    with pytest.raises(IllegalMoveError) as caught:
        Record.of(DUO, ["e10", "e11"])
    assert caught.value.code == "first-cell-not-covered"


def test_the_first_follower_is_the_main_line_and_the_others_are_variations() -> None:
    record = Record(
        DUO,
        (
            Node(-1),
            node(0, 0, "e10"),
            node(1, 1, "j5"),
            node(1, 1, "j5,j6"),
            node(2, 0, "f9,f8"),
            node(0, 0, "e10,e11"),
        ),
    )
    assert record.followers() == ((1, 5), (2, 3), (4,), (), (), ())
    assert record.main_line == (0, 1, 2, 4)
    points = [[at.points(0), at.points(1)] for at in record.replay().positions]
    assert points == [[0, 0], [1, 0], [1, 1], [1, 2], [3, 1], [2, 0]]


@pytest.mark.parametrize("parents", [(-1, 1), (-1, 0, 2), (-1, -1), ()])
def test_a_node_follows_an_earlier_one(parents: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="follows"):
        Record(DUO, tuple(map(Node, parents)))


def test_a_move_has_a_colour() -> None:
    with pytest.raises(ValueError, match="colour"):
        Node(0, move=parse_move("e10", DUO))
    with pytest.raises(ValueError, match="colour"):
        Node(0, colour=1)


@pytest.mark.parametrize(
    ("third", "code"),
    [
        (node(2, 0, "e11"), "piece-not-left"),
        (node(2, 0, "e10,e11"), "occupied"),
        (node(2, 0, "a1,a2"), "no-corner-contact"),
        (node(2, 1, "k6,k7"), "not-to-move"),
        (node(0, 0, "a1"), "first-cell-not-covered"),
        (node(2, 0, "f8,f9", left=((1, RESIGNED), (0, RESIGNED))), "game-over"),
        (node(2, 0, "a20", on=CLASSIC), "not-a-piece"),
    ],
)
def test_a_refusal_names_the_node(third: Node, code: str) -> None:
    """In the main line and in a variation alike."""
    record = Record(DUO, (Node(-1), node(0, 0, "e10"), node(1, 1, "j5"), third))
    with pytest.raises(RecordError) as caught:
        record.replay()
    assert (caught.value.code, caught.value.node) == (code, 3)
    assert str(caught.value).startswith("node 3: ")


# Set-ups


def setup(
    blue: str = "", orange: str = "", removed: str = "", turn: int | None = None, parent: int = 0
) -> Node:
    placed, gone = (
        [tuple(parse_move(text, DUO) for text in texts.split()) for texts in group]
        for group in ([blue, orange], [removed])
    )
    return Node(parent, setup=Setup((placed[0], placed[1]), gone[0], turn))


def test_a_set_up_puts_pieces_down_and_takes_pieces_away() -> None:
    record = Record.of(DUO, ["e10", "j5,j6"])
    changed = setup(blue="e10,f10 h12", removed="e10", turn=0, parent=2)
    end = replace(record, nodes=(*record.nodes, changed)).replay().end
    assert [end.points(0), end.points(1), end.turn] == [3, 2, 0]
    assert "1" not in end.left[0]
    assert "2" not in end.left[0]


def test_taking_away_what_is_not_there_does_nothing_and_a_part_of_a_piece_is_refused() -> None:
    record = Record.of(DUO, ["e10,f10", "j5"])
    nodes = (*record.nodes, setup(removed="a1", parent=2))
    assert replace(record, nodes=nodes).replay().end.points(0) == 2
    nodes = (*record.nodes, setup(removed="f10", parent=2))
    with pytest.raises(RecordError, match=r"f10 is covered by e10,f10, .* as a whole") as caught:
        replace(record, nodes=nodes).replay()
    assert (caught.value.code, caught.value.node) == ("not-placed", 3)


def test_without_a_turn_the_next_move_says_who_is_to_move() -> None:
    nodes = (Node(-1), setup(blue="e10"), node(1, 1, "j5"), node(1, 0, "f8,f9"))
    positions = Record(DUO, nodes).replay().positions
    assert [at.turn for at in positions] == [0, 0, 0, 1]
    decided = (Node(-1), setup(blue="e10", turn=0), node(1, 1, "j5"))
    with pytest.raises(RecordError, match="Orange is not to move"):
        Record(DUO, decided).replay()
    # Only the move right after the set-up is free.
    with pytest.raises(RecordError, match="node 3: Orange is not to move"):
        Record(DUO, (*nodes[:3], node(2, 1, "k6,k7"))).replay()


def test_without_a_turn_and_a_move_the_turn_is_whose_it_was() -> None:
    record = Record.of(DUO, ["e10"])
    assert replace(record, nodes=(*record.nodes, setup(parent=1))).replay().end.turn == 1


def test_a_set_up_may_hold_a_move_which_comes_after_it() -> None:
    both = replace(setup(blue="e10", turn=1), colour=1, move=parse_move("j5", DUO))
    end = Record(DUO, (Node(-1), both)).replay().end
    assert [end.points(0), end.points(1), end.turn] == [1, 1, 0]


def test_where_each_move_was_made() -> None:
    """After the set-up of its node, with its colour to move; and it leads to the position after the node."""
    both = replace(setup(blue="e10", turn=1), colour=1, move=parse_move("j5", DUO))
    nodes = (
        Node(-1),
        both,
        setup(orange="k6,k7", parent=1),
        node(2, 1, "l8,m8,n8"),
        node(3, 0, "f8,f9"),
    )
    replay = Record(DUO, nodes).replay()
    assert [at.turn for at in replay.before] == [0, 1, 0, 1, 0]
    assert [at.points(1) for at in replay.before] == [0, 0, 3, 3, 6]
    for number in (1, 3, 4):
        move = nodes[number].move
        assert move is not None
        assert replay.before[number].play(move) == replay.positions[number]


def test_pieces_that_were_played_can_be_taken_away_later() -> None:
    record = Record.of(DUO, ["e10", "j5", "f8,f9"])
    nodes = (*record.nodes, setup(removed="f8,f9 j5", parent=3))
    end = replace(record, nodes=nodes).replay().end
    assert [end.points(0), end.points(1)] == [1, 0]


def test_pieces_of_a_set_up_may_not_overlap() -> None:
    with pytest.raises(RecordError) as caught:
        Record(DUO, (Node(-1), setup(blue="e10", orange="e10"))).replay()
    assert (caught.value.code, caught.value.node) == ("occupied", 1)


def test_who_has_left_stays_away_after_a_set_up() -> None:
    on = variant("classic-3")
    placed = tuple(() for _ in on.colours)
    nodes = (
        Node(-1),
        node(0, 0, "a20", on=on, left=((1, RESIGNED),)),
        Node(1, setup=Setup(placed, turn=1)),
    )
    end = Record(on, nodes).replay().end
    assert end.gone == {1}
    assert end.turn == 2
    # Why it left is known too, at the end of the game.
    over = Record(on, (*nodes, Node(2, left=((0, TIMEOUT),)))).with_result().result
    assert over is not None
    assert over.terminations == (TIMEOUT, RESIGNED, Termination.COMPLETED)


def test_a_set_up_has_pieces_for_every_colour() -> None:
    with pytest.raises(ValueError, match="shorter"):
        Record(DUO, (Node(-1, setup=Setup(((),))),)).replay()


# Leaving and results


def test_of_two_players_one_leaves_and_the_game_is_over() -> None:
    record = Record.of(DUO, ["e10"]).with_result()
    assert record.result is None
    left = replace(record, nodes=(*record.nodes[:-1], node(0, 0, "e10", left=((1, TIMEOUT),))))
    done = left.with_result()
    assert done.result == outcome(left.replay().end, [(1, TIMEOUT)])
    assert done.result is not None
    assert (done.result.termination, done.result.ranks) == (TIMEOUT, (1, 2))
    assert done.replay().outcome == done.result
    with pytest.raises(RecordError, match="node 2: The game is over"):
        replace(done, nodes=(*done.nodes, node(1, 1, "j5"))).replay()


def test_of_four_players_the_others_play_on() -> None:
    nodes = (
        Node(-1, left=((3, RESIGNED),)),
        node(0, 0, "a20", on=CLASSIC),
        node(1, 1, "t20", on=CLASSIC, left=((0, RESIGNED),)),
        node(2, 2, "t1", on=CLASSIC),
        node(3, 1, "s19,s18", on=CLASSIC),
    )
    record = Record(CLASSIC, nodes)
    assert record.replay().end.gone == {0, 3}
    again = Record(CLASSIC, (*nodes[:2], replace(nodes[2], left=((3, RESIGNED),))))
    with pytest.raises(RecordError, match="node 2: Seat 3 has left before") as caught:
        again.replay()
    assert caught.value.code == "not-seated"
    over = Record(DUO, (Node(-1, left=((0, RESIGNED), (1, RESIGNED))),))
    with pytest.raises(RecordError, match=r"^node 0: Nobody can leave a game that is over\.$"):
        over.replay()


@pytest.mark.parametrize("seat", [-1, 4])
def test_only_a_seat_that_there_is_can_leave(seat: int) -> None:
    with pytest.raises(RecordError, match=f"node 0: There is no seat {seat}") as caught:
        Record(CLASSIC, (Node(-1, left=((seat, RESIGNED),)),)).replay()
    assert caught.value.code == "not-seated"


def test_an_outcome_has_each_seat_leave_once() -> None:
    end = Record(DUO, (Node(-1, left=((0, RESIGNED),)),)).replay().end
    with pytest.raises(RulesError, match="only once") as caught:
        outcome(end, [(0, RESIGNED), (0, TIMEOUT)])
    assert caught.value.code == "not-seated"


def test_a_result_has_to_be_that_of_the_moves() -> None:
    nodes = (Node(-1), node(0, 0, "e10", left=((0, RESIGNED),)))
    done = Record(DUO, nodes).with_result()
    assert done.result is not None
    for other in (
        replace(done.result, points=(2, 0)),
        replace(done.result, ranks=(1, 2)),
        replace(done.result, termination=TIMEOUT),
    ):
        with pytest.raises(RecordError) as caught:
            replace(done, result=other).replay()
        assert (caught.value.code, caught.value.node) == ("wrong-result", None)
    with pytest.raises(RecordError, match="not over"):
        replace(Record.of(DUO, ["e10"]), result=done.result).replay()


def test_an_aborted_game_may_end_anywhere() -> None:
    aborted = Record.of(DUO, ["e10"]).with_result(aborted=True)
    assert aborted.result is not None
    assert aborted.result.termination is Termination.ABORTED
    assert aborted.replay().outcome == aborted.result
    left = replace(aborted, nodes=(*aborted.nodes[:-1], node(0, 0, "e10", left=((1, TIMEOUT),))))
    found = left.with_result(aborted=True).result
    assert found is not None
    assert found.terminations == (Termination.ABORTED, TIMEOUT)

import pytest

from games.territory.rules import (
    IllegalMoveError,
    Move,
    Placements,
    Position,
    Step,
    Variant,
    parse_move,
    variant,
)
from games.territory.rules.geometry import board

DUO = variant("duo")


def played(*texts: str, on: Variant = DUO) -> Position:
    position = Position.start(on)
    for text in texts:
        position = position.play(parse_move(text, on))
    return position


def lone(key: str, *, blue: str, rest: str = "") -> Position:
    """Blue has placed some pieces, parted by spaces, and no other colour any but ``rest``."""
    on = variant(key)
    placed = [[parse_move(text, on) for text in texts.split()] for texts in (blue, rest)]
    return Position.setup(on, placed)


def test_the_start() -> None:
    position = Position.start(variant("classic"))
    assert position.turn == 0
    assert position.seat_to_move == 0
    assert not position.is_over
    assert position.squares == (0, 0, 0, 0)
    assert position.attach_points(0) == ("a20",)
    assert position.attach_points(3) == ("a1",)
    assert [position.points(colour) for colour in range(4)] == [0, 0, 0, 0]


def test_a_move_takes_the_piece_covers_its_cells_and_passes_the_turn() -> None:
    position = played("f9,g9,e10,f10")
    assert list(board(14).split(position.squares[0])) == ["f9", "g9", "e10", "f10"]
    assert "Z4" not in position.left[0]
    assert "Z4" in position.left[1]
    assert position.last == ("Z4", None)
    assert position.turn == 1
    assert position.points(0) == 4


def test_a_position_is_a_value() -> None:
    start = Position.start(DUO)
    assert played("e10") == played("e10")
    assert hash(played("e10")) == hash(played("e10"))
    assert start == Position.start(DUO)
    assert start != played("e10")
    with pytest.raises(AttributeError):
        start.turn = 1  # type: ignore[misc]


def test_attach_points_touch_at_a_corner_only_and_are_free() -> None:
    position = played("e10,f10")
    assert position.attach_points(0) == ("d9", "g9", "d11", "g11")
    position = position.play(parse_move("j5,j6,j7,j8,j9", 14)).play(parse_move("g9", 14))
    assert position.attach_points(0) == ("f8", "h8", "d9", "h10", "d11", "g11")


def test_a_copy_of_a_piece_stays() -> None:
    junior = variant("junior")
    position = Position.start(junior).play(parse_move("e10", junior))
    assert position.left[0].count("1") == 1
    assert parse_move("d9", junior) in position.legal(0)


@pytest.mark.parametrize(
    ("before", "text", "code", "says"),
    [
        ((), "a1", "first-cell-not-covered", "Blue's first piece has to cover e10"),
        (("e10",), "e10,e11", "occupied", "e10 is occupied"),
        (("e10",), "e9", "first-cell-not-covered", "Orange's first piece has to cover j5"),
        (("e10", "j5"), "d11", "piece-not-left", "Blue has no piece 1 left"),
        (("e10", "j5"), "d11,e11", "edge-contact", "Blue's square e10"),
        (
            ("e10", "j5"),
            "f10,f9",
            "edge-contact",
            r"e10 along an edge; .* only touch at corners\.$",
        ),
        (("e10", "j5"), "a1,a2", "no-corner-contact", "Blue at a corner"),
        (("e10", "j5"), "j5,k5", "occupied", "j5 is occupied"),
    ],
)
def test_refusals(before: tuple[str, ...], text: str, code: str, says: str) -> None:
    position = played(*before)
    move = parse_move(text, 14)
    with pytest.raises(IllegalMoveError, match=says) as caught:
        position.play(move)
    assert caught.value.code == code
    assert move not in position.legal()


@pytest.mark.parametrize("verb", ["check", "play", "advance"])
def test_a_move_of_another_colour_is_refused(verb: str) -> None:
    position = played("e10")
    with pytest.raises(
        IllegalMoveError, match="Blue is not to move; it is Orange's turn"
    ) as caught:
        getattr(position, verb)(parse_move("d9", 14), colour=0)
    assert caught.value.code == "not-to-move"
    assert position.play(parse_move("j5", 14), colour=1).turn == 0


@pytest.mark.parametrize(
    "forged",
    [
        Move("2", 0b101, 14),
        Move("X", parse_move("e10", 14).mask, 14),
        Move("1", 0, 14),
        Move("1", 1 << 400, 14),
        parse_move("a20", 20),
    ],
)
def test_a_move_made_by_hand_or_for_another_board_is_refused(forged: Move) -> None:
    position = Position.start(DUO)
    assert forged not in position.legal()
    with pytest.raises(IllegalMoveError, match=r"^These cells are not the shape") as caught:
        position.play(forged)
    assert caught.value.code == "not-a-piece"


def test_nothing_but_a_move_is_a_placement() -> None:
    assert not Position.start(DUO).legal().__contains__("e10")


def test_placements_show_their_moves() -> None:
    tables = board(14)
    two = Placements(14, ("1", "1"), tables.cells["a1"] | tables.cells["n14"], 0)
    assert repr(two) == "<Placements a1, n14>"


def test_other_colours_may_be_touched_along_edges() -> None:
    position = lone("duo", blue="e10", rest="j5 i6,h6,g6,f6 e7,e8,e9")
    assert parse_move("d9", 14) not in position.legal(0)
    assert parse_move("f9,f8,f7", 14) in position.legal(0)


# The end of a game, on a board that is full but for two corners.


def shut_in() -> Position:
    """Duo with Blue to move: it has the single square only, and one cell for it, a1."""
    cells = board(14).cells
    blue = cells["b2"]
    orange = board(14).full & ~(cells["a1"] | cells["n14"] | blue)
    return Position(DUO, (blue, orange), (("1",), ("1", "2")), ("X", "X"), 0)


def test_a_colour_without_a_placement_is_skipped_and_out() -> None:
    step = shut_in().advance(parse_move("a1", 14))
    # Orange touches n14 along an edge everywhere, Blue has nothing left.
    assert step.position.is_over
    assert step.newly_out == (1, 0)
    assert step.skipped == ()
    assert step.position.out == {0, 1}
    assert step.position.seat_to_move is None


def test_a_finished_game_takes_no_moves() -> None:
    over = shut_in().play(parse_move("a1", 14))
    assert not over.legal()
    assert len(over.legal(1)) == 0
    assert over.attach_points(0) == ()
    with pytest.raises(IllegalMoveError, match=r"^The game is over\.$") as caught:
        over.play(parse_move("n14", 14))
    assert caught.value.code == "game-over"


def test_the_same_colour_moves_again_when_the_others_are_out() -> None:
    before = shut_in()
    cells = board(14).cells
    # Blue may go on at n14 as well, from m13.
    blue = before.squares[0] | cells["m13"]
    orange = before.squares[1] & ~cells["m13"]
    before = Position(DUO, (blue, orange), (("1", "1"), ("1", "2")), ("X", "X"), 0)
    step = before.advance(parse_move("a1", 14))
    assert (step.position.turn, step.skipped, step.newly_out) == (0, (1,), (1,))
    last = step.position.advance(parse_move("n14", 14))
    assert (last.position.turn, last.skipped, last.newly_out) == (None, (), (0,))


def test_a_skip_of_a_colour_that_is_out_already_is_told_again() -> None:
    on = variant("classic")
    start = Position.start(on)
    position = Position(on, start.squares, start.left, start.last, 0, frozenset({1, 2}))
    step = position.advance(parse_move("a20", on))
    assert (step.position.turn, step.skipped, step.newly_out) == (3, (1, 2), ())


# Points


@pytest.mark.parametrize(
    ("left", "last", "points"),
    [(("L4", "I5", "P"), "1", 75), ((), "X", 104), ((), "1", 109), (("1",), "X", 88)],
)
def test_points_of_the_published_examples(left: tuple[str, ...], last: str, points: int) -> None:
    sizes = {"L4": 4, "I5": 5, "P": 5, "1": 1}
    squares = (1 << (89 - sum(sizes[piece] for piece in left))) - 1
    position = Position(DUO, (squares, 0), (left, DUO.hand), (last, None), None)
    assert position.points(0) == points
    assert position.points(1) == 0


@pytest.mark.parametrize("last", ["1", "P"])
def test_junior_has_no_bonus(last: str) -> None:
    junior = variant("junior")
    position = Position(junior, ((1 << 88) - 1, 0), ((), junior.hand), (last, None), None)
    assert position.points(0) == 88


# Seats


def test_the_seats_of_two_colours_each() -> None:
    position = Position.start(variant("classic-2"))
    seats = []
    for text in ("a20", "t20", "t1", "a1"):
        seats.append(position.seat_to_move)
        position = position.play(parse_move(text, 20))
    assert seats == [0, 1, 0, 1]


def test_the_shared_colour_goes_round_the_seats() -> None:
    position = Position.start(variant("classic-3"))
    seats = []
    for text in ("a20", "t20", "t1", "a1", "b19,b18", "s19,s18", "s2,s3", "b2,b3"):
        seats.append(position.seat_to_move)
        position = position.play(parse_move(text, 20))
    assert seats == [0, 1, 2, 0, 0, 1, 2, 1]


def test_a_skipped_turn_of_the_shared_colour_passes_nothing_on() -> None:
    on = variant("classic-3")
    start = Position.start(on)
    placed = ("1", "2")
    green = tuple(piece for piece in on.hand if piece not in placed)
    position = Position(on, start.squares, (*start.left[:3], green), start.last, 3)
    assert position.seat_of(3) == 2
    skipped = Position(
        on, position.squares, position.left, position.last, 2, frozenset({3})
    ).advance(parse_move("t1", on))
    assert skipped.skipped == (3,)
    assert skipped.position.seat_of(3) == 2


def test_a_seat_that_leaves_gets_no_more_turns_and_keeps_its_squares() -> None:
    position = played("a20", on=variant("classic"))
    step = position.without_seat(1)
    assert step.position.turn == 2
    assert step.skipped == step.newly_out == ()
    assert step.position.out == frozenset()
    assert not step.position.has_placement(1)
    step = step.position.without_seat(0)
    assert step.position.turn == 2
    assert step.skipped == step.newly_out == ()
    assert step.position.squares[0] == position.squares[0]
    # The turn goes by the colours of those who left: they are not out, and no skip is told.
    step = step.position.play(parse_move("t1", 20)).advance(parse_move("a1", 20))
    assert (step.position.turn, step.skipped, step.newly_out) == (2, (), ())
    assert step.position.out == frozenset()


def test_leaving_twice_changes_nothing() -> None:
    left = Position.start(variant("classic")).without_seat(1).position
    assert left.without_seat(1) == Step(left, (), ())


def test_one_seat_alone_does_not_play_on() -> None:
    step = Position.start(DUO).without_seat(1)
    assert step.position.is_over
    assert step.skipped == step.newly_out == ()
    assert not step.position.is_playing(0)
    assert not step.position.legal(0)
    assert step.position.without_seat(0) == Step(step.position, (), ())
    two_colours = Position.start(variant("classic-2")).without_seat(0).position
    assert two_colours.is_over
    four = Position.start(variant("classic"))
    for seat, over in ((3, False), (0, False), (2, True)):
        four = four.without_seat(seat).position
        assert four.is_over is over


def test_a_leaver_may_leave_the_turn_to_a_colour_that_can_still_place() -> None:
    on = variant("classic")
    start = Position.start(on)
    # Yellow's first cell is taken, so it will be found out when its turn comes.
    squares = (board(20).cells["t20"], 0, 0, 0)
    position = Position(on, squares, start.left, start.last, 0)
    step = position.without_seat(0)
    assert (step.position.turn, step.skipped, step.newly_out) == (2, (1,), (1,))


def test_the_shared_colour_passes_to_the_next_seat_that_plays() -> None:
    position = played("a20", "t20", "t1", on=variant("classic-3"))
    assert (position.turn, position.seat_to_move) == (3, 0)
    step = position.without_seat(0)
    assert (step.position.turn, step.position.seat_to_move) == (3, 1)
    after = step.position.play(parse_move("a1", 20))
    assert (after.turn, after.seat_of(3)) == (1, 1)


# Set-up and folds


def test_an_empty_board_that_is_set_up_is_the_start() -> None:
    for key in ("duo", "classic-3"):
        assert Position.setup(variant(key), []) == Position.start(variant(key))


@pytest.mark.parametrize("turn", range(4))
def test_any_colour_may_be_the_one_to_move(turn: int) -> None:
    assert Position.setup(variant("classic"), [], turn).turn == turn


def test_a_set_up_position_starts_with_the_colour_asked_for_or_the_next_that_can() -> None:
    placed = [[parse_move("e10", DUO)], [parse_move("j5,j6", DUO)]]
    position = Position.setup(DUO, placed, turn=1)
    assert (position.turn, position.last, position.points(1)) == (1, ("1", "2"), 2)
    assert len(position.left[0]) == 20
    blocked = Position.setup(DUO, [[parse_move("j5", DUO)], []], turn=1)
    assert (blocked.turn, blocked.out) == (0, frozenset({1}))


@pytest.mark.parametrize(
    ("blue", "rest", "code"), [("e10 e10,e11", "", "occupied"), ("e10 a1", "", "piece-not-left")]
)
def test_an_impossible_set_up_is_refused(blue: str, rest: str, code: str) -> None:
    with pytest.raises(IllegalMoveError) as caught:
        lone("duo", blue=blue, rest=rest)
    assert caught.value.code == code


def test_recorded_colours_are_believed() -> None:
    position = played("e10").apply(parse_move("j5", 14), newly_out=[0])
    assert (position.turn, position.out) == (1, frozenset({0}))
    assert not position.is_playing(0)
    assert not position.has_placement(0)

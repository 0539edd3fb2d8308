import pytest

from games.territory.rules import (
    GameNotOverError,
    Outcome,
    Position,
    Termination,
    outcome,
    variant,
)

RESIGNED, TIMEOUT, COMPLETED = Termination.RESIGNED, Termination.TIMEOUT, Termination.COMPLETED


def over(key: str, *points: int) -> Position:
    """A finished position in which the colours have so many points, none with a bonus."""
    on = variant(key)
    squares = tuple((1 << covered) - 1 for covered in points)
    return Position(on, squares, (on.hand,) * len(points), (None,) * len(points), None)


def test_the_higher_total_wins() -> None:
    found = outcome(over("duo", 60, 75))
    assert found == Outcome(COMPLETED, (60, 75), (-29, -14), (2, 1), (COMPLETED, COMPLETED))
    assert found.winners == (1,)


def test_equal_totals_are_a_draw() -> None:
    found = outcome(over("duo", 60, 60))
    assert found.ranks == (1, 1)
    assert found.winners == (0, 1)


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ((60, 70, 60, 50), (2, 1, 2, 4)),
        ((60, 60, 60, 60), (1, 1, 1, 1)),
        ((70, 60, 70, 60), (1, 3, 1, 3)),
        ((10, 20, 30, 40), (4, 3, 2, 1)),
    ],
)
def test_shared_places(points: tuple[int, ...], expected: tuple[int, ...]) -> None:
    assert outcome(over("classic", *points)).ranks == expected


def test_two_colours_add_up() -> None:
    found = outcome(over("classic-2", 80, 50, 20, 60))
    assert found.points == (100, 110)
    assert found.penalty_points == (-78, -68)
    assert found.ranks == (2, 1)


def test_the_shared_colour_counts_for_nobody() -> None:
    found = outcome(over("classic-3", 50, 60, 70, 89))
    assert found.points == (50, 60, 70)
    assert found.ranks == (3, 2, 1)


def test_each_colour_has_its_own_bonus() -> None:
    on = variant("classic-2")
    whole = (1 << 89) - 1
    position = Position(
        on, (whole, whole, 0, 1), ((), (), on.hand, on.hand[1:]), ("1", "X", None, "1"), None
    )
    found = outcome(position)
    assert found.points == (109, 105)
    assert found.penalty_points == (109 - 178, 105 - 178)


def test_all_placed_is_above_zero_in_the_classic_view() -> None:
    on = variant("duo")
    whole = (1 << 89) - 1
    position = Position(on, (whole, whole), ((), ()), ("1", "X"), None)
    assert outcome(position).penalty_points == (20, 15)


def test_of_two_players_the_other_wins_whatever_the_points() -> None:
    position = Position.start(variant("duo"))
    found = outcome(position, [(0, TIMEOUT)])
    assert found.termination is TIMEOUT
    assert found.ranks == (2, 1)
    assert found.terminations == (TIMEOUT, COMPLETED)
    ahead = outcome(over("duo", 80, 10), [(0, RESIGNED)])
    assert (ahead.termination, ahead.ranks) == (RESIGNED, (2, 1))


def test_leavers_rank_below_all_who_finished_the_first_to_leave_last() -> None:
    found = outcome(over("classic", 80, 50, 70, 60), [(0, RESIGNED), (2, TIMEOUT)])
    assert found.termination is COMPLETED
    assert found.ranks == (4, 2, 3, 1)
    assert found.terminations == (RESIGNED, COMPLETED, TIMEOUT, COMPLETED)


def test_finishers_tie_above_leavers() -> None:
    assert outcome(over("classic", 50, 50, 70, 60), [(2, RESIGNED)]).ranks == (2, 2, 4, 1)


def test_the_last_leaver_ends_the_game() -> None:
    position = Position.start(variant("classic-3"))
    leavers = [(1, RESIGNED), (0, TIMEOUT)]
    found = outcome(position, leavers)
    assert found.termination is TIMEOUT
    assert found.ranks == (2, 3, 1)


def test_a_game_that_goes_on_has_no_outcome() -> None:
    with pytest.raises(GameNotOverError, match=r"^The game is still being played\.$") as caught:
        outcome(Position.start(variant("duo")))
    assert caught.value.code == "game-not-over"
    with pytest.raises(GameNotOverError):
        outcome(Position.start(variant("classic")), [(0, RESIGNED), (1, RESIGNED)])


def test_an_aborted_game_has_no_winner() -> None:
    found = outcome(over("duo", 60, 75), aborted=True)
    assert found.termination is Termination.ABORTED
    assert found.points == (60, 75)
    assert found.ranks == (1, 1)
    assert found.winners == ()
    assert found.terminations == (Termination.ABORTED, Termination.ABORTED)


def test_an_aborted_game_remembers_who_had_left() -> None:
    found = outcome(Position.start(variant("classic")), [(2, RESIGNED)], aborted=True)
    aborted = Termination.ABORTED
    assert found.terminations == (aborted, aborted, RESIGNED, aborted)
    assert (found.termination, found.ranks) == (aborted, (1, 1, 1, 1))


def test_termination_texts() -> None:
    assert [str(each) for each in Termination] == [
        "completed",
        "resigned",
        "timeout",
        "abandoned",
        "drawn",
        "replaced",
        "aborted",
    ]


def test_when_all_have_left_the_last_to_leave_is_first() -> None:
    position = Position.start(variant("duo"))
    found = outcome(position, [(1, Termination.ABANDONED), (0, Termination.ABANDONED)])
    assert found.termination is Termination.ABANDONED
    assert found.ranks == (1, 2)

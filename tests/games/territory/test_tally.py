"""What a game is for each player, and what many come to."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.territory.rules import VARIANTS, variant
from games.territory.tally import Chair, Played, Result, Tally, is_perfect, keys_of, played

DUO, CLASSIC = variant("duo"), variant("classic")


@pytest.mark.parametrize(
    ("key", "points", "perfect"),
    [
        ("duo", 103, False), ("duo", 104, True), ("duo", 109, True),
        ("classic-2", 109 + 88, False), ("classic-2", 208, True), ("classic-2", 109 + 109, True),
        ("classic-3", 104, True), ("junior", 87, False), ("junior", 88, True),
    ],
)  # fmt: skip
def test_perfect_is_every_piece_of_every_colour(key: str, points: int, perfect: bool) -> None:
    assert variant("junior").hand_cells == 88
    assert is_perfect(variant(key), 0, points) is perfect


def test_the_first_alone_has_won_and_shared_places_are_drawn() -> None:
    chairs = [Chair(1, "", 60, 1), Chair(2, "", 50, 2), Chair(3, "easy", 50, 2), Chair(4, "", 9, 4)]
    assert {who: one.result for who, one in played(CLASSIC, chairs, status="finished").items()} == {
        1: Result.WON, 2: Result.LOST, 3: Result.LOST, 4: Result.LOST,
    }  # fmt: skip
    shared = [Chair(1, "", 60, 1), Chair(2, "", 60, 1), Chair(3, "", 60, 1), Chair(4, "", 9, 4)]
    results = played(CLASSIC, shared, status="finished")
    assert [one.result for one in results.values()] == [Result.DRAWN] * 3 + [Result.LOST]


def test_levels_are_those_of_others() -> None:
    chairs = [
        Chair(1, "", 60, 2),
        Chair(8, "easy", 70, 1),
        Chair(9, "expert", 5, 3),
        Chair(8, "easy", 1, 4),
    ]
    found = played(CLASSIC, chairs, status="finished")
    assert found[1] == Played(Result.LOST, 60, perfect=False, levels=("easy", "expert"))
    assert found[9].levels == ("easy",)
    assert found[8].result == Result.SEVERAL


def test_who_holds_several_seats_neither_wins_nor_loses() -> None:
    alone = played(DUO, [Chair(1, "", 60, 1), Chair(1, "", 50, 2)], status="finished")
    assert alone == {1: Played(Result.SEVERAL)}
    assert not alone[1].counted


def test_what_goes_on_or_was_aborted_does_not_count() -> None:
    chairs = [Chair(1, "", 60, 1), Chair(2, "", 50, 2)]
    for status, result in (("started", Result.OPEN), ("aborted", Result.ABORTED)):
        assert {one.result for one in played(DUO, chairs, status=status).values()} == {result}
    unsettled = played(DUO, [Chair(1), Chair(2)], status="finished")
    assert {one.result for one in unsettled.values()} == {Result.OPEN}


def _ended(number: int) -> tuple[datetime, str]:
    return datetime(2026, 11, 30, tzinfo=UTC) + timedelta(minutes=number), f"game{number}"


def _tally(results: list[str]) -> Tally:
    tally = Tally()
    for number, result in enumerate(results):
        tally.add(result, number, perfect=number % 2 == 0, ended=_ended(number))
    return tally


def test_streaks() -> None:
    tally = _tally(["won", "won", "lost", "won", "drawn", "won"])
    assert (tally.streak, tally.longest_streak, tally.best_points, tally.perfect) == (1, 2, 5, 3)
    assert not tally.add("won", 1, perfect=False, ended=_ended(2)), "it ended before others"
    assert tally.last == _ended(5)


@given(st.lists(st.sampled_from(["won", "drawn", "lost"])))
def test_a_tally_is_what_a_plain_count_says(results: list[str]) -> None:
    tally = _tally(results)
    runs = [
        len(run) for run in "".join(result[0] for result in results).replace("d", "l").split("l")
    ]
    assert (tally.games, tally.won, tally.drawn, tally.lost) == (
        len(results), *(results.count(word) for word in ("won", "drawn", "lost")),
    )  # fmt: skip
    assert tally.points == sum(range(len(results)))
    assert (tally.longest_streak, tally.streak) == (max(runs), runs[-1])


def test_a_game_counts_under_variant_speed_and_levels() -> None:
    assert keys_of("duo", "duo:none", ["easy"]) == [("duo", ""), ("duo:none", ""), ("duo", "easy")]
    assert set(VARIANTS) >= {"duo"}

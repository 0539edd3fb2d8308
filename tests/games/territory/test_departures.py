"""How long leaving keeps a player from the pools."""

from games.territory.departures import LADDER_MS, ban_ms


def test_the_ladder_grows_and_its_last_step_stays() -> None:
    assert list(LADDER_MS) == sorted(LADDER_MS)
    assert [ban_ms(count) for count in range(1, 9)] == [*LADDER_MS, *[LADDER_MS[-1]] * 3]

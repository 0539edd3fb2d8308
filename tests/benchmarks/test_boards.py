"""The boards that the benchmark of leaderboards fills are what the product would have made of the same scores."""

import pytest
from django.db import connection

from accounts import selectors
from accounts.services.scores import submit_score
from benchmarks.lib.boards import counted_rank, fill, shape
from tests.accounts.boards import check_buckets


@pytest.mark.django_db(transaction=True)
def test_boards_are_filled_and_counted_in_buckets_of_the_usual_size() -> None:
    keys = {
        2_600: ("puzzle:bench-2600", "bench-2600:blitz"),
        40: ("puzzle:bench-40", "bench-40:blitz"),
    }
    ids = fill(2_600, keys)
    assert len(ids) == 2_600
    check_buckets(most=1_000)
    for size, (scores, ratings) in keys.items():
        for key in (scores, ratings):
            buckets, _, most = shape(key)
            assert (buckets, most) == ((6, 500) if size == 2_600 else (1, 40))
            assert selectors.leaderboard_page(key, limit=1).total == size
    board = keys[2_600][0]
    for player in ids[::100]:
        rank = selectors.leaderboard_rank(board, player)
        assert rank == counted_rank(board, player)
    for player in ids[:600]:  # all into one bucket, which is split on the way
        submit_score(
            board=board,
            player_id=player,
            score=100_000 + player,
            placements=1,
            finished_at=1,
            source="run",
        )
    check_buckets(most=1_000)
    assert selectors.leaderboard_rank(board, ids[599]) == 1
    assert selectors.leaderboard_rank(board, ids[0]) == 600
    with connection.cursor() as cursor:
        cursor.execute("SHOW session_replication_role")
        assert cursor.fetchone() == ("origin",), "the triggers run again"

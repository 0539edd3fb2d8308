"""Scores that arrive at once: each is counted once, the better one stays; among freezes, bans and removals too."""

import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any

import pytest
from django.db import connections, transaction

from accounts import selectors
from accounts.models import Player, ScoreEntry
from accounts.services.people import create_player
from accounts.services.scores import freeze_board, remove_score, restore_score, submit_score
from common import database
from tests.accounts.boards import bucket_count, check_buckets, ranked, small_buckets

pytestmark = pytest.mark.django_db(transaction=True)

FIRST, SECOND = "daily:2026-11-30", "puzzle:daily"


@pytest.fixture(autouse=True)
def _small(transactional_db: None) -> Iterator[None]:
    with small_buckets():
        yield


def _players(count: int) -> list[int]:
    rows = Player.objects.bulk_create(Player(name=f"Player{n}", password="!") for n in range(count))
    return [row.pk for row in rows]


def _at_once(works: Sequence[Callable[[], None]]) -> None:
    """Run all of them in threads of their own, from one moment on; the first failure is raised."""
    together = Barrier(len(works))

    def run(work: Callable[[], None]) -> None:
        try:
            connections["default"].ensure_connection()
            together.wait(30)
            work()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(works)) as pool:
        for done in [pool.submit(run, work) for work in works]:
            done.result()


def _submit(player_id: int, score: int, board: str = FIRST) -> bool:
    with transaction.atomic():
        return submit_score(
            board=board,
            player_id=player_id,
            score=score,
            placements=1,
            finished_at=1,
            source=str(score),
        )


def _expected(best: dict[int, int]) -> list[tuple[int, int]]:
    return ranked([(-score, player) for player, score in best.items()])


def _shown(board: str = FIRST) -> list[tuple[int, int]]:
    lines: list[tuple[int, int]] = []
    cursor = None
    while True:
        page = selectors.leaderboard_page(board, cursor=cursor, limit=100)
        lines += [(entry.rank, entry.player.id) for entry in page.entries]
        if (cursor := page.next) is None:
            assert page.total == len(lines)
            return lines


def test_two_submits_of_one_player_at_once_200_times_end_as_the_better_one_counted_once() -> None:
    players = _players(200)
    together = Barrier(2)

    def submit(first: int, second: int) -> None:
        for number, player in enumerate(players):
            together.wait(30)
            _submit(player, first if number % 2 else second)

    _at_once([lambda: submit(100, 200), lambda: submit(200, 100)])
    assert ScoreEntry.objects.filter(score=200, source="200").count() == len(players)
    assert ScoreEntry.objects.count() == len(players)
    check_buckets()
    assert _shown() == [(1, player) for player in players]


def test_the_first_scores_of_a_new_board_are_all_taken() -> None:
    players = _players(6)
    for turn in range(40):
        board = f"puzzle:new-{turn}"
        taken: list[int] = []

        def submit(player: int, board: str = board, taken: list[int] = taken) -> None:
            if _submit(player, 1, board):
                taken.append(player)

        _at_once([partial(submit, player) for player in players])
        assert sorted(taken) == players
        assert _shown(board) == [(1, player) for player in players]
    check_buckets()


def _play(players: Sequence[int], seed: int) -> dict[int, int]:
    """Random scores of random players, each on both boards in one transaction; returns the best of each."""
    dice, best = random.Random(seed), dict[int, int]()
    for _ in range(80):
        player, score = dice.choice(players), dice.randrange(30)
        with transaction.atomic():
            for board in (FIRST, SECOND):
                _submit(player, score, board)
        best[player] = max(best.get(player, 0), score)
    return best


def _ban_and_unban(players: Sequence[int]) -> None:
    for turn in range(60):
        for player in players[turn % 5 :: 5]:
            Player.objects.filter(pk=player).update(is_active=turn % 2 == 1)


def _remove_and_restore(players: Sequence[int], boss: int) -> None:
    for turn in range(60):
        entry = ScoreEntry.objects.filter(player_id=players[turn % 7]).order_by("id").first()
        if entry is not None:
            for decide in (remove_score, restore_score):
                decide(board=entry.board_id, player_id=entry.player_id, by=boss, reason="why")


def test_many_players_at_once_on_two_boards_while_others_are_banned_and_removed() -> None:
    players = _players(40)
    boss = create_player(name="Boss", staff=True).pk
    bests: list[dict[int, int]] = []
    _at_once(
        [
            *(lambda seed=seed: bests.append(_play(players, seed)) for seed in range(4)),
            lambda: _ban_and_unban(players),
            lambda: _remove_and_restore(players, boss),
        ]
    )
    Player.objects.filter(pk__in=players).update(is_active=True)
    expected = _expected({p: max(best.get(p, -1) for best in bests) for p in set().union(*bests)})
    check_buckets()
    assert bucket_count(FIRST) > 5
    for board in (FIRST, SECOND):
        assert _shown(board) == expected


def test_statements_about_many_lines_do_not_wait_for_each_other_in_a_circle() -> None:
    players = _players(60)
    for number, player in enumerate(players):
        _submit(player, number)

    def unlist_and_list(mine: Sequence[int]) -> None:
        dice = random.Random(mine[0])
        for turn in range(60):
            some = dice.sample(mine, 9)
            if turn % 3:
                ScoreEntry.objects.filter(player_id__in=some).update(removed=turn % 3 == 1)
            else:
                Player.objects.filter(pk__in=some).update(is_active=turn % 2 == 0)

    def improve(mine: Sequence[int]) -> None:
        dice = random.Random(mine[0])
        for turn in range(120):
            _submit(dice.choice(mine), 60 * turn + dice.randrange(4000))

    works = [lambda n=n: unlist_and_list(players[n::5]) for n in range(4)]
    _at_once([*works, lambda: improve(players[4::5])])
    check_buckets()
    ScoreEntry.objects.update(removed=False)
    Player.objects.filter(pk__in=players).update(is_active=True)
    check_buckets()
    assert _shown() == _expected(dict(ScoreEntry.objects.values_list("player_id", "score")))


def _submit_and_freeze(
    players: Sequence[int], board: str
) -> tuple[set[int], list[tuple[int, int]]]:
    """Who got in while four submit for all and one freezes, and the table right after the freeze."""
    taken: set[int] = set()
    final: list[tuple[int, int]] = []

    def submit(mine: Sequence[int]) -> None:
        taken.update(player for player in mine if _submit(player, player % 4, board))

    def freeze() -> None:
        with transaction.atomic():
            freeze_board(board=board, at=1)
        final.extend(_shown(board))

    _submit(players[0], 9, board)
    _at_once([*(lambda n=n: submit(players[n + 1 :: 4]) for n in range(4)), freeze])
    return {players[0], *taken}, final


def test_a_freeze_among_submits_leaves_each_in_the_final_table_or_refused() -> None:
    players = _players(60)
    for turn in range(15):
        board = f"puzzle:round-{turn}"
        taken, final = _submit_and_freeze(players, board)
        assert final == _shown(board)
        assert {player for _, player in final} == taken
        assert not any(_submit(player, 10, board) for player in players)
        assert final == _shown(board)
    check_buckets()


def test_a_ban_among_submits_leaves_no_line_of_the_banned() -> None:
    players = _players(60)
    together = Barrier(2)

    def submit() -> None:
        for player in players:
            together.wait(30)
            _submit(player, 5)

    def ban() -> None:
        for player in players:
            together.wait(30)
            Player.objects.filter(pk=player).update(is_active=False)

    _at_once([submit, ban])
    assert ScoreEntry.objects.count() == len(players)
    assert _shown() == []
    check_buckets()
    Player.objects.filter(pk__in=players).update(is_active=True)
    assert _shown() == [(1, player) for player in players]


def test_a_board_that_somebody_makes_meanwhile_takes_the_score(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One looks for the board and finds none; before it goes on, another makes it, and commits."""
    one, two = _players(2)
    prepared = database.prepared

    def and_another_is_first(statement: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        found = prepared(statement, parameters)
        monkeypatch.setattr(database, "prepared", prepared)
        _at_once([lambda: None if _submit(two, 7) else pytest.fail("the other one is taken")])
        return found

    monkeypatch.setattr(database, "prepared", and_another_is_first)
    assert _submit(one, 5)
    assert set(ScoreEntry.objects.values_list("player_id", flat=True)) == {one, two}

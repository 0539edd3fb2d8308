"""Ratings: once a game, and always the sum of their ledger."""

import random
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Barrier
from typing import Any

import pytest
from django.db import IntegrityError, connection, connections, transaction
from django.db.transaction import TransactionManagementError

from accounts import rules, selectors
from accounts.models import LedgerRow, RatingRow
from accounts.rules import Rating
from accounts.services.people import create_player
from accounts.services.ratings import rate_game
from common.ids import new_id

KEY = "duo:blitz"


def _players(count: int) -> list[int]:
    return [create_player(name=f"Player{n}").pk for n in range(count)]


def _rate(*ranks: tuple[int, int], game_id: str | None = None, key: str = KEY) -> Any:
    with transaction.atomic():
        return rate_game(game_id=game_id or new_id(), key=key, ranks=ranks, at=1_700_000_000_000)


def _assert_ledger_is_the_rating(key: str = KEY) -> None:
    """I6: replaying the ledger gives the same figures to the last bit, and its rows join without a seam."""
    rows = list(RatingRow.objects.filter(key=key))
    replayed = rules.replay(selectors.ledger_games(key))
    assert {r.player_id: Rating(r.mu, r.sigma, r.games) for r in rows} == replayed
    for row in rows:
        ledger = list(LedgerRow.objects.filter(player=row.player_id, key=key).order_by("sequence"))
        assert [line.sequence for line in ledger] == list(range(1, row.games + 1))
        assert (ledger[0].mu_before, ledger[0].sigma_before) == (rules.MU, rules.SIGMA)
        for earlier, later in pairwise(ledger):
            assert (earlier.mu_after, earlier.sigma_after) == (later.mu_before, later.sigma_before)
        assert (ledger[-1].mu_after, ledger[-1].sigma_after) == (row.mu, row.sigma)
        total = sum(line.mu_after - line.mu_before for line in ledger)
        assert rules.MU + total == pytest.approx(row.mu)


@pytest.mark.django_db
def test_a_first_game() -> None:
    ada, bob = _players(2)
    winner, loser = _rate((bob, 1), (ada, 2))
    assert (winner.player_id, loser.player_id) == (bob, ada)
    assert (winner.before, loser.before) == ("1500?", "1500?")
    assert (winner.after, loser.after) == ("1658?", "1342?")
    assert selectors.ratings_of([ada, bob, 0], KEY) == {
        ada: Rating(loser.mu_after, loser.sigma_after, 1),
        bob: Rating(winner.mu_after, winner.sigma_after, 1),
        0: Rating(1500, 500, 0),
    }
    assert selectors.ratings_of([ada], "duo:rapid") == {ada: Rating()}
    assert list(selectors.profile_ratings(ada)) == [KEY]
    _assert_ledger_is_the_rating()


@pytest.mark.django_db
def test_rating_a_game_twice_is_rating_it_once() -> None:
    ada, bob = _players(2)
    game = new_id()
    first = _rate((ada, 1), (bob, 2), game_id=game)
    ratings = selectors.ratings_of([ada, bob], KEY)
    assert _rate((ada, 1), (bob, 2), game_id=game) == first
    assert _rate((bob, 1), (ada, 2), game_id=game) == first
    assert selectors.ratings_of([ada, bob], KEY) == ratings
    assert LedgerRow.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_one_game_rated_by_many_at_once_is_rated_once() -> None:
    ada, bob = _players(2)
    game, together = new_id(), Barrier(8)

    def settle(_: int) -> Any:
        try:
            together.wait(10)
            return _rate((ada, 1), (bob, 2), game_id=game)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(settle, range(8)))
    assert results == [results[0]] * 8
    assert LedgerRow.objects.count() == 2
    _assert_ledger_is_the_rating()


@pytest.mark.django_db
def test_the_database_refuses_a_second_ledger_row() -> None:
    ada, bob = _players(2)
    _rate((ada, 1), (bob, 2))
    row = LedgerRow.objects.get(player=ada)
    row.pk, row.sequence = None, 2
    with pytest.raises(IntegrityError, match="ledger_game_once"), transaction.atomic():
        row.save()
    row.pk, row.sequence, row.game_id = None, 1, new_id()
    with pytest.raises(IntegrityError, match="ledger_sequence"), transaction.atomic():
        row.save()


@pytest.mark.django_db
def test_games_of_four_with_ties_and_several_keys_replay_exactly() -> None:
    players, dice = _players(6), random.Random(7)
    for _ in range(40):
        seats = dice.sample(players, dice.choice([2, 3, 4]))
        key = dice.choice([KEY, "classic:rapid"])
        _rate(*[(player, dice.randint(1, len(seats))) for player in seats], key=key)
    _assert_ledger_is_the_rating(KEY)
    _assert_ledger_is_the_rating("classic:rapid")


@pytest.mark.django_db(transaction=True)
def test_two_games_of_one_player_ending_at_once_equal_a_serial_replay() -> None:
    """Fifty times, with newcomers among the opponents, so that rows are made and locked at once too."""
    hub, *others = _players(30)
    dice, together = random.Random(3), Barrier(2)

    def settle(ranks: list[tuple[int, int]]) -> None:
        try:
            together.wait(10)
            _rate(*ranks)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        for _ in range(50):
            games = []
            for opponent in dice.sample(others, 2):
                ranks = (
                    [(hub, 1), (opponent, 2)] if dice.random() < 0.5 else [(opponent, 1), (hub, 2)]
                )
                games.append(ranks)
            list(pool.map(settle, games))
    assert RatingRow.objects.get(player=hub).games == 100
    assert LedgerRow.objects.count() == 200
    _assert_ledger_is_the_rating()


@pytest.mark.django_db(transaction=True)
def test_games_of_the_same_players_in_other_orders_never_deadlock() -> None:
    """Each round is a new key, so that all rating rows are made, and then locked, at once."""
    players = _players(6)
    together = Barrier(4)

    def settle(number: int) -> None:
        dice = random.Random(number)
        try:
            for turn in range(25):
                together.wait(10)
                for _ in range(2):
                    seats = dice.sample(players, 4)
                    ranks = [(player, rank + 1) for rank, player in enumerate(seats)]
                    _rate(*ranks, key=f"round-{turn}:blitz")
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(settle, range(4)))
    assert LedgerRow.objects.count() == 4 * 25 * 2 * 4
    for turn in range(25):
        _assert_ledger_is_the_rating(f"round-{turn}:blitz")


@pytest.mark.django_db
@pytest.mark.parametrize("ranks", [[], [(1, 1)], [(1, 1), (1, 2)]])
def test_what_is_no_contest_is_not_rated(ranks: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="at least two players"):
        _rate(*ranks)
    assert not RatingRow.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_rating_needs_the_callers_transaction() -> None:
    ada, bob = _players(2)
    with pytest.raises(TransactionManagementError):
        rate_game(game_id=new_id(), key=KEY, ranks=[(ada, 1), (bob, 2)], at=0)
    assert not LedgerRow.objects.exists()


@pytest.mark.django_db
def test_history_is_the_newest_first_in_parts() -> None:
    ada, bob = _players(2)
    games = [new_id() for _ in range(5)]
    for game in games:
        _rate((ada, 1), (bob, 2), game_id=game)
    newest = selectors.rating_history(ada, KEY, limit=2)
    assert [(row.sequence, row.game_id) for row in newest] == [(5, games[4]), (4, games[3])]
    older = selectors.rating_history(ada, KEY, before=4, limit=10)
    assert [row.sequence for row in older] == [3, 2, 1]
    assert connection.in_atomic_block

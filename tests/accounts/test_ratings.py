"""Ratings: once a game, and always the sum of their ledger."""

import random
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import IntegrityError, connection, connections, transaction
from django.db.transaction import TransactionManagementError

from accounts import selectors
from accounts.models import LedgerRow, RatingRow
from accounts.rules import Rating
from accounts.services.ratings import rate_game
from common.ids import new_id
from tests.accounts.ledgers import KEY, assert_ledger_is_the_rating, players, rate


@pytest.mark.django_db
def test_a_first_game() -> None:
    ada, bob = players(2)
    winner, loser = rate((bob, 1), (ada, 2))
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
    assert_ledger_is_the_rating()


@pytest.mark.django_db
def test_rating_a_game_twice_is_rating_it_once() -> None:
    ada, bob = players(2)
    game = new_id()
    first = rate((ada, 1), (bob, 2), game_id=game)
    ratings = selectors.ratings_of([ada, bob], KEY)
    assert rate((ada, 1), (bob, 2), game_id=game) == first
    assert rate((bob, 1), (ada, 2), game_id=game) == first
    assert selectors.ratings_of([ada, bob], KEY) == ratings
    assert LedgerRow.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_one_game_rated_by_many_at_once_is_rated_once() -> None:
    ada, bob = players(2)
    game, together = new_id(), Barrier(8)

    def settle(_: int) -> Any:
        try:
            together.wait(10)
            return rate((ada, 1), (bob, 2), game_id=game)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(settle, range(8)))
    assert results == [results[0]] * 8
    assert LedgerRow.objects.count() == 2
    assert_ledger_is_the_rating()


@pytest.mark.django_db
def test_the_database_refuses_a_second_ledger_row() -> None:
    ada, bob = players(2)
    rate((ada, 1), (bob, 2))
    row = LedgerRow.objects.get(player=ada)
    row.pk, row.sequence = None, 2
    with pytest.raises(IntegrityError, match="ledger_game_once"), transaction.atomic():
        row.save()
    row.pk, row.sequence, row.game_id = None, 1, new_id()
    with pytest.raises(IntegrityError, match="ledger_sequence"), transaction.atomic():
        row.save()


@pytest.mark.django_db
def test_games_of_four_with_ties_and_several_keys_replay_exactly() -> None:
    people, dice = players(6), random.Random(7)
    for _ in range(40):
        seats = dice.sample(people, dice.choice([2, 3, 4]))
        key = dice.choice([KEY, "classic:rapid"])
        rate(*[(player, dice.randint(1, len(seats))) for player in seats], key=key)
    assert_ledger_is_the_rating(KEY)
    assert_ledger_is_the_rating("classic:rapid")


@pytest.mark.django_db(transaction=True)
def test_two_games_of_one_player_ending_at_once_equal_a_serial_replay() -> None:
    """Five hundred times, with newcomers among the opponents, so that rows are made and locked at once too."""
    hub, *others = players(30)
    dice, together = random.Random(3), Barrier(2)
    pairs = [dice.sample(others, 2) for _ in range(500)]

    def settle(side: int) -> None:
        dice = random.Random(side)
        try:
            for pair in pairs:
                together.wait(30)
                ranks = dice.choice([(1, 2), (2, 1), (1, 1)])
                rate((hub, ranks[0]), (pair[side], ranks[1]))
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(settle, range(2)))
    assert RatingRow.objects.get(player=hub).games == 1000
    assert LedgerRow.objects.count() == 2000
    assert_ledger_is_the_rating()


@pytest.mark.django_db(transaction=True)
def test_games_of_the_same_players_in_other_orders_never_deadlock() -> None:
    """Each round is a new key, so that all rating rows are made, and then locked, at once."""
    people = players(6)
    together = Barrier(4)

    def settle(number: int) -> None:
        dice = random.Random(number)
        try:
            for turn in range(25):
                together.wait(10)
                for _ in range(2):
                    seats = dice.sample(people, 4)
                    ranks = [(player, rank + 1) for rank, player in enumerate(seats)]
                    rate(*ranks, key=f"round-{turn}:blitz")
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(settle, range(4)))
    assert LedgerRow.objects.count() == 4 * 25 * 2 * 4
    for turn in range(25):
        assert_ledger_is_the_rating(f"round-{turn}:blitz")


@pytest.mark.django_db
@pytest.mark.parametrize("ranks", [[], [(1, 1)], [(1, 1), (1, 2)]])
def test_what_is_no_contest_is_not_rated(ranks: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="at least two players"):
        rate(*ranks)
    assert not RatingRow.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_rating_needs_the_callers_transaction() -> None:
    ada, bob = players(2)
    with pytest.raises(TransactionManagementError):
        rate_game(game_id=new_id(), key=KEY, ranks=[(ada, 1), (bob, 2)], at=0)
    assert not LedgerRow.objects.exists()


@pytest.mark.django_db
def test_history_is_the_newest_first_in_parts() -> None:
    ada, bob = players(2)
    games = [new_id() for _ in range(5)]
    for game in games:
        rate((ada, 1), (bob, 2), game_id=game)
    newest = selectors.rating_history(ada, KEY, limit=2)
    assert [(row.sequence, row.game_id) for row in newest] == [(5, games[4]), (4, games[3])]
    older = selectors.rating_history(ada, KEY, before=4, limit=10)
    assert [row.sequence for row in older] == [3, 2, 1]
    assert connection.in_atomic_block

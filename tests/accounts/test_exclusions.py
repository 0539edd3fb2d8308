"""Players whom an admin takes off leaderboards of ratings: ranks close up, and everything stands when it is undone."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connections

from accounts import selectors
from accounts.errors import UnknownLeaderboardError, UnknownPlayerError
from accounts.models import Exclusion, Player, RatingRow, StandingDecision
from accounts.services.exclusions import exclude_player, restore_player
from accounts.services.people import create_player
from tests.accounts.boards import check_buckets
from tests.accounts.ledgers import players, rate

BLITZ, RAPID = "duo:blitz", "duo:rapid"


def _listed(count: int = 3) -> list[int]:
    people = players(count)
    for key in (BLITZ, RAPID):
        for number, player in enumerate(people):
            RatingRow.objects.create(player_id=player, key=key, mu=2000 - number, sigma=90, games=9)
    return people


def _board(key: str = BLITZ, **which: Any) -> list[tuple[int, int]]:
    page = selectors.leaderboard_page(key, **which)
    assert page.total == len(page.entries)
    return [(entry.rank, entry.player.id) for entry in page.entries]


@pytest.mark.django_db
def test_ranks_close_up_at_once_and_open_again() -> None:
    ada, bob, cee = _listed()
    boss = create_player(name="Boss").pk
    assert exclude_player(player_id=bob, key=BLITZ, by=boss, reason=" under inquiry ")
    assert not exclude_player(player_id=bob, key=BLITZ, by=boss, reason="again")
    assert _board() == [(1, ada), (2, cee)]
    assert _board(RAPID) == [(1, ada), (2, bob), (3, cee)]
    assert selectors.leaderboard_rank(BLITZ, bob) is None
    check_buckets()
    assert exclude_player(player_id=bob, key="", by=boss, reason="all of them")
    assert _board(RAPID) == [(1, ada), (2, cee)]
    assert restore_player(player_id=bob, key="", by=boss, reason="only blitz")
    assert _board(RAPID) == [(1, ada), (2, bob), (3, cee)]
    assert _board() == [(1, ada), (2, cee)]
    assert restore_player(player_id=bob, key=BLITZ, by=boss, reason="no proof")
    assert not restore_player(player_id=bob, key=BLITZ, by=boss, reason="again")
    assert _board() == [(1, ada), (2, bob), (3, cee)]
    check_buckets()
    said = StandingDecision.objects.order_by("id").values_list("action", "key", "reason", "by_name")
    assert list(said) == [
        ("player-excluded", BLITZ, "under inquiry", "Boss"),
        ("player-excluded", "", "all of them", "Boss"),
        ("player-restored", "", "only blitz", "Boss"),
        ("player-restored", BLITZ, "no proof", "Boss"),
    ]
    assert StandingDecision.objects.earliest("id").facts == {"rank": 2}


@pytest.mark.django_db
def test_a_ban_and_an_exclusion_do_not_undo_each_other() -> None:
    ada, bob, cee = _listed()
    boss = create_player(name="Boss").pk
    exclude_player(player_id=ada, key="", by=boss, reason="why")
    Player.objects.filter(pk=ada).update(is_active=False)
    restore_player(player_id=ada, key="", by=boss, reason="why not")
    assert _board() == [(1, bob), (2, cee)]
    exclude_player(player_id=ada, key="", by=boss, reason="why")
    Player.objects.filter(pk=ada).update(is_active=True)
    assert _board() == [(1, bob), (2, cee)]
    check_buckets()


@pytest.mark.django_db
def test_a_new_rating_of_an_excluded_player_is_not_listed_and_games_are_rated() -> None:
    ada, bob, cee = _listed()
    boss = create_player(name="Boss").pk
    exclude_player(player_id=ada, key="", by=boss, reason="why")
    exclude_player(player_id=bob, key="junior:rapid", by=boss, reason="why")
    for key in ("classic:rapid", "junior:rapid"):
        rate((ada, 1), (bob, 2), (cee, 3), key=key)
        RatingRow.objects.filter(key=key).update(sigma=90)
    assert [player for _, player in _board("classic:rapid")] == [bob, cee]
    assert [player for _, player in _board("junior:rapid")] == [cee]
    check_buckets()


@pytest.mark.django_db
def test_bots_can_be_excluded_from_their_boards_too() -> None:
    bots = [create_player(name=f"Bot{n}", kind="bot").pk for n in range(2)]
    boss = create_player(name="Boss").pk
    for bot in bots:
        RatingRow.objects.create(player_id=bot, key=BLITZ, mu=2000, sigma=90, games=9)
    exclude_player(player_id=bots[0], key=BLITZ, by=boss, reason="why")
    assert [player for _, player in _board(bots=True)] == [bots[1]]


@pytest.mark.django_db
def test_what_cannot_be_excluded() -> None:
    (ada,) = _listed(1)
    boss = create_player(name="Boss").pk
    with pytest.raises(UnknownLeaderboardError):
        exclude_player(player_id=ada, key="daily:2026-11-30", by=boss, reason="why")
    with pytest.raises(UnknownPlayerError):
        exclude_player(player_id=0, key=BLITZ, by=boss, reason="why")
    with pytest.raises(ValueError, match="reason"):
        exclude_player(player_id=ada, key=BLITZ, by=boss, reason=" ")
    assert not Exclusion.objects.exists()
    assert _board() == [(1, ada)]


@pytest.mark.django_db(transaction=True)
def test_an_exclusion_and_a_first_game_at_once() -> None:
    """Whoever is first: the rating that the game makes is left out."""
    boss, together = create_player(name="Boss").pk, Barrier(2)
    pairs = [[create_player(name=f"{who}{n}").pk for who in ("Ada", "Bob")] for n in range(25)]

    def exclude() -> None:
        for ada, _ in pairs:
            together.wait(20)
            exclude_player(player_id=ada, key=BLITZ, by=boss, reason="why")

    def play() -> None:
        for pair in pairs:
            together.wait(20)
            rate(*((player, rank) for rank, player in enumerate(pair, 1)))

    def run(work: Any) -> None:
        try:
            work()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, [exclude, play]))
    excluded = set(RatingRow.objects.filter(excluded=True).values_list("player_id", flat=True))
    assert excluded == {ada for ada, _ in pairs}

"""Two of whom one blocks the other never meet in a pool."""

from dataclasses import replace

import pytest
from redis import Redis

from accounts.models import Block
from accounts.services.friends import block
from games.territory.models import Game
from matchmaking.pairing import Proposal
from matchmaking.pools import LEASE_MS, Pools, pools
from matchmaking.selectors import pool_card, ticket_view
from matchmaking.services.matching import make_match
from matchmaking.services.tickets import join_pool
from matchmaking.services.waves import run_wave
from matchmaking.tickets import Ticket
from tests.matchmaking.people import (
    BLITZ,
    NOW,
    assert_one_game_each,
    at_once,
    registered,
    seed,
    states,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _pools(store: Pools) -> None:
    seed()


def waits(player: int, now: int = NOW) -> Ticket:
    """Join, and be left waiting."""
    assert join_pool(player_id=player, pool_key=BLITZ, now=now).state == "waiting"
    return ticket_of(player)


def ticket_of(player: int) -> Ticket:
    ticket = pools().ticket(player)
    assert ticket is not None
    return ticket


def waves(seconds: int, since: int = NOW) -> int:
    """How many matches the waves of so many seconds make."""
    matches = 0
    for moment in range(since, since + seconds * 1_000, 500):
        report = run_wave(pool=pool_card(BLITZ), clock=lambda at=moment: at)  # type: ignore[misc]
        assert report is not None
        matches += report.matches
    return matches


@pytest.mark.parametrize("directions", [("first",), ("second",), ("first", "second")])
def test_they_wait_side_by_side_until_somebody_else_comes(directions: tuple[str, ...]) -> None:
    one, two, three, four = registered(4)
    for direction in directions:
        blocker, blocked = (one, two) if direction == "first" else (two, one)
        block(player_id=blocker, other_id=blocked, now=NOW)
    assert waits(one).blocked == {two}
    assert waits(two).blocked == {one}
    assert ticket_view(player_id=one, now=NOW).compatible == 0
    assert waves(25) == 0
    assert not Game.objects.exists()
    for player in (three, four):
        assert join_pool(player_id=player, pool_key=BLITZ, now=NOW + 25_000).state == "matched"
    assert_one_game_each([one, two, three, four])
    assert not Game.objects.filter(seats__player=one).filter(seats__player=two).exists()


def test_a_block_that_is_made_while_both_wait(store: Pools) -> None:
    one, two = registered(2)
    # So far apart that they would meet only after some seconds.
    for player, mu in ((one, 1500.0), (two, 1900.0)):
        ticket = Ticket(f"t{player}", player, BLITZ, mu, 100.0, NOW)
        store.join(ticket, lease_until=NOW + LEASE_MS)
    before = [ticket_of(player) for player in (one, two)]
    block(player_id=one, other_id=two, now=NOW)
    assert [ticket_of(player) for player in (one, two)] == [
        replace(before[0], blocked=frozenset({two})),
        replace(before[1], blocked=frozenset({one})),
    ]
    assert waves(29) == 0
    assert not Game.objects.exists()


def test_a_block_of_which_the_tickets_have_not_heard(store: Pools, redis: Redis) -> None:
    one, two = registered(2)
    tickets = []
    for player in (one, two):
        tickets.append(Ticket(f"t{player}", player, BLITZ, 1500.0, 500.0, NOW))
        store.join(tickets[-1], lease_until=NOW + LEASE_MS)
    Block.objects.create(blocker_id=two, blocked_id=one, at=NOW)  # and nobody is told
    proposal = Proposal(tuple(tickets))
    assert make_match(pool=pool_card(BLITZ), proposal=proposal, now=NOW) is None
    assert not Game.objects.exists()
    assert [states(redis, player) for player in (one, two)] == [[BLITZ], [BLITZ]]
    assert ticket_of(one) == replace(tickets[0], blocked=frozenset({two}))
    assert redis.keys("{mm}claim*") == []
    assert waves(10) == 0


def test_a_ticket_that_changes_meanwhile_is_amended_as_it_is_then(store: Pools) -> None:
    one, two = registered(2)
    first = waits(one)
    store.set_blocked(one, frozenset({two}))
    store.set_blocked(two, frozenset({one}))  # who has none gets none
    assert store.ticket(one) == replace(first, blocked=frozenset({two}))
    assert store.ticket(two) is None
    store.set_blocked(one, frozenset())
    assert store.ticket(one) == first


def test_blocking_and_joining_at_once() -> None:
    for number in range(25):
        one, two = registered(2, prefix=f"Round{number}x")
        waits(one)

        def both(which: int, one: int = one, two: int = two) -> None:
            if which:
                join_pool(player_id=two, pool_key=BLITZ, now=NOW)
            else:
                block(player_id=one, other_id=two, now=NOW)

        at_once(2, both)
        met = Game.objects.filter(seats__player=one).exists()
        # The match was first, or there is none, now and later.
        assert met or waves(20) == 0
        assert Game.objects.filter(seats__player__in=[one, two]).distinct().count() == met
        for player in (one, two):
            pools().drop([player], now=NOW)

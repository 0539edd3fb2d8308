"""Correspondence from pools: many games of one player, and still one game for a ticket, though nobody is engaged."""

import pytest
from django.db import transaction
from redis import Redis

from common.ids import new_id
from games.territory.errors import EngagedError
from games.territory.models import Engagement, Game, Seat
from games.territory.rules import TimeControl
from games.territory.services.start import SeatPlan, start_game
from matchmaking import selectors
from matchmaking.models import Pool
from matchmaking.pools import Pools
from matchmaking.services.recover import recover
from matchmaking.services.tickets import join_pool
from matchmaking.tickets import Ticket
from tests.matchmaking.people import BLITZ, NOW, registered, seed, states

pytestmark = pytest.mark.django_db(transaction=True)
DAYS = "duo-days"


@pytest.fixture(autouse=True)
def _pool() -> None:
    seed()
    control = TimeControl.correspondence(2)
    Pool.objects.create(
        key=DAYS, variant="duo", kind="correspondence", initial_ms=control.initial_ms
    )
    selectors.forget_pools()


def start(tickets: list[tuple[int, str]]) -> str:
    """What the owner of a claim commits."""
    with transaction.atomic():
        return start_game(
            variant="duo",
            time_control=TimeControl.correspondence(2),
            seats=[SeatPlan(player, ticket=ticket) for player, ticket in tickets],
            rated=True,
            pool=DAYS,
            matched=True,
            now=NOW,
        )


def test_a_player_has_as_many_games_as_tickets_and_one_in_real_time_besides(
    store: Pools, redis: Redis
) -> None:
    one, two, *others = registered(5)
    join_pool(player_id=one, pool_key=BLITZ, now=NOW)
    assert join_pool(player_id=two, pool_key=BLITZ, now=NOW).state == "matched"
    for number, other in enumerate(others):
        view = join_pool(player_id=one, pool_key=DAYS, now=NOW + number)
        assert view.state == "waiting"
        assert selectors.ticket_view(player_id=one, now=NOW).state == "waiting"
        assert join_pool(player_id=other, pool_key=DAYS, now=NOW + number).state == "matched"
        assert states(redis, one) == []
    assert Seat.objects.filter(player_id=one).count() == 4
    assert Engagement.objects.count() == 2
    with pytest.raises(EngagedError):
        join_pool(player_id=one, pool_key=BLITZ, now=NOW)


def test_a_claim_whose_owner_died_after_the_commit(store: Pools, redis: Redis) -> None:
    one, two = registered(2)
    tickets = []
    for player in (one, two):
        store.join(_ticket(player), lease_until=NOW + 60_000)
        tickets.append(store.ticket(player))
    claim = store.claim(new_id(), DAYS, [t for t in tickets if t], now=NOW)
    assert claim is not None
    start(list(claim.tickets))
    assert recover(claim=claim, now=NOW) == []
    assert states(redis, one) == states(redis, two) == []
    assert recover(claim=claim, now=NOW) == []
    assert Game.objects.count() == 1


def test_an_owner_who_was_only_slow_makes_no_second_game(store: Pools) -> None:
    one, two, three = registered(3)
    first, second, third = ((player, new_id()) for player in (one, two, three))
    game = start([first, second])
    with pytest.raises(EngagedError) as error:
        start([first, third])
    assert error.value.player_ids == {one}
    assert error.value.data["game"] == game
    assert Game.objects.count() == 1
    start([(one, new_id()), third])


def _ticket(player: int) -> Ticket:
    return Ticket(new_id(), player, DAYS, 1500.0, 500.0, NOW)

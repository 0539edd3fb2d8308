"""Correspondence from pools: many games of one player, and one against the clock besides."""

import pytest
from redis import Redis

from games.territory.errors import EngagedError
from games.territory.models import Engagement, Seat
from games.territory.rules import TimeControl
from matchmaking import selectors
from matchmaking.models import Pool
from matchmaking.pools import Pools
from matchmaking.services.tickets import join_pool
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

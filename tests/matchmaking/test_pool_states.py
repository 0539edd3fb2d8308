"""The state streams of pools: who waits, without names, and each change is told."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from common import states
from common.states import Touch
from matchmaking.errors import UnknownPoolError
from matchmaking.models import Pool
from matchmaking.pools import LEASE_MS, Pools
from matchmaking.selectors import forget_pools, pool_card
from matchmaking.services.tickets import join_pool, leave_pool
from matchmaking.services.waves import run_wave
from matchmaking.states import PoolData, PoolStates
from matchmaking.tickets import Ticket
from tests.matchmaking.people import BLITZ, NOW, RAPID, registered, seed

pytestmark = pytest.mark.django_db(transaction=True)
STREAM = f"pool:{BLITZ}"


@pytest.fixture(autouse=True)
def _pools(store: Pools) -> None:
    seed()


@pytest.fixture
def touched() -> Iterator[list[str]]:
    """The streams that this process has said to have changed."""
    heard: list[str] = []

    class Heard:
        def publish_from_anywhere(self, news: Any) -> None:
            heard.extend(each.stream for each in news if isinstance(each, Touch))

    states.install_publisher(Heard())
    yield heard
    states.install_publisher(None)


def shown(stream: str = STREAM) -> PoolData:
    found: PoolData = PoolStates().current([stream])[stream]
    return found


def test_an_empty_pool() -> None:
    data = shown()
    assert (data.open, data.players, data.waiting, data.oldest) == (True, 2, 0, None)
    assert (data.ratings, data.wait_ms, data.wait_tickets) == ([], None, 0)


def test_who_waits_is_counted_by_hundreds(store: Pools) -> None:
    base = Ticket("t", 0, BLITZ, 1500.0, 100.0, NOW)
    for player, mu in enumerate([1499.9, 1500.0, 1599.9, 900.0, -50.0], start=1):
        ticket = replace(base, id=f"t{player}", player_id=player, mu=mu, joined=NOW - player)
        store.join(ticket, lease_until=NOW + LEASE_MS)
    data = shown()
    assert [(band.rating, band.waiting) for band in data.ratings] == [
        (-100, 1), (900, 1), (1400, 1), (1500, 2),
    ]  # fmt: skip
    assert data.oldest == "2027-01-15T07:59:59.995Z"
    assert shown() == data, "a state is a function of what it shows"
    assert b"Player" not in msgspec.json.encode(data)


def test_several_pools_at_once_and_one_that_is_gone() -> None:
    (one,) = registered(1)
    join_pool(player_id=one, pool_key=RAPID, now=NOW)
    found = PoolStates().current([STREAM, f"pool:{RAPID}", "pool:nowhere"])
    assert {stream: data.waiting for stream, data in found.items()} == {
        STREAM: 0,
        f"pool:{RAPID}": 1,
    }
    with pytest.raises(UnknownPoolError):
        PoolStates().admit("pool:nowhere", one)
    PoolStates().admit(STREAM, one)


def test_joining_leaving_and_matches_are_told(store: Pools, touched: list[str]) -> None:
    one, two, three = registered(3)
    join_pool(player_id=one, pool_key=BLITZ, now=NOW)
    assert touched == [STREAM]
    join_pool(player_id=one, pool_key=BLITZ, now=NOW)
    assert touched == [STREAM], "a ticket that was renewed changes nothing"
    leave_pool(player_id=one, now=NOW)
    assert touched == [STREAM] * 2
    join_pool(player_id=one, pool_key=BLITZ, now=NOW)
    join_pool(player_id=two, pool_key=BLITZ, now=NOW + 4_000)
    assert touched == [STREAM] * 4
    assert (shown().waiting, shown().wait_tickets) == (0, 3)
    for player, mu in ((three, 1500.0), (registered(1, "Late")[0], 1510.0)):
        ticket = Ticket(f"t{player}", player, BLITZ, mu, 100.0, NOW)
        store.join(ticket, lease_until=NOW + LEASE_MS)
    run_wave(pool=pool_card(BLITZ), clock=lambda: NOW)
    assert touched == [STREAM] * 5


def test_an_operators_change_is_shown() -> None:
    Pool.objects.filter(key=BLITZ).update(open=False, window_limit=321)
    forget_pools()
    data = shown()
    assert (data.open, data.window.limit) == (False, 321.0)

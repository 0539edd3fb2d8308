"""The socket's ticket commands."""

import asyncio

import pytest

from accounts.selectors import Caller
from matchmaking.errors import UnknownPoolError
from matchmaking.pools import Pools
from matchmaking.socket import keep_leases, ticket_join, ticket_leave
from tests.matchmaking.people import BLITZ, RAPID, assert_one_game_each, registered, seed

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _pools(store: Pools) -> None:
    seed()


def caller(player: int) -> Caller:
    return Caller(player, f"P{player}", "registered", frozenset({"play"}))


def test_joining_leaving_and_meeting() -> None:
    one, two = registered(2)

    async def play() -> None:
        waiting = await ticket_join(caller(one), BLITZ)
        assert (waiting["state"], waiting["pool"]) == ("waiting", BLITZ)
        still = await ticket_leave(caller(one), RAPID)
        assert (still["state"], still["id"]) == ("waiting", waiting["id"])
        assert await ticket_leave(caller(one), None) == {"state": "none"}
        await ticket_join(caller(one), BLITZ)
        assert (await ticket_join(caller(two), BLITZ))["state"] == "matched"
        with pytest.raises(UnknownPoolError):
            await ticket_join(caller(two), "nowhere")

    asyncio.run(play())
    assert_one_game_each([one, two])


def test_leases_of_connected_players(store: Pools) -> None:
    here, left, lost = registered(3)

    async def keep() -> set[int]:
        await ticket_join(caller(here), BLITZ)
        await ticket_join(caller(left), RAPID)
        await ticket_leave(caller(left), None)
        return await keep_leases({here: BLITZ, left: RAPID, lost: "duo-rapid-casual"})

    assert asyncio.run(keep()) == {left}
    assert {each.player_id for each in store.waiting("duo-rapid-casual")} == {lost}

"""Valkey crashes and comes back empty: the wave process goes on, and tickets made anew are matched."""

import time
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from common.clock import now_ms
from matchmaking.pools import LEASE_MS, Pools
from matchmaking.tickets import Ticket

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

pytestmark = pytest.mark.slow

MAKE_PLAYERS = """
from accounts.services.people import create_player
print("players", *(create_player(name=f"Player{number}").pk for number in range(4)))
"""


def until(what: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def test_a_crashed_valkey(cluster: "Cluster") -> None:
    printed = cluster.manage("shell", "-c", MAKE_PLAYERS)
    players = [int(word) for word in printed.partition("players ")[2].split()]
    wave = cluster.wave("--interval-ms", "100")

    def put(two: list[int]) -> None:
        with closing(cluster.redis()) as connection:
            for player in two:
                ticket = Ticket(f"t{player}", player, "duo-blitz", 1500.0, 500.0, now_ms())
                Pools(connection).join(ticket, lease_until=now_ms() + LEASE_MS)

    def engaged() -> int:
        ((count,),) = cluster.query("SELECT count(*) FROM territory_engagement")
        return int(count)

    put(players[:2])
    until(lambda: engaged() == 2, 10)
    cluster.restart_valkey(down_seconds=1.0)
    put(players[2:])
    until(lambda: engaged() == 4, 10)
    assert wave.stop() == 0

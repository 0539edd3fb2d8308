"""Reads from a real replica: what it has is shown while it is near; the primary takes over when it lags or dies."""

import time
from collections.abc import Iterator

import pytest

from common.replica import MAX_LAG_SECONDS, REST_SECONDS
from config.postgres import Postgres
from tests.support.cluster import Cluster
from tests.support.proc import eventually
from tests.support.replicas import replica_of, say
from tests.support.town import Person, Socket, Town

pytestmark = pytest.mark.slow


@pytest.fixture
def replica(cluster: Cluster) -> Iterator[Postgres]:
    server = replica_of(cluster._postgres)
    cluster.environ["DATABASE_REPLICA_URL"] = server.url(cluster.database)
    yield server
    server.stop()


def strength(person: Person) -> int | None:
    """Of the one game that is being played, as the list has it."""
    games = person.http("GET", "/api/v1/games/live").json["games"]
    return int(games[0]["strength"]) if games else None


def change(cluster: Cluster, number: int) -> None:
    cluster.query("UPDATE territory_game SET strength = %s RETURNING id", number)


def test_a_replica_that_lags_or_dies_is_not_read(cluster: Cluster, replica: Postgres) -> None:
    town = Town(cluster, cluster.web())
    one, two = town.member("Ada"), town.member("Ben")
    with Socket(town, one.token) as first, Socket(town, two.token) as second:
        for socket in (first, second):
            socket.told("ticket.join", pool="duo-blitz")
        first.until_seen(1, "inbox")
    assert eventually(lambda: strength(one) == 1500)
    assert eventually(lambda: _is_read(replica, cluster, one)), "it is near"

    change(cluster, 1501)
    assert eventually(lambda: strength(one) == 1501)
    say(replica, "SELECT pg_wal_replay_pause()")
    assert eventually(
        lambda: say(replica, "SELECT pg_get_wal_replay_pause_state()") == [("paused",)]
    )
    change(cluster, 1502)
    assert eventually(lambda: strength(one) == 1502, seconds=MAX_LAG_SECONDS + 5)
    say(replica, "SELECT pg_wal_replay_resume()")
    assert eventually(lambda: _is_read(replica, cluster, one)), "near again"

    replica.stop()
    for number in range(1503, 1506):
        change(cluster, number)
        assert strength(one) == number, "the primary, in the same answer"
    board = one.http("GET", "/api/v1/leaderboards/duo:blitz")
    assert (board.status, board.json["total"]) == (200, 0)
    replica.launch()
    replica.wait_until_ready()
    assert eventually(lambda: _is_read(replica, cluster, one), seconds=REST_SECONDS + 10)
    assert town.complaints() == []


def _is_read(replica: Postgres, cluster: Cluster, person: Person) -> bool:
    """Whether the web process shows what only the replica still says."""
    say(replica, "SELECT pg_wal_replay_pause()")
    while say(replica, "SELECT pg_get_wal_replay_pause_state()") != [("paused",)]:
        time.sleep(0.02)
    try:
        before = strength(person)
        assert before is not None
        change(cluster, before + 1)
        return strength(person) == before
    finally:
        say(replica, "SELECT pg_wal_replay_resume()")
        time.sleep(0.2)

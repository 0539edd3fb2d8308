"""Two live Redis and one for tasks: each role does without the other, and half the live ones without their brother."""

from collections.abc import Iterator

import pytest

from config.valkey import Valkey
from tests.support import services
from tests.support.cluster import Cluster
from tests.support.proc import eventually
from tests.support.town import Person, Socket, Town

pytestmark = pytest.mark.slow


@pytest.fixture
def spare() -> Iterator[list[Valkey]]:
    servers = [Valkey(services.scratch_folder()) for _ in range(2)]
    for server in servers:
        server.start()
    yield servers
    for server in servers:
        server.kill()


def play(game: str, plies: int, person: Person, mover: Socket, far: Socket) -> None:
    """Moves made through one process are seen in the other."""
    for ply in range(plies - 3, plies):
        move = person.legal(game)["moves"][0]["move"]
        mover.told("move", game=game, ply=ply, move=move)
        far.until_seen(ply + 2, f"game:{game}")


def test_each_role_does_without_the_other(cluster: Cluster, spare: list[Valkey]) -> None:
    second, tasks = spare
    cluster.environ["REDIS_URL"] = f"{cluster.redis_url} {second.url}"
    cluster.environ["KADO_TASKS_REDIS_URL"] = tasks.url
    webs = [cluster.web(wait=False), cluster.web(wait=False)]
    worker = cluster.worker("default", wait=False)
    for process in (*webs, worker):
        process.wait_until_ready()
    near, far = (Town(cluster, web) for web in webs)
    people = [near.member("Ada"), near.member("Ben")]
    person = near.guest()
    with Socket(near, person.token) as mover, Socket(far, person.token) as other:
        games = [person.game() for _ in range(6)]  # on both live servers, but for one time in 32
        for game in games:
            other.told("subscribe", stream=f"game:{game}")
            play(game, 3, person, mover, other)
        tasks.kill()
        with Socket(near, people[0].token) as one, Socket(far, people[1].token) as two:
            one.told("ticket.join", pool="duo-blitz")
            two.told("ticket.join", pool="duo-blitz")
            for socket in (one, two):
                socket.until_seen(1, "inbox")
            match = one.events("inbox")[0]["event"]["game"]
            one.told("resign", game=match)
        tasks.start()
        second.kill()
        for game in games:
            play(game, 6, person, mover, other)
        second.start()
        for game in games:
            play(game, 9, person, mover, other)
        settled = "SELECT settled_at IS NOT NULL FROM territory_game WHERE id = %s"
        person.http("POST", f"/api/v1/games/{games[0]}/resign")
        assert eventually(lambda: cluster.query(settled, games[0])[0][0], seconds=40)

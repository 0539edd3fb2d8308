"""Those who look on, over two web processes: counted, and shown a rated game late, whole, and at once when it ends."""

import itertools
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.games.territory.support import assert_snapshot_follows
from tests.support.cluster import Cluster
from tests.support.town import Json, Person, Socket, Town

pytestmark = pytest.mark.slow
DELAY = 2
names = itertools.count()


@pytest.fixture(scope="module")
def towns() -> Iterator[list[Town]]:
    """Two web processes that show rated games late; no request may be worth an error in their logs."""
    with Cluster() as cluster:
        cluster.environ["KADO_SPECTATOR_DELAY"] = str(DELAY)
        webs = [cluster.web(wait=False), cluster.web(wait=False)]
        for web in webs:
            web.wait_until_ready()
        both = [Town(cluster, web) for web in webs]
        yield both
        assert [town.complaints() for town in both] == [[], []]


class Match:
    """A rated game of two on the first process: `mover` has the first seat."""

    def __init__(self, town: Town, stack: ExitStack) -> None:
        self.people = [town.member(f"Player{next(names)}") for _ in range(2)]
        self.sockets = [stack.enter_context(Socket(town, p.token)) for p in self.people]
        for socket in self.sockets:
            socket.hear()
            socket.told("ticket.join", pool="duo-blitz")
        for socket in self.sockets:
            socket.until_seen(1, "inbox")
        self.sockets.sort(key=lambda socket: socket.events("inbox")[0]["event"]["seat"])
        self.game: str = self.sockets[0].events("inbox")[0]["event"]["game"]
        self.stream = f"game:{self.game}"
        for socket in self.sockets:
            socket.told("subscribe", stream=self.stream)

    def move(self, ply: int) -> None:
        move = self.people[0].legal(self.game)["moves"][0]["move"]
        mover, other = self.sockets[ply % 2], self.sockets[1 - ply % 2]
        mover.told("move", game=self.game, ply=ply, move=move)
        other.until_seen(ply + 2, self.stream)


@pytest.fixture
def match(towns: list[Town]) -> Iterator[Match]:
    with ExitStack() as stack:
        yield Match(towns[0], stack)


def count(socket: Socket, match: Match, wanted: int) -> None:
    """Until this count is shown."""
    stream = f"watchers:{match.game}"
    shown = [f for f in socket.heard if f["type"] == "state" and f["stream"] == stream]
    if not shown or shown[-1]["state"]["count"] != wanted:
        socket.until(lambda f: f.get("stream") == stream and f["state"]["count"] == wanted)


def test_spectators_of_all_processes_are_counted(towns: list[Town], match: Match) -> None:
    mover = match.sockets[0]
    assert mover.told("subscribe", stream=f"watchers:{match.game}") == {}
    assert mover.heard[-2]["state"] == {"game": match.game, "count": 0}, "players do not count"
    assert mover.refused("subscribe", stream=f"watchers:{match.game}", cursor=0) == "no-cursor"
    assert mover.refused("subscribe", stream="watchers:NoSuchGame00") == "unknown-game"
    people = [towns[0].guest() for _ in range(2)]
    with ExitStack() as stack:
        watching = [
            stack.enter_context(Socket(town, person.token)) for town in towns for person in people
        ]
        for socket in [*watching, watching[0]]:
            socket.told("subscribe", stream=match.stream)
        count(mover, match, 4)
        second = stack.enter_context(Socket(towns[0], people[0].token))
        second.told("subscribe", stream=match.stream)
        watching[0].told("unsubscribe", stream=match.stream)
        watching[1].told("unsubscribe", stream=match.stream)
        count(mover, match, 3)
    count(mover, match, 0)
    assert mover.told("unsubscribe", stream=f"watchers:{match.game}") == {}


def test_a_crowd_costs_one_message_and_one_delivery_a_process(
    towns: list[Town], match: Match
) -> None:
    stranger = towns[0].guest()
    channel = f"kado:{match.stream}"
    with ExitStack() as stack:
        redis = stack.enter_context(towns[0].cluster.redis())
        for number in range(40):
            socket = stack.enter_context(Socket(towns[number % 2], stranger.token))
            socket.told("subscribe", stream=match.stream)
        assert redis.pubsub_numsub(channel) == [(channel.encode(), 2)]
        listener = redis.pubsub()
        stack.callback(listener.close)
        listener.subscribe(channel)
        listener.get_message(timeout=5)
        for ply in range(3):
            match.move(ply)
        versions = [listener.get_message(timeout=5)["data"].split()[0] for _ in range(3)]
        assert versions == [b"2", b"3", b"4"]
        assert listener.get_message(timeout=0.5) is None


def test_spectators_see_a_rated_game_late_and_its_end_at_once(
    towns: list[Town], match: Match
) -> None:
    stranger = towns[1].guest()
    with Socket(towns[1], stranger.token) as near, Socket(towns[0], stranger.token) as far:
        for socket in (near, far):
            socket.hear()
            assert socket.told("subscribe", stream=match.stream) == {"version": 1}
        (first,) = [frame for frame in near.heard if frame["type"] == "snapshot"]
        for ply in range(3):
            began = time.time()
            match.move(ply)
            assert stranger.http("GET", f"/api/v1/games/{match.game}").json["version"] <= ply + 1
            for socket in (near, far):
                assert not [e for e in socket.events(match.stream) if e["version"] > ply + 1]
            for socket in (near, far):
                socket.until_seen(ply + 2, match.stream)
            assert time.time() - began >= DELAY
        assert_whole(stranger, match, first, near)
        with Socket(towns[1], stranger.token) as later:
            assert later.told("subscribe", stream=match.stream, cursor=2) == {"version": 4}
            assert [event["version"] for event in later.events(match.stream)] == [3, 4]
        match.move(3)
        match.sockets[0].told("resign", game=match.game)
        version = towns[0].cluster.query(
            "SELECT version FROM territory_game WHERE id = %s", match.game
        )
        for socket in (near, far):
            socket.until_seen(int(version[0][0]), match.stream)
        assert_whole(stranger, match, first, near)


def assert_whole(stranger: Person, match: Match, first: Json, socket: Socket) -> None:
    """What was heard is what a fresh snapshot shows: versions without gap or double, and I5."""
    fresh = stranger.http("GET", f"/api/v1/games/{match.game}").json
    events = socket.events(match.stream)
    assert [event["version"] for event in events] == list(range(2, fresh["version"] + 1))
    assert_snapshot_follows(first["snapshot"], [event["event"] for event in events], fresh)

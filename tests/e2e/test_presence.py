"""Who is online, with real web processes, of which one is killed."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.support.cluster import Cluster
from tests.support.town import Person, Socket, Town

pytestmark = pytest.mark.slow
CRASH_SECONDS = 30.0


@pytest.fixture
def towns() -> Iterator[list[Town]]:
    with Cluster() as cluster:
        webs = [cluster.web(wait=False), cluster.web(wait=False)]
        for web in webs:
            web.wait_until_ready()
        yield [Town(cluster, web) for web in webs]


def befriend(one: Person, other: Person) -> None:
    for asks, asked, state in ((one, other, "pending"), (other, one, "friends")):
        answer = asks.http("PUT", f"/api/v1/friend-requests/{asked.name}")
        assert answer.json["state"] == state


def shown(frame: Any) -> list[str]:
    return [friend["name"] for friend in frame["state"]["online"]]


def test_devices_close_and_a_process_crashes(towns: list[Town]) -> None:
    first, second = towns
    ada, ben, eve, kim = (first.member(name) for name in ("Ada", "Ben", "Eve", "Kim"))
    for other in (ben, eve, kim):
        befriend(ada, other)
    with ExitStack() as devices:
        watcher = devices.enter_context(Socket(first, ada.token))
        assert watcher.told("subscribe", stream="friends") == {}
        state = next(frame for frame in watcher.heard if frame["type"] == "state")
        assert state["state"] == {"online": [], "friends": 3, "requests": 0}

        def until_shown(*names: str, seconds: float = 15.0) -> None:
            if shown([f for f in watcher.heard if f["type"] == "state"][-1]) != list(names):
                watcher.until(lambda f: f["type"] == "state" and shown(f) == list(names), seconds)

        # Ben has a device at each process, Kim two at the first, Eve one at the second.
        for town, person in ((first, ben), (second, ben), (first, kim), (second, eve)):
            devices.enter_context(Socket(town, person.token))
        with Socket(first, kim.token):
            until_shown("Ben", "Eve", "Kim")
        seen = len(watcher.heard)
        second.web.kill9()
        until_shown("Ben", "Kim", seconds=CRASH_SECONDS)
        # Neither Ben, who lost a device by the crash, nor Kim, who closed one long ago, went offline.
        states = [frame for frame in watcher.heard[seen:] if frame["type"] == "state"]
        assert [shown(frame) for frame in states] == [["Ben", "Kim"]]
        listed = ada.http("GET", "/api/v1/friends").json["friends"]
        assert {friend["player"]["name"]: friend["online"] for friend in listed} == {
            "Ben": True,
            "Eve": False,
            "Kim": True,
        }
        assert ben.http("PUT", "/api/v1/blocks/Ada").status == 200
        until_shown("Kim")

"""One run on many devices, through two web processes: it cannot be forked, and nothing that was answered is lost."""

import asyncio
import json
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from functools import partial

import pytest

from examples.kado_client import Client, Json, Refused
from tests.support.cluster import Cluster
from tests.support.proc import eventually
from tests.support.town import Answer, Person, Town, all_at_once

pytestmark = pytest.mark.slow
RUNS = "/api/v1/puzzles/runs"
DEVICES = 20


@pytest.fixture(scope="module")
def towns() -> Iterator[list[Town]]:
    """Two web processes; no request may be worth an error in their logs."""
    with Cluster() as cluster:
        webs = [cluster.web(wait=False), cluster.web(wait=False)]
        for web in webs:
            web.wait_until_ready()
        both = [Town(cluster, web) for web in webs]
        yield both
        assert [town.complaints() for town in both] == [[], []]


class Devices:
    """A player's devices, which take turns with the processes."""

    def __init__(self, towns: list[Town], level: str = "easy", undo: str = "once") -> None:
        first = towns[0].guest()
        self.people = [Person(town, first.name, first.token) for town in towns]
        wish = {"level": level, "board": "8x8", "undo": undo}
        self.run: str = first.http("POST", RUNS, wish).json["run"]

    def ask(self, number: int, method: str, address: str, body: Json | None = None) -> Answer:
        person = self.people[number % len(self.people)]
        return person.http(method, f"{RUNS}/{self.run}{address}", body)

    def legal(self) -> list[Json]:
        answer = self.ask(0, "GET", "/legal-placements").json
        return [
            {name: each[name] for name in ("slot", "rotation", "at")} | {"turn": answer["turn"]}
            for each in answer["placements"]
        ]

    def place(self, number: int, wish: Json) -> Answer:
        return self.ask(number, "POST", "/placements", wish)

    def place_one_of(self, wishes: list[Json], number: int) -> Answer:
        """Device number n sends the wish number n."""
        return self.place(number, wishes[number])

    def events(self) -> list[Json]:
        found: list[Json] = self.ask(1, "GET", "/events").json["events"]
        return found


def test_devices_cannot_fork_a_run(towns: list[Town]) -> None:
    """Twenty placements for each turn at once, half of them the same one."""
    devices = Devices(towns)
    chance = random.Random(2)
    for turn in range(5):
        wishes = chance.sample(devices.legal(), DEVICES // 2)
        said = wishes + [wishes[0]] * (DEVICES - len(wishes))
        answers = all_at_once(DEVICES, partial(devices.place_one_of, said))
        accepted = [(n, a) for n, a in enumerate(answers) if a.status == 200]
        assert len({a.body for _, a in accepted}) == 1
        assert len({str(said[n]) for n, _ in accepted}) == 1
        (winner,) = {str(said[n]) for n, _ in accepted}
        for n, answer in enumerate(answers):
            if str(said[n]) == winner:
                assert answer.status == 200, "the same one is answered alike by both processes"
            else:
                assert answer.code == "stale-turn"
                assert (answer.json["turn"], answer.json["version"]) == (turn + 1, turn + 2)
        events = devices.events()
        assert [event["version"] for event in events] == list(range(1, turn + 3))
        assert accepted[0][1].json == events[-1]


def test_undo_and_placements_from_many_devices(towns: list[Town]) -> None:
    devices = Devices(towns)
    for _ in range(3):
        assert devices.place(0, devices.legal()[0]).status == 200
    wishes = devices.legal()[: DEVICES // 2]

    def act(n: int) -> Answer:
        if n < len(wishes):
            return devices.place(n, wishes[n])
        return devices.ask(n, "POST", "/undo", {"turn": 3})

    answers = all_at_once(DEVICES, act)
    (accepted,) = {a.body for a in answers if a.status == 200}
    assert {a.code for a in answers if a.status != 200} == {"stale-turn"}
    last = devices.events()[-1]
    assert json.loads(accepted) == last
    assert last["version"] == 5
    undone = last["event"]["type"] == "placement_undone"
    assert sum(a.status == 200 for a in answers) == (DEVICES - len(wishes) if undone else 1)


def test_both_devices_see_every_event_once(towns: list[Town]) -> None:
    asyncio.run(_both_follow(towns))


async def _both_follow(towns: list[Town]) -> None:
    devices = Devices(towns, level="hard")
    token = devices.people[0].token
    async with AsyncExitStack() as stack:
        clients = [Client(town.web.url, token) for town in towns]
        for client in clients:
            await stack.enter_async_context(client)
        follows = [await client.follow_run(devices.run) for client in clients]
        number = 0
        while wishes := await asyncio.to_thread(devices.legal):
            answer = await clients[number % 2].place(devices.run, **wishes[0])
            for follow in follows:
                await follow.until(lambda s, v=answer["version"]: s["version"] >= v)
            number += 1
        fresh = (await asyncio.to_thread(devices.ask, 0, "GET", "")).json
        assert [follow.snapshot for follow in follows] == [fresh, fresh]
        for follow in follows:
            assert [version for version, _ in follow.events] == list(range(2, number + 2))
        with pytest.raises(Refused) as refused:
            await clients[0].place(devices.run, turn=number, slot=0, at="a1")
        assert refused.value.code == "run-over"


def test_what_was_answered_outlives_the_process(cluster: Cluster) -> None:
    """Killed right after the answer: the other process has the placement, and answers it again to the byte."""
    towns = [Town(cluster, cluster.web()), Town(cluster, cluster.web())]
    devices = Devices(towns)
    for _ in range(3):
        wish = devices.legal()[0]
        answer = devices.place(0, wish)
        towns[0].web.kill9()
        assert devices.place(1, wish).body == answer.body
        towns[0].web.restart()
    assert [event["version"] for event in devices.events()] == [1, 2, 3, 4]


ATTEMPTS = """
from datetime import date
from accounts.services.people import create_player
from games.puzzle import rules, selectors
from games.puzzle.models import Run
from games.puzzle.services import begin, play
day = date(2026, 2, 28)
clock = lambda: rules.opens_at(day)
for number in range(40):
    player = create_player(name=f"P{number}x").pk
    run, _ = begin.play_daily(player_id=player, day=day, clock=clock)
    for turn in range(1 + number % 3):
        first = rules.legal(selectors.state_of_row(Run.objects.get(id=run)))[number]
        play.place(run_id=run, player_id=player, turn=turn, slot=first.slot, rotation=0, at=first.at, clock=clock)
"""


def test_two_sweeper_processes_close_a_day_once(cluster: Cluster) -> None:
    cluster.manage("shell", "-v", "0", "-c", ATTEMPTS)
    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(lambda _: cluster.manage("sweeper", "--once"), range(2)))
    sweepers = [cluster.sweeper("--interval-ms", "50"), cluster.sweeper("--interval-ms", "50")]
    final = "SELECT count(*) FROM puzzle_daily WHERE frozen_at IS NOT NULL"
    assert eventually(lambda: cluster.query(final) == [(1,)]), said
    assert cluster.query(
        "SELECT status, revealed, count(*) FROM puzzle_run GROUP BY status, revealed"
    ) == [("closed", True, 40)]
    doubled = (
        'SELECT run_id FROM puzzle_runevent WHERE payload LIKE \'{"type":"run_ended"%%\''
        " GROUP BY run_id HAVING count(*) > 1"
    )
    assert cluster.query(doubled) == []
    table = "SELECT player_id, score, placements FROM {} ORDER BY player_id"
    entries = cluster.query(table.format("accounts_scoreentry WHERE key = 'daily:2026-02-28'"))
    assert entries == cluster.query(table.format("puzzle_run"))
    assert len(entries) == 40
    for sweeper in sweepers:
        assert sweeper.stop() == 0
        assert '"level": "error"' not in sweeper.log()

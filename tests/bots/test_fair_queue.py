"""Games and players take turns in the bots' queue, with a real worker. Order is compared, never time."""

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from bots.queue import list_of
from tests.support.cluster import Cluster
from tests.support.proc import descendants, eventually
from tests.support.process import Process
from tests.support.town import Person, Town

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def town() -> Iterator[Town]:
    with Cluster() as cluster:
        own = Town(cluster, cluster.web())
        cluster.worker("bots")
        yield own
        assert own.complaints() == []


@contextmanager
def held(town: Town) -> Iterator[None]:
    """The worker's processes stand still, with a first task in their hands, while others queue up behind it."""
    (worker,) = (process for process in town.cluster.processes if process.name.startswith("bots"))
    first = town.guest()
    game = first.game(level="starter")
    assert eventually(lambda: waiting(town) == (0, 0), seconds=90), "an earlier test's are done"
    _signal(worker, signal.SIGSTOP)
    try:
        move(first, game)
        assert eventually(lambda: waiting(town) == (0, 1))
        yield
    finally:
        _signal(worker, signal.SIGCONT)


def _signal(worker: Process, number: signal.Signals) -> None:
    for pid in descendants(worker.pid):
        os.kill(pid, number)


def waiting(town: Town) -> tuple[int, int]:
    """The tasks that wait, and those that a worker has taken and not finished."""
    with town.cluster.redis() as redis:
        raw: Any = redis
        return sum(raw.llen(list_of(priority)) for priority in range(10)), raw.hlen("unacked")


def move(person: Person, game: str) -> None:
    legal = person.legal(game)
    body = {"ply": legal["ply"], "move": legal["moves"][-1]["move"]}
    assert person.http("POST", f"/api/v1/games/{game}/moves", body).status == 200


def moved_at(town: Town, game: str, version: int) -> int:
    """When the CPU made its move; waited for."""
    query = "SELECT at FROM territory_event WHERE game_id = %s AND version = %s"
    assert eventually(lambda: town.cluster.query(query, game, version), seconds=40)
    ((at,),) = town.cluster.query(query, game, version)
    return int(at)


def queued_games(town: Town) -> Counter[str]:
    """How many tasks wait for each game."""
    with town.cluster.redis() as redis:
        raw: Any = redis
        messages = [text for n in range(10) for text in raw.lrange(list_of(n), 0, -1)]
    headers = [json.loads(message)["headers"] for message in messages]
    return Counter(header["argsrepr"].split("'")[1] for header in headers)


def test_a_game_of_three_slow_cpus_takes_turns_with_others(town: Town) -> None:
    person, others = town.guest(), [town.guest() for _ in range(5)]
    games = [other.game(level="starter") for other in others]
    with held(town):
        seats = [{"level": "expert"}] * 3 + [{}]
        body = {"variant": "classic", "seats": seats}
        slow = person.http("POST", "/api/v1/games", body).json["game"]
        for other, game in zip(others, games, strict=True):
            move(other, game)
        assert queued_games(town) == Counter([slow, *games]), "each waits with one move"
    assert moved_at(town, slow, 2) <= min(moved_at(town, game, 3) for game in games)
    assert max(moved_at(town, game, 3) for game in games) <= moved_at(town, slow, 3)


def test_fifty_games_of_one_player_do_not_hold_up_another(town: Town) -> None:
    many, one = town.guest(), town.guest()
    lone = one.game(level="starter")
    games = [many.game(level="expert") for _ in range(50)]
    with held(town):
        for game in games:
            move(many, game)
        move(one, lone)
        assert queued_games(town) == Counter([*games, lone])
    mine = moved_at(town, lone, 3)
    query = (
        "SELECT count(*) FROM territory_event WHERE game_id = ANY(%s) AND version = 3 AND at < %s"
    )
    ((before,),) = town.cluster.query(query, games, mine)
    assert before <= 1, "of the other's moves only the first was in the same class"


def test_the_strength_of_ones_cpu_does_not_suffer_from_anothers_games(town: Town) -> None:
    """Searches are shortened by what waits before them or beside them, not by what waits behind."""
    (worker,) = (process for process in town.cluster.processes if process.name.startswith("bots"))
    many, one = town.guest(), town.guest()
    lone = one.game(level="expert")
    games = [many.game(level="starter") for _ in range(30)]
    with held(town):
        for game in games:
            move(many, game)
        move(one, lone)
    moved_at(town, lone, 3)
    assert eventually(lambda: waiting(town) == (0, 0), seconds=90)
    lowered = [line for line in worker.log().splitlines() if '"budget_lowered"' in line]
    shortened = {json.loads(line)["game"] for line in lowered}
    assert shortened & set(games)
    assert lone not in shortened

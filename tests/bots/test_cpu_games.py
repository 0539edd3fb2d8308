"""CPU seats through a real queue and a real worker; no web process ever thinks."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from celery import Celery

from config.env import PROJECT
from tests.games.territory.support import assert_snapshot_follows
from tests.support.cluster import Cluster
from tests.support.town import Json, Person, Town

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def town() -> Iterator[Town]:
    """A web process and one worker for the bots' queue."""
    with Cluster() as cluster:
        own = Town(cluster, cluster.web())
        cluster.worker("bots")
        yield own
        assert own.complaints() == []


def until_ply(person: Person, game: str, ply: int, seconds: float = 20.0) -> Json:
    """The snapshot when the game has come to this ply, or is over."""
    deadline = time.monotonic() + seconds
    while True:
        snapshot: Json = person.http("GET", f"/api/v1/games/{game}").json
        if len(snapshot["moves"]) >= ply or snapshot["status"] != "started":
            return snapshot
        assert time.monotonic() < deadline, "the CPU does not move"
        time.sleep(0.02)


def test_a_game_against_the_cpu_by_rest(town: Town) -> None:
    person = town.guest()
    game = person.game(level="starter")
    first = person.http("GET", f"/api/v1/games/{game}").json
    assert [seat["kind"] for seat in first["seats"]] == ["guest", "bot"]
    assert first["seats"][1]["level"] == "starter"
    snapshot = first
    for _ in range(100):
        if snapshot["status"] != "started":
            break
        turn = snapshot["turn"]
        if turn["seat"] == 0:
            move = person.legal(game)["moves"][-1]["move"]
            answer = person.http(
                "POST", f"/api/v1/games/{game}/moves", {"ply": turn["ply"], "move": move}
            )
            assert answer.status == 200, answer.body
        snapshot = until_ply(person, game, turn["ply"] + 1)
    assert snapshot["status"] == "finished"
    assert snapshot["outcome"]["termination"] == "completed"
    assert {move["seat"] for move in snapshot["moves"]} == {0, 1}
    events = person.http("GET", f"/api/v1/games/{game}/events?after=1").json["events"]
    assert_snapshot_follows(first, [event["event"] for event in events], snapshot)


def test_the_cpu_begins(town: Town) -> None:
    person = town.guest()
    body = {"variant": "classic", "seats": [{"level": "starter"}] * 3 + [{}]}
    game = person.http("POST", "/api/v1/games", body).json["game"]
    snapshot = until_ply(person, game, 3)
    assert [move["seat"] for move in snapshot["moves"]] == [0, 1, 2]


def test_nobody_moves_for_the_cpu(town: Town) -> None:
    person = town.guest()
    game = person.game(level="starter")
    town_web_moves = person.legal(game)["moves"]
    person.http(
        "POST", f"/api/v1/games/{game}/moves", {"ply": 0, "move": town_web_moves[0]["move"]}
    )
    answer = person.http("POST", f"/api/v1/games/{game}/moves", {"ply": 1, "move": "j5"})
    assert answer.code in ("not-your-turn", "stale-ply")


def test_the_same_task_delivered_five_times(town: Town) -> None:
    """The queue may deliver as often as it likes: one move, one event."""
    person = town.guest()
    game = person.game(level="starter")
    celery = Celery(broker=town.cluster.redis_url)
    try:
        move = person.legal(game)["moves"][0]["move"]
        person.http("POST", f"/api/v1/games/{game}/moves", {"ply": 0, "move": move})
        for ply in (1, 1, 1, 1, 1, 0, 2, 99, -1):
            celery.send_task("bots.choose_move", args=[game, ply], queue="bots")
        celery.send_task("bots.choose_move", args=["NoSuchGame00", 1], queue="bots")
        until_ply(person, game, 2)
        _until_the_queue_is_empty(town)
    finally:
        celery.close()
    assert len(person.http("GET", f"/api/v1/games/{game}").json["moves"]) == 2
    assert len(person.http("GET", f"/api/v1/games/{game}/events").json["events"]) == 3


def _until_the_queue_is_empty(town: Town) -> None:
    """Also of what a worker has taken and not yet acknowledged; tasks that are done have been."""
    redis = town.cluster.redis()
    try:
        deadline = time.monotonic() + 20
        while redis.llen("bots") or redis.hlen("unacked"):
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        redis.close()


def test_a_worker_that_was_away_takes_up_what_waits(town: Town) -> None:
    with Cluster() as cluster:
        other = Town(cluster, cluster.web())
        person = other.guest()
        game = person.game(level="starter")
        move = person.legal(game)["moves"][0]["move"]
        answer = person.http("POST", f"/api/v1/games/{game}/moves", {"ply": 0, "move": move})
        assert answer.status == 200, "no request waits for a worker"
        cluster.worker("bots")
        until_ply(person, game, 2)


def test_no_web_process_has_an_engine() -> None:
    """I10: importing everything that a web process imports imports nothing that thinks."""
    code = (
        "import sys, json, django; django.setup();"
        "import config.asgi, config.urls; from django.urls import get_resolver; get_resolver().url_patterns;"
        "print(json.dumps([m for m in sys.modules if m.startswith(('bots.engine', 'bots.tasks'))]))"
    )
    outcome = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert outcome.returncode == 0, outcome.stderr
    assert json.loads(outcome.stdout.splitlines()[-1]) == []

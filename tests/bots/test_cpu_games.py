"""CPU seats through a real queue and a real worker; no web process ever thinks."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from celery import Celery

from bots.levels import LEVELS
from bots.queue import HINT_LINE, MOVE_LINE, list_of
from config.env import PROJECT
from tests.games.territory.support import assert_snapshot_follows
from tests.support.cluster import Cluster
from tests.support.proc import descendants, eventually
from tests.support.town import Json, Person, Socket, Town

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


def play_on(person: Person, game: str, seat: int) -> Json:
    """Place something whenever it is the person's turn, until the game is over; the last snapshot."""
    snapshot: Json = person.http("GET", f"/api/v1/games/{game}").json
    while snapshot["status"] == "started":
        turn = snapshot["turn"]
        if turn["seat"] == seat:
            move = person.legal(game)["moves"][-1]["move"]
            answer = person.http(
                "POST", f"/api/v1/games/{game}/moves", {"ply": turn["ply"], "move": move}
            )
            assert answer.status == 200, answer.body
        snapshot = until_ply(person, game, turn["ply"] + 1)
    return snapshot


def test_a_game_against_the_cpu_by_rest(town: Town) -> None:
    person = town.guest()
    game = person.game(level="starter")
    first = person.http("GET", f"/api/v1/games/{game}").json
    assert [seat["kind"] for seat in first["seats"]] == ["guest", "bot"]
    assert first["seats"][1]["level"] == "starter"
    snapshot = play_on(person, game, 0)
    assert snapshot["status"] == "finished"
    assert snapshot["outcome"]["termination"] == "completed"
    assert {move["seat"] for move in snapshot["moves"]} == {0, 1}
    events = person.http("GET", f"/api/v1/games/{game}/events?after=1").json["events"]
    assert_snapshot_follows(first, [event["event"] for event in events], snapshot)


def test_cpu_players_have_profiles_before_anybody_plays_them(town: Town) -> None:
    for level in LEVELS:
        answer = town.http("GET", f"/api/v1/players/cpu-{level}")
        assert (answer.status, answer.json["level"]) == (200, level)
        assert all(rating["calibrated"] for rating in answer.json["ratings"])


@pytest.mark.parametrize(
    ("variant", "levels"),
    [
        ("duo", ["", "advanced"]),
        ("classic", ["beginner", "", "advanced", "intermediate"]),
        ("classic-2", ["intermediate", ""]),
        ("classic-3", ["", "advanced", "beginner"]),
        ("junior", ["beginner", ""]),
    ],
)
def test_levels_play_every_variant_to_its_end(town: Town, variant: str, levels: list[str]) -> None:
    person = town.guest()
    seats = [{"level": level} if level else {} for level in levels]
    game = person.http("POST", "/api/v1/games", {"variant": variant, "seats": seats}).json["game"]
    snapshot = play_on(person, game, levels.index(""))
    assert snapshot["outcome"]["termination"] == "completed"
    assert [seat["level"] or "" for seat in snapshot["seats"]] == levels


def test_the_expert_answers(town: Town) -> None:
    person = town.guest()
    game = person.game(level="expert")
    move = person.legal(game)["moves"][-1]["move"]
    person.http("POST", f"/api/v1/games/{game}/moves", {"ply": 0, "move": move})
    snapshot = until_ply(person, game, 2)
    assert len(snapshot["moves"][1]["move"].split(",")) == 5


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
    celery = Celery(broker=town.cluster.redis_url, set_as_current=False)
    try:
        move = person.legal(game)["moves"][0]["move"]
        person.http("POST", f"/api/v1/games/{game}/moves", {"ply": 0, "move": move})
        for version in (2, 2, 2, 2, 2, 1, 3, 99, -1):
            celery.send_task("bots.choose_move", args=[game, version], queue="bots")
        celery.send_task("bots.choose_move", args=["NoSuchGame00", 1], queue="bots")
        until_ply(person, game, 2)
        _until_the_queue_is_empty(town)
    finally:
        celery.close()
    assert len(person.http("GET", f"/api/v1/games/{game}").json["moves"]) == 2
    assert len(person.http("GET", f"/api/v1/games/{game}/events").json["events"]) == 3


def _tasks(town: Town) -> tuple[int, int, int]:
    """The moves and the hints that wait, and the tasks that a worker has taken and not yet finished."""
    with town.cluster.redis() as redis:
        raw: Any = redis
        moves, hints = (
            sum(raw.llen(list_of(priority)) for priority in range(line.first, line.first + 3))
            for line in (MOVE_LINE, HINT_LINE)
        )
        return moves, hints, raw.hlen("unacked")


def _until_the_queue_is_empty(town: Town) -> None:
    assert eventually(lambda: _tasks(town) == (0, 0, 0))


def _move(person: Person, game: str, number: int = 0) -> Json:
    """The person makes one of the legal moves, which is accepted; the version of its event."""
    legal = person.legal(game)
    body = {"ply": legal["ply"], "move": legal["moves"][number]["move"]}
    answer = person.http("POST", f"/api/v1/games/{game}/moves", body)
    assert answer.status == 200, answer.body
    receipt: Json = answer.json
    return receipt


# Undo


def test_undo_while_the_cpu_is_to_move(town: Town) -> None:
    """Its worker's hands are stopped with the task in them; the game goes back and on, and that task does nothing."""
    person = town.guest()
    game = person.game(level="starter")
    first = person.http("GET", f"/api/v1/games/{game}").json
    _until_the_queue_is_empty(town)
    (worker,) = (process for process in town.cluster.processes if process.name.startswith("bots"))
    hands = list(descendants(worker.pid))
    for pid in hands:
        os.kill(pid, signal.SIGSTOP)
    try:
        _move(person, game)
        assert eventually(lambda: _tasks(town) == (0, 0, 1))
        answer = person.http("POST", f"/api/v1/games/{game}/undo", {"ply": 1})
        assert (answer.status, answer.json) == (200, {"version": 3})
        assert _move(person, game, -1) == {"version": 4}
        assert eventually(lambda: _tasks(town) == (1, 0, 1)), "a new task is made"
    finally:
        for pid in hands:
            os.kill(pid, signal.SIGCONT)
    snapshot = until_ply(person, game, 2)
    _until_the_queue_is_empty(town)
    events = person.http("GET", f"/api/v1/games/{game}/events?after=1").json["events"]
    assert [event["event"]["type"] for event in events] == [
        "move_played",
        "moves_undone",
        "move_played",
        "move_played",
    ]
    assert_snapshot_follows(first, [event["event"] for event in events], snapshot)


def test_back_to_the_players_own_turn(town: Town) -> None:
    person = town.guest()
    game = person.game(level="starter")
    for number in range(2):
        _move(person, game)
        until_ply(person, game, 2 * number + 2)
    for ply in (4, 2):
        assert person.http("POST", f"/api/v1/games/{game}/undo", {"ply": ply}).status == 200
        snapshot = person.http("GET", f"/api/v1/games/{game}").json
        assert (len(snapshot["moves"]), snapshot["turn"]["seat"]) == (ply - 2, 0)
    assert person.http("POST", f"/api/v1/games/{game}/undo", {"ply": 0}).code == "nothing-to-undo"


# Hints


def test_a_hint_by_rest_and_by_socket(town: Town) -> None:
    person = town.guest()
    game = person.game(level="starter")
    address = f"/api/v1/games/{game}/hints"
    with Socket(town, person.token) as socket:
        socket.hear()
        answer = person.http("POST", address)
        assert (answer.status, answer.json["move"], answer.json["hints_left"]) == (202, None, 3)
        socket.until_seen(1, "inbox")
        given = socket.events("inbox")[0]["event"]
        assert (given["type"], given["game"], given["ply"]) == ("hint_given", game, 0)
        assert given["hints_left"] == 2
        assert {"move": given["move"], "piece": given["piece"]} in person.legal(game)["moves"]
        hint = {key: given[key] for key in ("ply", "colour", "piece", "move")}
        again = person.http("POST", address, {"ply": 0})
        assert (again.status, again.json) == (200, {**hint, "hints_left": 2})
        assert socket.told("hint", game=game, ply=0) == {**hint, "hints_left": 2}
        assert socket.refused("hint", game=game, ply=1) == "stale-ply"
        assert person.http("GET", address).json == {"hints": [hint], "hints_left": 2}
        for number in (1, 2):
            body = {"ply": 2 * number - 2, "move": person.legal(game)["moves"][0]["move"]}
            person.http("POST", f"/api/v1/games/{game}/moves", body)
            until_ply(person, game, 2 * number)
            socket.told("hint", game=game)
            socket.until_seen(number + 1, "inbox")
        _move(person, game)
        until_ply(person, game, 6)
        assert socket.refused("hint", game=game) == "no-hints-left"
        assert person.http("POST", address).code == "no-hints-left"
    assert person.http("GET", "/api/v1/me/inbox").json["version"] == 3


def test_twenty_requests_for_a_hint_at_once(town: Town) -> None:
    person = town.guest()
    game = person.game(level="starter")
    with ThreadPoolExecutor(20) as pool:
        asking = [
            pool.submit(person.http, "POST", f"/api/v1/games/{game}/hints") for _ in range(20)
        ]
        answers = [each.result() for each in asking]
    assert {answer.status for answer in answers} <= {200, 202}
    assert eventually(
        lambda: person.http("GET", f"/api/v1/games/{game}/hints").json["hints_left"] == 2
    )
    _until_the_queue_is_empty(town)
    assert person.http("GET", "/api/v1/me/inbox").json["version"] == 1


HINTS: list[tuple[Any, int, str]] = [
    ([], 400, "invalid"),
    ("text", 400, "invalid"),
    ({"ply": -1}, 400, "invalid"),
    ({"ply": 10_001}, 400, "invalid"),
    ({"ply": 0.5}, 400, "invalid"),
    ({"ply": [0]}, 400, "invalid"),
    ({"level": "starter"}, 400, "invalid"),
    ({"ply": 1}, 409, "stale-ply"),
]


@pytest.mark.parametrize(("body", "status", "code"), HINTS, ids=range(len(HINTS)))
def test_a_hint_that_cannot_be(town: Town, body: Any, status: int, code: str) -> None:
    person = town.guest()
    game = person.game(level="starter")
    address = f"/api/v1/games/{game}/hints"
    answer = person.http("POST", address, raw=json.dumps(body).encode())
    assert (answer.status, answer.code) == (status, code)
    assert person.http("GET", address).json == {"hints": [], "hints_left": 3}


def test_who_may_not_have_hints(town: Town) -> None:
    person, stranger = town.guest(), town.guest()
    game, hot_seat = person.game(level="starter"), person.game()
    for method in ("GET", "POST"):
        answers = [
            stranger.http(method, f"/api/v1/games/{game}/hints"),
            person.http(method, f"/api/v1/games/{hot_seat}/hints"),
            town.http(method, f"/api/v1/games/{game}/hints"),
        ]
        codes = ["not-seated", "hint-not-allowed", "not-authenticated"]
        assert [answer.code for answer in answers] == codes
    person.http("POST", f"/api/v1/games/{game}/resign")
    assert person.http("POST", f"/api/v1/games/{game}/hints").code == "game-over"
    assert town.cluster.query("SELECT count(*) FROM bots_hint WHERE game_id = %s", game) == [(0,)]


def test_moves_come_before_hints(town: Town) -> None:
    """Hints that have waited for longer are found when no move waits any more."""
    person = town.guest()
    games = [person.game(level="starter") for _ in range(8)]
    _until_the_queue_is_empty(town)
    (worker,) = (process for process in town.cluster.processes if process.name.startswith("bots"))
    worker.pause()
    try:
        for game in games[:5]:
            assert person.http("POST", f"/api/v1/games/{game}/hints").status == 202
        for game in games[5:]:
            _move(person, game)
        # One task is handed to the worker's open request at once; the others wait.
        assert eventually(lambda: sum(_tasks(town)[:2]) == 7)
    finally:
        worker.resume()
    _until_the_queue_is_empty(town)
    moved = town.cluster.query(
        "SELECT max(at) FROM territory_event WHERE version = 3 AND game_id = ANY(%s)", games[5:]
    )
    given = town.cluster.query(
        "SELECT extract(epoch FROM given_at) * 1000 FROM bots_hint WHERE game_id = ANY(%s) ORDER BY 1",
        games[:5],
    )
    assert len(given) == 5
    assert all(at >= moved[0][0] for (at,) in given[1:])


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
        "import sys, json, os, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'; django.setup();"
        "import config.asgi, config.urls; from django.urls import get_resolver; get_resolver().url_patterns;"
        "print(json.dumps([m for m in sys.modules if m.startswith(('bots.engine', 'bots.tasks'))]))"
    )
    outcome = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert outcome.returncode == 0, outcome.stderr
    assert json.loads(outcome.stdout.splitlines()[-1]) == []

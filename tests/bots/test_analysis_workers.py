"""Analyses through a real queue and real workers: by REST from asking to the curve, behind moves, past kills."""

import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from bots import queue
from bots.analysis import SIMULATIONS, WORD
from bots.queue import HINT_LINE
from games.palette import THEMES
from games.territory.rules import read_sgf
from tests.support.cluster import Cluster
from tests.support.proc import descendants, eventually
from tests.support.process import Process
from tests.support.town import Answer, Json, Person, Socket, Town

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def town() -> Iterator[Town]:
    """A web process, one worker for the bots' queue, and a sweeper."""
    with Cluster() as cluster:
        own = Town(cluster, cluster.web())
        cluster.worker("bots")
        cluster.sweeper()
        yield own
        assert own.complaints() == []


def over(person: Person, plies: int = 2) -> str:
    """A game of one person on one device that ended by resignation after so many plies."""
    game = person.game()
    for _ in range(plies):
        move_in(person, game)
    assert person.http("POST", f"/api/v1/games/{game}/resign").status == 200
    return game


def move_in(person: Person, game: str) -> None:
    legal = person.legal(game)
    body = {"ply": legal["ply"], "move": legal["moves"][0]["move"]}
    assert person.http("POST", f"/api/v1/games/{game}/moves", body).status == 200


def analysis(person: Person, game: str, method: str = "GET", end: str = "", **more: Any) -> Answer:
    return person.http(method, f"/api/v1/games/{game}/analysis{end}", **more)


def made(person: Person, game: str, seconds: float = 60.0) -> Json:
    """The analysis when it is done."""
    assert eventually(lambda: analysis(person, game).json["status"] == "done", seconds=seconds)
    answer: Json = analysis(person, game).json
    return answer


def lists(town: Town) -> tuple[int, int, int, int]:
    """The moves, hints and analyses that wait, and what a worker has taken and not finished."""
    with town.cluster.redis() as redis:
        raw: Any = redis
        waiting = [raw.llen(queue.list_of(priority)) for priority in range(queue.LAST + 1)]
        moves, hints = sum(waiting[: HINT_LINE.first]), sum(waiting[HINT_LINE.first : queue.LAST])
        return moves, hints, waiting[queue.LAST], raw.hlen("unacked")


def until_quiet(town: Town) -> None:
    assert eventually(lambda: lists(town) == (0, 0, 0, 0), seconds=60)


def worker_of(town: Town) -> Process:
    (worker,) = (each for each in town.cluster.processes if each.name.startswith("bots"))
    return worker


# From asking to the curve


def test_from_asking_to_the_curve(town: Town) -> None:
    person, stranger = town.guest(), town.guest()
    game = over(person, 3)
    assert analysis(person, game).code == "no-analysis"
    with Socket(town, person.token) as socket:
        answer = analysis(person, game, "POST")
        asked = answer.json
        assert (answer.status, asked["status"], asked["plies"]) == (202, "running", 3)
        assert (asked["moves"], asked["simulations"]) == (None, SIMULATIONS)
        event = socket.until(lambda f: f.get("event", {}).get("type") == "analysis_ready", 60)
        assert event["event"] == {"type": "analysis_ready", "game": game, "plies": 3}
    whole = analysis(person, game, "POST")
    assert (whole.status, whole.json["status"], whole.json["done"]) == (200, "done", 3)
    assert [move["ply"] for move in whole.json["moves"]] == [0, 1, 2]
    assert whole.json["end"] == [1.0, 0.0], "orange was to move, and gave up"
    assert analysis(stranger, game).json == whole.json
    assert analysis(stranger, game, "POST").code == "not-seated"
    picture = town.http("GET", f"/api/v1/games/{game}/analysis.svg?theme=dark")
    assert picture.headers["Content-Type"] == "image/svg+xml"
    assert THEMES["dark"].page in picture.body.decode()
    assert ET.fromstring(picture.body).get("role") == "img"
    file = analysis(person, game, end=".blksgf")
    assert f'filename="{game}-analysis.blksgf"' in file.headers["Content-Disposition"]
    record = read_sgf(file.body)
    assert all(node.comment.startswith(WORD) for node in record.nodes[:4])


def test_what_is_known_already_is_not_sent_again(town: Town) -> None:
    person = town.guest()
    game = over(person, 1)
    analysis(person, game, "POST")
    made(person, game)
    for end in ("", ".svg", ".blksgf"):
        answer = analysis(person, game, end=end)
        assert "max-age=86400" in answer.headers["Cache-Control"], "a resignation is final"
        again = analysis(person, game, end=end, If_None_Match=answer.headers["ETag"])
        assert (again.status, again.body) == (304, b"")


def test_refusals(town: Town) -> None:
    person, game_of_other = town.guest(), town.guest().game()
    running, empty, waiting = person.game(), over(person, 0), over(person, 1)
    asks: list[tuple[str, str, int, str]] = [
        ("POST", "NoSuchGame00", 404, "unknown-game"),
        ("POST", "a%00b", 404, "unknown-game"),
        ("POST", running, 409, "not-finished"),
        ("POST", empty, 409, "nothing-to-analyse"),
        ("POST", game_of_other, 409, "not-finished"),
        ("GET", "NoSuchGame00", 404, "unknown-game"),
        ("GET", running, 409, "not-finished"),
        ("GET", waiting, 404, "no-analysis"),
    ]
    for method, game, status, code in asks:
        answer = analysis(person, game, method)
        assert (answer.status, answer.code) == (status, code), (method, game)
    for end in (".svg", ".blksgf"):
        assert analysis(person, running, end=end).code == "not-finished"
        assert analysis(person, waiting, end=end).code == "no-analysis"
    refused = analysis(person, waiting, end=".svg?theme=pink")
    assert (refused.status, refused.code) == (400, "invalid")
    for method in ("GET", "POST"):
        answer = town.http(method, f"/api/v1/games/{waiting}/analysis")
        assert (answer.status, answer.code) == (401, "not-authenticated")
    _, narrow = person.other_token("profile")
    answer = town.http(
        "POST", f"/api/v1/games/{waiting}/analysis", Authorization=f"Bearer {narrow}"
    )
    assert (answer.status, answer.code) == (403, "missing-scope")
    assert town.cluster.query("SELECT count(*) FROM bots_analysis WHERE game_id = %s", empty) == [
        (0,)
    ]


@pytest.mark.parametrize("body", [b"[]", b'"text"', b"{", b'{"a": 1}', b"\xff"])
def test_what_a_body_says_is_not_looked_at(town: Town, body: bytes) -> None:
    """There is nothing to say; whatever is said, nothing goes wrong."""
    person = town.guest()
    answer = analysis(person, over(person, 0), "POST", raw=body)
    assert answer.code in ("nothing-to-analyse", "invalid")


def test_twenty_at_once(town: Town) -> None:
    person = town.guest()
    game = over(person, 2)
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: analysis(person, game, "POST"), range(20)))
    assert {answer.status for answer in answers} <= {200, 202}
    made(person, game)
    until_quiet(town)
    items = person.http("GET", "/api/v1/me/inbox").json["events"]
    assert [item["event"]["type"] for item in items].count("analysis_ready") == 1


# Behind moves and hints


def test_moves_come_first_then_hints(town: Town) -> None:
    """Analyses that have waited for longer go on when no move and no hint waits any more."""
    people = [town.guest() for _ in range(3)]
    ended = [over(person, 2) for person in people]
    playing = [people[0].game(level="starter") for _ in range(4)]
    until_quiet(town)
    worker = worker_of(town)
    worker.pause()
    try:
        for person, game in zip(people, ended, strict=True):
            assert analysis(person, game, "POST").status == 202
        assert people[0].http("POST", f"/api/v1/games/{playing[0]}/hints").status == 202
        for game in playing[1:]:
            move_in(people[0], game)
        # One task is handed to the worker's open request at once; the others wait.
        assert eventually(lambda: sum(lists(town)[:3]) == 6)
    finally:
        worker.resume()
    done = [made(person, game) for person, game in zip(people, ended, strict=True)]
    assert all(each["done"] == 2 for each in done)
    ((moved,),) = town.cluster.query(
        "SELECT max(at) FROM territory_event WHERE version = 3 AND game_id = ANY(%s)", playing[1:]
    )
    ((hinted,),) = town.cluster.query(
        "SELECT extract(epoch FROM given_at) * 1000 FROM bots_hint WHERE game_id = %s", playing[0]
    )
    ((first,),) = town.cluster.query(
        "SELECT min(extract(epoch FROM finished_at) * 1000) FROM bots_analysis WHERE game_id = ANY(%s)",
        ended,
    )
    assert moved <= hinted <= first


# Past kills


def test_a_worker_that_is_killed_with_a_ply_in_hand(cluster: Cluster) -> None:
    """It loses that ply only: what was found stands, and when its lease is over another worker goes on."""
    town, worker, sweeper = Town(cluster, cluster.web()), cluster.worker("bots"), cluster.sweeper()
    person = town.guest()
    game = over(person, 6)
    assert analysis(person, game, "POST").status == 202
    assert eventually(lambda: analysis(person, game).json["done"] >= 2)
    for pid in descendants(worker.pid):
        os.kill(pid, signal.SIGSTOP)
    worker.kill9()
    before = analysis(person, game).json
    assert (before["status"], before["done"] >= 2) == ("running", True)
    kept = _findings(town, game)
    # The task is lost with Valkey, and time passes: the lease, and what a sweeper leaves to the workers.
    town.cluster.restart_valkey()
    town.cluster.query(
        "UPDATE bots_analysis SET free_at = free_at - 60000 WHERE game_id = %s RETURNING 1", game
    )
    worker.restart()
    whole = made(person, game)
    assert whole["done"] == 6
    assert _findings(town, game)[: len(kept)] == kept, "what was found is not searched again"
    tries = town.cluster.query("SELECT tries FROM bots_analysis WHERE game_id = %s", game)
    assert tries == [(0,)]
    assert "analyses_resumed" in sweeper.log()


def _findings(town: Town, game: str) -> list[Any]:
    rows = town.cluster.query(
        "SELECT p.ply, p.best, p.values, p.best_value FROM bots_analysedply p"
        " JOIN bots_analysis a ON a.id = p.analysis_id WHERE a.game_id = %s ORDER BY p.ply",
        game,
    )
    return [json.loads(json.dumps(row)) for row in rows]


def test_an_undo_after_the_end(town: Town) -> None:
    person = town.guest()
    game = person.http(
        "POST", "/api/v1/games", {"variant": "duo", "seats": [{}, {"level": "starter"}]}
    ).json["game"]
    while person.http("GET", f"/api/v1/games/{game}").json["status"] == "started":
        legal = person.legal(game)
        if legal["colour"] == "blue":
            move_in(person, game)
    assert analysis(person, game, "POST").status == 202
    assert eventually(lambda: analysis(person, game).json["done"] >= 1)
    plies = len(person.http("GET", f"/api/v1/games/{game}").json["moves"])
    undone = person.http("POST", f"/api/v1/games/{game}/undo", {"ply": plies})
    assert undone.status == 200
    assert analysis(person, game).code == "not-finished"
    gone = "SELECT count(*) FROM bots_analysis WHERE game_id = %s"
    assert eventually(lambda: town.cluster.query(gone, game) == [(0,)], seconds=60)
    items = person.http("GET", "/api/v1/me/inbox").json["events"]
    assert "analysis_ready" not in [item["event"]["type"] for item in items]

"""A position at which the engine really kills its worker process: the game goes on, and so does everybody else's."""

import json
from collections.abc import Iterator

import pytest

from bots import guard
from config.env import PROJECT
from tests.support.cluster import Cluster, compile_engine
from tests.support.proc import eventually
from tests.support.process import Process, says
from tests.support.town import Json, Person, Town

pytestmark = pytest.mark.slow
SECONDS = 45.0
"""A process that dies is noticed within five seconds, and it dies twice. After a minute the sweeper would move."""


@pytest.fixture(scope="module")
def town() -> Iterator[Town]:
    """A web process, and the sweeper, which asks again for what expired while processes died."""
    with Cluster() as cluster:
        cluster.sweeper()
        yield Town(cluster, cluster.web())


@pytest.fixture(scope="module")
def worker(town: Town) -> Process:
    """Its engine dies at every position of junior; see deadly_worker.py."""
    compile_engine()
    script = PROJECT / "tests/bots/deadly_worker.py"
    arguments = ["--queue", "bots", "--nice", "0"]
    return town.cluster.run(arguments, says("ready."), name="bots", script=script)


def move(person: Person, game: str) -> None:
    legal = person.legal(game)
    body = {"ply": legal["ply"], "move": legal["moves"][-1]["move"]}
    assert person.http("POST", f"/api/v1/games/{game}/moves", body).status == 200


def snapshot(person: Person, game: str) -> Json:
    view: Json = person.http("GET", f"/api/v1/games/{game}").json
    return view


def comes_to(person: Person, game: str, ply: int) -> bool:
    return eventually(lambda: len(snapshot(person, game)["moves"]) >= ply, seconds=SECONDS)


def poison(worker: Process) -> list[Json]:
    """The entries of the log that tell of such positions."""
    lines = [line for line in worker.log().splitlines() if '"poison_position"' in line]
    return [json.loads(line) for line in lines]


def nothing_is_left(town: Town) -> bool:
    with town.cluster.redis() as redis:
        return not redis.exists("unacked", "bots")


def test_the_game_goes_on_and_others_too(town: Town, worker: Process) -> None:
    ada, ben = town.guest(), town.guest()
    bad, good = ada.game("junior", level="expert"), ben.game(level="starter")
    for turn in range(2):
        move(ada, bad)
        move(ben, good)
        assert comes_to(ben, good, 2 * turn + 2)
        assert comes_to(ada, bad, 2 * turn + 2)
    assert eventually(lambda: nothing_is_left(town)), "the task is not delivered again"
    moves = snapshot(ada, bad)["moves"]
    assert [len(each["move"].split(",")) for each in moves[1::2]] == [5, 5], "its largest pieces"

    entries = poison(worker)
    assert [(each["game"], each["version"], each["kind"]) for each in entries] == [
        (bad, 2, "move"),
        (bad, 4, "move"),
    ]
    last = entries[-1]
    assert last["moves"] == [f"{each['colour']} {each['move']}" for each in moves[:3]]
    assert (last["variant"], last["cpu_level"], last["seats_gone"]) == ("junior", "expert", [])
    # Two, and one more if the sweeper asked again just as the task was given out again.
    assert len(set(last["seeds"])) == len(last["seeds"]) >= guard.FATAL
    assert worker.alive


def test_an_undo_back_to_it_kills_no_further_worker(town: Town, worker: Process) -> None:
    person = town.guest()
    game = person.game("junior", level="starter")
    body = person.legal(game)["moves"][-1]
    move(person, game)
    assert comes_to(person, game, 2)
    deaths = worker.log().count("WorkerLostError")
    assert person.http("POST", f"/api/v1/games/{game}/undo", {"ply": 2}).status == 200
    assert person.legal(game)["moves"][-1] == body
    move(person, game)
    assert comes_to(person, game, 2)
    assert worker.log().count("WorkerLostError") == deaths
    assert [each["seeds"] for each in poison(worker)[-2:]] == [poison(worker)[-1]["seeds"]] * 2


def test_a_hint_does_not_loop_either(town: Town, worker: Process) -> None:
    person = town.guest()
    game = person.game("junior", level="starter")
    # Asked again, as a player does who waits: while processes die the first request may expire.
    address = f"/api/v1/games/{game}/hints"
    assert eventually(lambda: person.http("POST", address).status == 200, seconds=SECONDS)
    given = person.http("POST", address).json
    assert given["hints_left"] == 2
    legal = person.legal(game)["moves"]
    assert given["move"] in {each["move"] for each in legal}
    assert len(given["move"].split(",")) == 5
    assert poison(worker)[-1]["kind"] == "hint"
    assert eventually(lambda: nothing_is_left(town))

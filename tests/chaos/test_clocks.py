"""Clocks and claims with real processes: nobody connected, a service that was away, a claim that races a return."""

import threading
import time
from contextlib import suppress
from typing import Any

import pytest

from accounts.presence import Presence
from common.clock import now_ms
from games.territory import leaving
from games.territory.rules import Speed
from tests.support.cluster import Cluster
from tests.support.town import Json, Person, Socket, Town

pytestmark = pytest.mark.slow
PATIENCE = 30.0
DOWN_SECONDS = 5.0


@pytest.fixture
def town(cluster: Cluster) -> Town:
    """One web process, and an outage is one after three seconds."""
    cluster.environ["KADO_OUTAGE_SECONDS"] = "3"
    return Town(cluster, cluster.web())


def matched(one: Person, two: Person, pool: str = "duo-blitz") -> tuple[str, list[Person]]:
    """A game of these two from a pool, and its players by seat."""
    for person in (one, two):
        assert person.http("PUT", f"/api/v1/pools/{pool}/ticket").status in (200, 201)
    found: list[str] = []

    def is_matched() -> bool:
        ticket = one.http("GET", f"/api/v1/pools/{pool}/ticket").json
        found.append(ticket.get("game", ""))
        return bool(ticket["state"] == "matched")

    until(is_matched)
    game = found[-1]
    names = [seat["player"] for seat in snapshot(one, game)["seats"]]
    return game, sorted([one, two], key=lambda person: names.index(person.name))


def snapshot(person: Person, game: str) -> Json:
    answer: Json = person.http("GET", f"/api/v1/games/{game}").json
    return answer


def events(person: Person, game: str, kind: str) -> list[Json]:
    found = person.http("GET", f"/api/v1/games/{game}/events").json["events"]
    return [each["event"] for each in found if each["event"]["type"] == kind]


def move(person: Person, game: str) -> None:
    legal = person.legal(game)
    body = {"ply": legal["ply"], "move": legal["moves"][0]["move"]}
    assert person.http("POST", f"/api/v1/games/{game}/moves", body).status == 200


def until(test: Any, seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not test():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.05)


def test_the_deadline_ends_games_with_nobody_there_and_two_sweepers(
    cluster: Cluster, town: Town
) -> None:
    """Players by REST who go away: one never begins, one thinks until the time is up."""
    pools = "UPDATE matchmaking_pool SET initial_ms = 1500, increment_ms = 0 WHERE key = 'duo-blitz' RETURNING key"
    assert cluster.query(pools)
    sweepers = [cluster.sweeper("--interval-ms", "50", wait=False) for _ in range(2)]
    ada, ben, eve, joe = (town.member(name) for name in ("Ada", "Ben", "Eve", "Joe"))
    begun, (first, second) = matched(ada, ben)
    move(first, begun)
    move(second, begun)
    never, _ = matched(eve, joe)
    ended = (
        "SELECT id, status, termination FROM territory_game WHERE status <> 'started' ORDER BY id"
    )
    until(lambda: len(cluster.query(ended)) == 2)
    outcome = {game: (status, termination) for game, status, termination in cluster.query(ended)}
    assert outcome == {begun: ("finished", "timeout"), never: ("aborted", "aborted")}
    (finished,) = events(first, begun, "game_finished")
    assert [seat["rank"] for seat in finished["outcome"]["seats"]] == [2, 1]
    (finished,) = events(first, never, "game_finished")
    assert finished["outcome"]["by"] == 0
    assert all(sweeper.alive for sweeper in sweepers)


def test_an_outage_gives_every_seat_the_same_time_once(cluster: Cluster, town: Town) -> None:
    """Every web process is killed; two sweepers live on, and the time of the game would have run out meanwhile."""
    pools = "UPDATE matchmaking_pool SET initial_ms = 2500, increment_ms = 0 WHERE key = 'duo-blitz' RETURNING key"
    assert cluster.query(pools)
    for _ in range(2):
        cluster.sweeper("--interval-ms", "50", wait=False)
    one, two = town.member("Ada"), town.member("Ben")
    until(lambda: cluster.query("SELECT at FROM territory_heartbeat"))
    game, (first, second) = matched(one, two)
    move(first, game)
    move(second, game)
    before = snapshot(one, game)["turn"]
    town.web.kill9()
    time.sleep(DOWN_SECONDS)
    assert cluster.query("SELECT status FROM territory_game") == [("started",)]
    town.web.restart()
    until(lambda: events(one, game, "time_given"))
    (given, *_) = events(one, game, "time_given")
    assert given["ms"] >= DOWN_SECONDS * 1000
    gained = [
        after - earlier
        for after, earlier in zip(given["turn"]["clocks_ms"], before["clocks_ms"], strict=True)
    ]
    assert gained[1] == given["ms"]
    assert gained[0] <= given["ms"], "the one to move has used some time before and after"
    until(lambda: snapshot(one, game)["status"] == "finished")
    assert [event["outcome"]["termination"] for event in events(one, game, "game_finished")] == [
        "timeout"
    ]
    # On a machine that hangs there may be others; a game that began after the last heartbeat has its own part.
    given_back = [(each["outage"], each["ms"]) for each in events(one, game, "time_given")]
    outages = cluster.query("SELECT id, ended - began FROM territory_outage ORDER BY id")
    assert [number for number, _ in given_back] == [number for number, _ in outages][
        : len(given_back)
    ]
    assert all(ms <= dict(outages)[number] for number, ms in given_back)


def test_a_claim_races_a_reconnect(cluster: Cluster, town: Town) -> None:
    """At two web processes at once: the game has ended by the claim, or the claim is refused; never both."""
    cluster.environ["KADO_OUTAGE_SECONDS"] = "60"
    pairs = [(town.member(f"Ada{n}"), town.member(f"Ben{n}")) for n in range(3)]
    games = []
    for pair in pairs:
        game, (first, second) = matched(*pair)
        move(first, game)
        move(second, game)
        games.append((game, first, second))
    _make_older(cluster, town, leaving.AWAY_MS[Speed.BLITZ] + 5_000)
    other = Town(cluster, cluster.web())
    ids = dict(cluster.query("SELECT name, id FROM accounts_player"))
    with cluster.redis() as redis:
        store = Presence(redis)
        for _, _, leaver in games:
            player = ids[leaver.name]
            store.enter("gone", [player], now=now_ms() - 60_000)
            store.leave("gone", [player], now=now_ms() - leaving.AWAY_MS[Speed.BLITZ] - 1_000)
    for number, (game, claimer, leaver) in enumerate(games):
        _race(other, game, claimer, leaver, head_start=(0.0, 0.05, 0.3)[number])


def _race(other: Town, game: str, claimer: Person, leaver: Person, head_start: float) -> None:
    ready = threading.Barrier(2)

    def come_back() -> None:
        ready.wait()
        with suppress(TimeoutError), Socket(other, leaver.token) as socket:
            socket.told("subscribe", stream=f"game:{game}")
            over.wait(PATIENCE)

    over = threading.Event()
    thread = threading.Thread(target=come_back)
    thread.start()
    try:
        ready.wait()
        time.sleep(head_start)
        answer = claimer.http("POST", f"/api/v1/games/{game}/claim", {"result": "win"})
        seen = snapshot(claimer, game)
        if answer.status == 200:
            assert (seen["status"], seen["outcome"]["termination"]) == ("finished", "abandoned")
        else:
            assert answer.code == "opponent-present"
            assert seen["status"] == "started"
            shown = claimer.http("GET", f"/api/v1/games/{game}/presence").json["seats"]
            names = [seat["player"] for seat in seen["seats"]]
            assert shown[names.index(leaver.name)]["online"]
        again = claimer.http("POST", f"/api/v1/games/{game}/claim", {"result": "win"})
        assert again.code == ("game-over" if answer.status == 200 else "opponent-present")
    finally:
        over.set()
        thread.join()


def _make_older(cluster: Cluster, town: Town, ms: int) -> None:
    """Everything has happened so much earlier; the web process forgets what it knew."""
    town.web.kill9()
    cluster.query("UPDATE territory_event SET at = at - %s RETURNING version", ms)
    town.web.restart()

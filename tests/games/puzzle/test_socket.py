"""Runs on the socket: commands, the private stream, and going on after a cut by the cursor."""

from collections.abc import Iterator

import pytest

from examples.kado_client import fold_run
from tests.games.puzzle.test_api import RUNS, begin, legal, place, seen
from tests.support.town import Json, Person, Socket, Town


@pytest.fixture
def person(town: Town) -> Person:
    return town.guest()


@pytest.fixture
def socket(town: Town, person: Person) -> Iterator[Socket]:
    with Socket(town, person.token) as own:
        assert own.hear()["type"] == "hello"
        yield own


def test_a_run_on_the_socket(person: Person, socket: Socket) -> None:
    run = begin(person, level="easy", undo="once")
    stream = f"run:{run}"
    assert socket.told("subscribe", stream=stream) == {"version": 1}
    folded: Json = socket.heard[-2]["snapshot"]
    assert folded == seen(person, run)
    wish = legal(person, run)[0]
    first = socket.told("run.place", run=run, **wish)
    assert socket.told("run.place", run=run, **wish) == first
    undone = socket.told("run.undo", run=run, turn=1)
    assert socket.told("run.undo", run=run, turn=1) == undone
    assert place(person, run, wish).json == first, "REST and the socket give the same answer"
    socket.until_seen(3, stream)
    heard = socket.events(stream)
    assert [event["version"] for event in heard] == [2, 3]
    assert [{k: e[k] for k in ("version", "at", "event")} for e in heard] == [first, undone]
    for event in heard:
        folded = fold_run(folded, event["version"], event["event"])
    assert folded == seen(person, run)


def test_a_run_is_its_players_own(town: Town, person: Person, socket: Socket) -> None:
    run = begin(person)
    with Socket(town, town.guest().token) as other:
        assert other.hear()["type"] == "hello"
        assert other.refused("subscribe", stream=f"run:{run}") == "unknown-run"
        assert other.refused("subscribe", stream=f"run:{run}", cursor=0) == "unknown-run"
        assert other.refused("run.place", run=run, **legal(person, run)[0]) == "unknown-run"
        assert other.refused("run.undo", run=run, turn=0) == "unknown-run"
        for name in ("run:NoSuchRun000", "run:", "run:\0", "run:" + "x" * 60):
            assert other.refused("subscribe", stream=name) == "unknown-run"
        assert other.refused("subscribe", stream=f"runs:{run}") == "unknown-stream"
        socket.told("run.place", run=run, **legal(person, run)[0])
        other.told("ping")
        assert not [frame for frame in other.heard if frame["type"] in {"event", "snapshot"}]


def test_going_on_by_the_cursor(town: Town, person: Person, socket: Socket) -> None:
    """Cut, three placements, resume: exactly three events, in order."""
    run = begin(person, level="easy")
    stream = f"run:{run}"
    socket.told("subscribe", stream=stream)
    socket.told("run.place", run=run, **legal(person, run)[0])
    socket.until_seen(2, stream)
    socket.close()
    answers = [place(person, run, legal(person, run)[0]).json for _ in range(3)]
    with Socket(town, person.token) as again:
        assert again.told("subscribe", stream=stream, cursor=2) == {"version": 5}
        heard = again.events(stream)
        assert [{k: e[k] for k in ("version", "at", "event")} for e in heard] == answers
        place(person, run, legal(person, run)[0])
        again.until_seen(6, stream)
        assert [event["version"] for event in again.events(stream)] == [3, 4, 5, 6]
        assert again.told("subscribe", stream=stream, cursor=6) == {"version": 6}
        assert not [frame for frame in again.heard if frame["type"] == "snapshot"]
        assert again.told("subscribe", stream=stream, cursor=99) == {"version": 6}
        (frame,) = [frame for frame in again.heard if frame["type"] == "snapshot"]
        assert frame["snapshot"] == seen(person, run)


def test_the_other_device_sees_the_run_abandoned(person: Person, socket: Socket) -> None:
    run = begin(person)
    stream = f"run:{run}"
    socket.told("subscribe", stream=stream)
    begin(person)
    socket.until_seen(3, stream)
    assert [event["event"]["type"] for event in socket.events(stream)] == [
        *("run_ended", "seed_revealed"),
    ]
    assert socket.refused("run.place", run=run, turn=0, slot=0, at="a1") == "run-over"


def test_refusals_on_the_socket(town: Town, person: Person, socket: Socket) -> None:
    run = begin(person)
    wish = legal(person, run)[0]
    for change, code in (
        ({"slot": 3}, "block-not-in-hand"),
        ({"rotation": 2}, "rotation-not-allowed"),
        ({"at": "j10"}, "outside-board"),
        ({"turn": 5}, "stale-turn"),
        ({"run": "NoSuchRun000"}, "unknown-run"),
        ({"slot": -1}, "bad-frame"),
        ({"at": None}, "bad-frame"),
        ({"turn": 2**31}, "bad-frame"),
        ({"colour": "blue"}, "bad-frame"),
    ):
        assert socket.refused("run.place", **({"run": run} | wish | change)) == code
    assert socket.refused("run.undo", run=run, turn=0) == "undo-off"
    _, token = person.other_token("profile")
    with Socket(town, token) as poor:
        assert poor.refused("run.place", run=run, **wish) == "missing-scope"
        assert poor.refused("run.undo", run=run, turn=0) == "missing-scope"
        assert poor.told("subscribe", stream=f"run:{run}") == {"version": 1}
    assert person.http("GET", f"{RUNS}/{run}").json["version"] == 1


def test_a_banned_player_is_shut_out(town: Town, person: Person, socket: Socket) -> None:
    run = begin(person)
    wish = legal(person, run)[0]
    town.cluster.query(
        "UPDATE accounts_player SET is_active = false WHERE name = %s RETURNING id", person.name
    )
    assert place(person, run, wish).code == "invalid-token"
    assert socket.close_code() == 4401

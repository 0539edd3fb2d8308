"""The socket against a real server: streams and commands."""

import json
import random

import pytest

from tests.games.territory.support import assert_snapshot_follows
from tests.support.town import Json, Person, Socket, Town

pytestmark = pytest.mark.slow


# Streams


def test_a_snapshot_then_events_or_only_events(town: Town, person: Person, socket: Socket) -> None:
    game = person.game()
    stream = f"game:{game}"
    assert socket.told("subscribe", stream=stream) == {"version": 1}
    snapshot = socket.heard[-2]
    assert (snapshot["type"], snapshot["stream"], snapshot["version"]) == ("snapshot", stream, 1)
    for ply in range(4):
        move = person.legal(game)["moves"][0]["move"]
        assert socket.told("move", game=game, ply=ply, move=move) == {"version": ply + 2}
        socket.until_seen(ply + 2, stream)
    events = socket.events(stream)
    assert [event["version"] for event in events] == [2, 3, 4, 5]
    fresh = person.http("GET", f"/api/v1/games/{game}").json
    assert_snapshot_follows(snapshot["snapshot"], [event["event"] for event in events], fresh)

    for cursor in range(6):
        with Socket(town, person.token) as other:
            assert other.told("subscribe", stream=stream, cursor=cursor) == {"version": 5}
            assert [e["version"] for e in other.events(stream)] == list(range(cursor + 1, 6))
            assert not [frame for frame in other.heard if frame["type"] == "snapshot"]
    for cursor in (6, 10**6, 10**30):
        with Socket(town, person.token) as other:
            assert other.told("subscribe", stream=stream, cursor=cursor) == {"version": 5}
            assert [f["version"] for f in other.heard if f["type"] == "snapshot"] == [5]


def test_events_by_http_are_the_same_bytes(town: Town, person: Person) -> None:
    game = person.game(variant="classic-2")
    person.http("POST", f"/api/v1/games/{game}/resign")
    with Socket(town, person.token) as socket:
        socket.hear()
        socket.say(
            json.dumps({"type": "subscribe", "id": "1", "stream": f"game:{game}", "cursor": 0})
        )
        texts = [str(socket.connection.recv(10)) for _ in range(3)]
    prefix = f'{{"type":"event","stream":"game:{game}",'
    assert all(text.startswith(prefix) for text in texts)
    body = person.http("GET", f"/api/v1/games/{game}/events").body.decode()
    assert (
        body == '{"events":[' + ",".join("{" + text.removeprefix(prefix) for text in texts) + "]}"
    )


def test_unsubscribing_and_subscribing_again(person: Person, socket: Socket) -> None:
    game = person.game()
    stream = f"game:{game}"
    socket.told("subscribe", stream=stream)
    socket.told("subscribe", stream=stream)
    assert len([frame for frame in socket.heard if frame["type"] == "snapshot"]) == 2
    move = person.legal(game)["moves"][0]["move"]
    socket.told("move", game=game, ply=0, move=move)
    socket.until_seen(2, stream)
    assert socket.told("unsubscribe", stream=stream) == {}
    assert socket.told("unsubscribe", stream=stream) == {}
    socket.told("move", game=game, ply=1, move=person.legal(game)["moves"][0]["move"])
    socket.told("ping")
    assert [event["version"] for event in socket.events(stream)] == [2]
    assert socket.told("subscribe", stream=stream, cursor=2) == {"version": 3}
    assert [event["version"] for event in socket.events(stream)] == [2, 3]


def test_a_game_for_its_players_only_is_shown_to_nobody_else_for_a_moment(
    town: Town, person: Person
) -> None:
    """Also by a process that has not had the game in hand yet."""
    game = person.game()
    town.cluster.query(
        "UPDATE territory_game SET spectators = false WHERE id = %s RETURNING id", game
    )
    stream = f"game:{game}"
    with Socket(town, town.guest().token) as other:
        for fields in ({}, {"cursor": 0}):
            assert other.refused("subscribe", stream=stream, **fields) == "spectators-refused"
        assert [frame["type"] for frame in other.heard if frame["type"] != "reply"] == ["hello"]
    with Socket(town, person.token) as own:
        assert own.told("subscribe", stream=stream) == {"version": 1}


@pytest.mark.parametrize(
    ("stream", "code"),
    [
        ("nonsense", "unknown-stream"),
        ("pools:duo-blitz", "unknown-stream"),
        ("inbox:1", "unknown-stream"),
        ("game", "unknown-stream"),
        ("game:", "unknown-game"),
        ("game:NoSuchGame00", "unknown-game"),
        ("game:a\x00b", "unknown-game"),
        ('game:"\\', "unknown-game"),
        ("game:☃", "unknown-game"),
        ("GAME:NoSuchGame00", "unknown-stream"),
    ],
)
def test_unknown_streams(socket: Socket, stream: str, code: str) -> None:
    for fields in ({}, {"cursor": 0}, {"cursor": 5}):
        assert socket.refused("subscribe", stream=stream, **fields) == code
    assert socket.told("unsubscribe", stream=stream) == {}


def test_a_socket_follows_so_many_streams_and_no_more(person: Person, socket: Socket) -> None:
    game = person.game()
    assert socket.told("subscribe", stream=f"game:{game}")
    for _ in range(62):
        assert socket.told("subscribe", stream=f"game:{person.game()}")
    assert socket.refused("subscribe", stream=f"game:{person.game()}") == "too-many-subscriptions"
    assert socket.told("subscribe", stream=f"game:{game}"), "one that it follows already"
    assert socket.told("unsubscribe", stream=f"game:{game}") == {}
    assert socket.told("subscribe", stream=f"game:{person.game()}")


def test_the_inbox_comes_to_all_sockets_of_a_player(town: Town, person: Person) -> None:
    with Socket(town, person.token) as one, Socket(town, person.token) as two:
        one.hear()
        two.hear()
        game = person.game()
        person.http("POST", f"/api/v1/games/{game}/resign")
        _settle(town, game)
        for socket in (one, two):
            event = socket.event(1, "inbox")
            assert event["event"]["type"] == "game_ended"
            assert event["event"]["game"] == game
        assert one.told("subscribe", stream="inbox", cursor=0) == {"version": 1}
        assert len(one.events("inbox")) == 2
    with Socket(town, person.token) as later:
        assert later.hear()["inbox"] == 1
        assert later.told("subscribe", stream="inbox", cursor=0) == {"version": 1}
        assert later.events("inbox") == two.events("inbox")


def _given(town: Town, person: Person, count: int) -> None:
    """So many items in the inbox of somebody who has none yet."""
    town.cluster.query(
        "WITH owner AS (SELECT id FROM accounts_player WHERE name = %s), head AS ("
        " INSERT INTO accounts_inboxhead (player_id, version) SELECT id, %s FROM owner)"
        " INSERT INTO accounts_inboxitem (player_id, version, at, payload)"
        """ SELECT id, number, 1700000000000 + number, '{"type":"greeting"}'"""
        " FROM owner, generate_series(1, %s) AS number RETURNING version",
        person.name,
        count,
        count,
    )


def test_what_is_read_on_one_device_is_read_on_all(town: Town, person: Person) -> None:
    _given(town, person, 3)
    with Socket(town, person.token) as one, Socket(town, person.token) as two:
        assert one.hear()["inbox_unread"] == 3
        assert two.told("subscribe", stream="inbox-read") == {}
        assert [f["state"] for f in two.heard if f["type"] == "state"] == [{"read": 0}]
        read = {"version": 3, "read": 2, "unread": 1}
        assert one.told("inbox.read", up_to=2) == read
        assert two.until(lambda f: f["type"] == "state")["state"] == {"read": 2}
        assert two.told("inbox.read", up_to=1) == read
        three = {"version": 3, "read": 3, "unread": 0}
        assert person.http("PUT", "/api/v1/me/inbox/read", {"up_to": 3}).json == three
        assert two.until(lambda f: f["type"] == "state")["state"] == {"read": 3}
        assert two.refused("subscribe", stream="inbox-read:7") == "unknown-stream"
    with Socket(town, person.token) as later:
        hello = later.hear()
        assert (hello["inbox"], hello["inbox_read"], hello["inbox_unread"]) == (3, 3, 0)


def test_items_that_have_gone_by_age_are_no_loss(town: Town, person: Person) -> None:
    _given(town, person, 6)
    town.cluster.query(
        "WITH owner AS (SELECT id FROM accounts_player WHERE name = %s), gone AS ("
        " DELETE FROM accounts_inboxitem WHERE player_id IN (SELECT id FROM owner) AND version <= 4)"
        " UPDATE accounts_inboxhead SET dropped = 4 WHERE player_id IN (SELECT id FROM owner)"
        " RETURNING dropped",
        person.name,
    )
    for cursor, versions in ((0, [5, 6]), (2, [5, 6]), (4, [5, 6]), (5, [6]), (6, []), (9, [])):
        with Socket(town, person.token) as socket:
            assert socket.hear()["inbox_dropped"] == 4
            assert socket.told("subscribe", stream="inbox", cursor=cursor) == {"version": 6}
            assert [event["version"] for event in socket.events("inbox")] == versions
            answer = person.http("GET", f"/api/v1/me/inbox?after={cursor}").json
            assert answer["dropped"] == 4
            assert [event["version"] for event in answer["events"]] == versions


def _settle(town: Town, game: str) -> None:
    """What a worker or, some seconds later, the sweeper does."""
    code = f"from games.territory.services.settle import settle; settle(game_id={game!r}, now=1_800_000_000_000)"
    town.cluster.manage("shell", "--no-imports", "-c", code)


# Commands


def test_a_game_by_socket_alone(town: Town, person: Person, socket: Socket) -> None:
    game = person.game()
    socket.told("subscribe", stream=f"game:{game}")
    chance = random.Random(4)
    for ply in range(8):
        move = chance.choice(person.legal(game)["moves"])["move"]
        assert socket.told("move", game=game, ply=ply, move=move) == {"version": ply + 2}
        assert socket.told("move", game=game, ply=ply, move=move) == {"version": ply + 2}
    assert socket.told("resign", game=game)["version"] == 10
    assert socket.refused("resign", game=game) == "game-over"
    assert socket.refused("move", game=game, ply=8, move="a1") == "game-over"
    socket.until_seen(11, f"game:{game}")


def test_a_move_is_taken_back_by_socket(town: Town, person: Person, socket: Socket) -> None:
    game = person.game()
    socket.told("subscribe", stream=f"game:{game}")
    move = person.legal(game)["moves"][5]["move"]
    socket.told("move", game=game, ply=0, move=move)
    for _ in range(2):
        assert socket.told("undo", game=game, ply=1) == {"version": 3}
    socket.until_seen(3, f"game:{game}")
    assert socket.events(f"game:{game}")[-1]["event"]["type"] == "moves_undone"
    before = person.http("GET", f"/api/v1/games/{game}").body
    with Socket(town, town.guest().token) as stranger:
        stranger.hear()
        assert stranger.refused("undo", game=game, ply=0) == "not-seated"
        assert stranger.refused("hint", game=game) == "not-seated"
    assert socket.refused("undo", game=game, ply=0) == "nothing-to-undo"
    assert socket.refused("undo", game=game, ply=7) == "stale-ply"
    assert socket.refused("hint", game=game) == "hint-not-allowed"
    for strange in ("NoSuchGame00", "a\x00b", "☃", "../x", "x"):
        assert socket.refused("undo", game=strange, ply=0) == "unknown-game"
        assert socket.refused("hint", game=strange) == "unknown-game"
    assert person.http("GET", f"/api/v1/games/{game}").body == before


def test_refused_moves_change_nothing(town: Town, person: Person, socket: Socket) -> None:
    game = person.game()
    move = person.legal(game)["moves"][0]["move"]
    other = person.legal(game)["moves"][1]["move"]
    socket.told("move", game=game, ply=0, move=move)
    before = person.http("GET", f"/api/v1/games/{game}").body
    with Socket(town, town.guest().token) as stranger:
        stranger.hear()
        assert stranger.refused("move", game=game, ply=1, move=move) == "not-seated"
        assert stranger.refused("resign", game=game) == "not-seated"
        assert stranger.told("subscribe", stream=f"game:{game}"), "but may look on"
    for fields, code in [
        ({"ply": 0, "move": other}, "stale-ply"),
        ({"ply": 2, "move": other}, "stale-ply"),
        ({"ply": 10_000, "move": other}, "stale-ply"),
        ({"ply": 1, "move": "a1"}, "illegal-move"),
        ({"ply": 1, "move": move}, "illegal-move"),
        ({"ply": 1, "move": ""}, "malformed-move"),
        ({"ply": 1, "move": "☃"}, "malformed-move"),
        ({"ply": 1, "move": "a1," * 2_000}, "malformed-move"),
        ({"ply": 1, "move": "\x00"}, "malformed-move"),
    ]:
        reply = socket.ask("move", game=game, **fields)
        assert (reply["problem"]["code"], reply["problem"]["version"]) == (code, 2), fields
    for strange in ("NoSuchGame00", "a\x00b", "☃", "../x", "x"):
        assert socket.refused("move", game=strange, ply=0, move=move) == "unknown-game"
        assert socket.refused("resign", game=strange) == "unknown-game"
    assert person.http("GET", f"/api/v1/games/{game}").body == before


def test_a_scope_that_is_missing(town: Town, person: Person) -> None:
    game = person.game()
    _, secret = person.other_token("profile")
    with Socket(town, secret) as socket:
        socket.hear()
        commands: list[tuple[str, Json]] = [
            ("move", {"game": game, "ply": 0, "move": "a1"}),
            ("resign", {"game": game}),
            ("undo", {"game": game, "ply": 0}),
            ("hint", {"game": game}),
            ("ticket.join", {"pool": "duo-blitz"}),
            ("ticket.leave", {}),
        ]
        for type_, fields in commands:
            problem = socket.ask(type_, **fields)["problem"]
            assert (problem["code"], problem["scope"], problem["status"]) == (
                "missing-scope",
                "play",
                403,
            )
        assert socket.told("subscribe", stream=f"game:{game}") == {"version": 1}


def test_two_are_matched_and_play(town: Town) -> None:
    one, two = town.member("Ada"), town.member("Bob")
    with Socket(town, one.token) as first, Socket(town, two.token) as second:
        assert first.told("ticket.join", pool="duo-blitz")["state"] == "waiting"
        second.told("ticket.join", pool="duo-blitz")
        for socket in (first, second):
            socket.until_seen(1, "inbox")
        found = [socket.events("inbox")[0]["event"] for socket in (first, second)]
        assert [event["type"] for event in found] == ["match_found"] * 2
        (game,) = {event["game"] for event in found}
        for socket in (first, second):
            socket.told("subscribe", stream=f"game:{game}")
        snapshot = next(f for f in first.heard if f["type"] == "snapshot")["snapshot"]
        seats = {seat["player"]: seat["seat"] for seat in snapshot["seats"]}
        mover, waiter = (first, second) if seats[one.name] == 0 else (second, first)
        move = one.legal(game)["moves"][0]["move"]
        assert waiter.refused("move", game=game, ply=0, move=move) == "not-your-turn"
        assert mover.told("move", game=game, ply=0, move=move) == {"version": 2}
        for socket in (first, second):
            socket.until_seen(2, f"game:{game}")
        assert waiter.told("resign", game=game) == {"version": 3}
        for socket in (first, second):
            socket.until_seen(4, f"game:{game}")

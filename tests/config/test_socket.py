"""The socket against a real server: every way in, every refusal, every way out."""

import json
import random
import socket as sockets
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any, Self

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tests.games.territory.support import assert_snapshot_follows
from tests.support.cluster import Cluster
from tests.support.town import Json, Person, Socket, Town

pytestmark = pytest.mark.slow
CLOSE_CODES = {4400, 4401, 4403, 4408, 4409, 4413, 4429, 4503}


@pytest.fixture(scope="module")
def town() -> Iterator[Town]:
    """One web process for all tests here; nothing that they do may be worth an error in its log."""
    with Cluster() as cluster:
        own = Town(cluster, cluster.web())
        yield own
        assert own.complaints() == []


@pytest.fixture
def person(town: Town) -> Person:
    return town.guest()


@pytest.fixture
def socket(town: Town, person: Person) -> Iterator[Socket]:
    with Socket(town, person.token) as own:
        assert own.hear()["type"] == "hello"
        yield own


# Coming in


def test_hello_with_a_token_in_the_header(town: Town, person: Person) -> None:
    with Socket(town, person.token) as socket:
        hello = socket.hear()
        assert hello["type"] == "hello"
        assert hello["protocol"] == 1
        assert hello["player"] == person.name
        assert set(hello["scopes"]) == {"play", "profile", "puzzle"}
        assert hello["inbox"] == 0
        now = datetime.now(UTC)
        assert abs(datetime.fromisoformat(hello["server_time"]) - now) < timedelta(seconds=5)


def test_auth_by_the_first_frame(town: Town, person: Person) -> None:
    with Socket(town) as socket:
        assert socket.hear()["player"] is None
        assert socket.refused("ping") == "not-authenticated"
        assert socket.refused("subscribe", stream="inbox") == "not-authenticated"
        assert socket.told("auth", token=person.token)["player"] == person.name
        assert socket.told("ping").keys() == {"server_time"}


@pytest.mark.parametrize("token", ["", "kado_", "nonsense", "kado_" + "x" * 40, "\u2603", "a b"])
def test_a_wrong_token_closes(town: Town, token: str) -> None:
    with Socket(town) as socket:
        socket.hear()
        socket.say(json.dumps({"type": "auth", "id": "1", "token": token}))
        assert socket.close_code() == 4401
    if token.isascii() and token:
        with Socket(town, token) as socket:
            assert socket.close_code() == 4401


def test_nobody_may_stay_without_signing_in(town: Town) -> None:
    began = time.monotonic()
    with Socket(town) as socket:
        assert socket.close_code(20) == 4401
    assert 8 < time.monotonic() - began < 14


def test_a_socket_stays_with_its_player(town: Town, socket: Socket, person: Person) -> None:
    stranger = town.guest()
    assert socket.refused("auth", token=stranger.token) == "forbidden"
    assert socket.refused("auth", token="kado_" + "x" * 40) == "invalid-token"
    assert socket.told("ping")
    _, renewed = person.other_token("play")
    assert socket.told("auth", token=renewed)["scopes"] == ["play"]
    assert socket.told("ping")


@pytest.mark.parametrize("path", ["/", "/ws", "/ws/v2", "/ws/v1/", "/api/v1/games"])
def test_other_addresses_are_refused(town: Town, path: str) -> None:
    with pytest.raises(InvalidStatus) as refused, connect(f"ws://127.0.0.1:{town.web.port}{path}"):
        pass
    assert refused.value.response.status_code == 403


# Frames


@pytest.mark.parametrize(
    "frame",
    [
        "",
        " ",
        "null",
        "[]",
        "{}",
        "{",
        '"move"',
        "\x00",
        "{'id':1}",
        '{"type":"ping"}',
        '{"type":"ping","id":7}',
        '{"type":"ping","id":""}',
        '{"type":"ping","id":null}',
        '{"id":"' + "x" * 65 + '","type":"ping"}',
        '{"type":"ping","id":"\\ud800"}',
        "[" * 4000,
        '{"x":' + "[" * 4000,
    ],
)
def test_a_frame_without_an_id_closes(town: Town, person: Person, frame: str) -> None:
    with Socket(town, person.token) as socket:
        socket.hear()
        socket.say(frame)
        assert socket.close_code() in (4400, 4413)


def test_brackets_in_brackets_get_an_answer(town: Town, person: Person) -> None:
    """How deep is too deep differs between versions of Python: then the id cannot be read, and the socket closes."""
    with Socket(town, person.token) as socket:
        socket.hear()
        socket.say('{"x":' + "[" * 4000 + "]" * 4000 + ',"id":"1"}')
        try:
            assert socket.hear()["problem"]["code"] == "bad-frame"
        except ConnectionClosed as closed:
            assert closed.rcvd is not None
            assert closed.rcvd.code == 4400


@pytest.mark.parametrize(
    "frame",
    [
        {},
        {"type": "nonsense"},
        {"type": 7},
        {"type": "hello"},
        {"type": "ping", "more": 1},
        {"type": "move"},
        {"type": "move", "game": "x", "ply": "1", "move": "a1"},
        {"type": "move", "game": "x", "ply": -1, "move": "a1"},
        {"type": "move", "game": "x", "ply": 1.5, "move": "a1"},
        {"type": "move", "game": "x", "ply": 10**40, "move": "a1"},
        {"type": "move", "game": "", "ply": 0, "move": "a1"},
        {"type": "move", "game": "x" * 65, "ply": 0, "move": "a1"},
        {"type": "move", "game": ["x"], "ply": 0, "move": "a1"},
        {"type": "move", "game": "x", "ply": 0, "move": None},
        {"type": "subscribe", "stream": "inbox", "cursor": -1},
        {"type": "subscribe", "stream": "inbox", "cursor": True},
        {"type": "subscribe"},
        {"type": "auth"},
        {"type": "auth", "token": "x" * 300},
    ],
)
def test_a_bad_frame_with_an_id_is_answered(socket: Socket, frame: Json) -> None:
    socket.say(json.dumps({**frame, "id": "bad"}))
    reply = socket.hear()
    assert (reply["type"], reply["id"], reply["problem"]["code"]) == ("reply", "bad", "bad-frame")
    assert socket.told("ping"), "the socket lives on"


def test_a_binary_frame_closes(socket: Socket) -> None:
    socket.say(b'{"type":"ping","id":"1"}')
    assert socket.close_code() == 4400


@pytest.mark.parametrize("size", [8 * 1024 + 1, 20_000])
def test_a_large_frame_closes(socket: Socket, size: int) -> None:
    frame = json.dumps({"type": "ping", "id": "1", "x": ""})
    socket.say(frame.replace('""', '"' + "x" * (size - len(frame)) + '"'))
    assert socket.close_code() == 4413


def test_a_large_frame_of_few_characters_closes(socket: Socket) -> None:
    """The limit is in bytes, as they travel."""
    socket.say(json.dumps({"type": "ping", "id": "1", "x": "é" * 6_000}, ensure_ascii=False))
    assert socket.close_code() == 4413


def test_a_huge_frame_closes(socket: Socket) -> None:
    socket.say("x" * 200_000)
    assert socket.close_code() in (4413, 1009)


def test_too_fast_closes(socket: Socket) -> None:
    for number in range(400):
        try:
            socket.say(json.dumps({"type": "ping", "id": str(number)}))
        except ConnectionClosed:
            break
    assert socket.close_code() == 4429
    replies = [frame["id"] for frame in socket.heard if frame["type"] == "reply"]
    assert replies == [str(number) for number in range(len(replies))]
    assert len(replies) >= 200


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


@pytest.mark.parametrize(
    ("stream", "code"),
    [
        ("nonsense", "unknown-stream"),
        ("pool:duo-blitz", "unknown-stream"),
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


# Going out


def test_a_revoked_token_closes_its_sockets_at_once(town: Town, person: Person) -> None:
    token_id, secret = person.other_token("play")
    with Socket(town, secret) as revoked, Socket(town, person.token) as kept:
        revoked.hear()
        kept.hear()
        began = time.monotonic()
        assert person.http("DELETE", f"/api/v1/me/tokens/{token_id}").status == 204
        assert revoked.close_code() == 4401
        assert time.monotonic() - began < 2, "the control message, not the warden"
        assert kept.told("ping")


def test_and_within_ten_seconds_when_the_message_is_lost(town: Town, person: Person) -> None:
    token_id, secret = person.other_token("play")
    expires = datetime.now(UTC) + timedelta(seconds=2)
    _, mortal = person.other_token("play", expires_at=expires.isoformat())
    with Socket(town, secret) as revoked, Socket(town, mortal) as expired:
        revoked.hear()
        expired.hear()
        statement = "UPDATE accounts_accesstoken SET revoked_at = now() WHERE id = %s RETURNING id"
        assert town.cluster.query(statement, int(token_id))
        assert revoked.close_code(10) == 4401
        assert expired.close_code(10) == 4401


def test_a_client_that_does_not_read(town: Town, person: Person) -> None:
    """It is closed with a code when its buffer is full, and nobody else notices anything."""
    game = person.game("classic", 4)
    with Socket(town, person.token) as good, _Stalled(town, person.token) as stalled:
        good.told("subscribe", stream=f"game:{game}")
        ply = 0
        while moves := person.legal(game)["moves"]:
            good.told("move", game=game, ply=ply, move=moves[0]["move"])
            ply += 1
        assert ply > 40
        events = len(good.events(f"game:{game}"))
        for number in range(25):
            # All of the game, again and again: megabytes in all, at the pace that is allowed.
            stalled.send([{"type": "subscribe", "stream": f"game:{game}", "cursor": 0}] * 12)
            assert good.told("ping")
            if number > 12:
                time.sleep(0.25)
        other = person.game()
        assert good.told("subscribe", stream=f"game:{other}")
        assert good.told("move", game=other, ply=0, move=person.legal(other)["moves"][0]["move"])
        good.until_seen(2, f"game:{other}")
        code, heard = stalled.read_at_last()
        assert code == 4409
        assert heard < 300 * events, "it got everything, so this test proves nothing"


def test_a_client_that_never_reads_is_cut_off(town: Town, person: Person) -> None:
    """Its connection ends some seconds later, though the close frame cannot be delivered."""
    game = person.game("classic", 4)
    with Socket(town, person.token) as good, _Stalled(town, person.token) as stalled:
        good.told("subscribe", stream=f"game:{game}")
        ply = 0
        while moves := person.legal(game)["moves"]:
            good.told("move", game=game, ply=ply, move=moves[0]["move"])
            ply += 1
        with pytest.raises(ConnectionError):
            stalled.keep_asking(game, seconds=30)


class _Stalled:
    """A client that asks and does not read: a plain TCP socket with a small receive buffer."""

    def __init__(self, town: Town, token: str) -> None:
        self._tcp = sockets.socket()
        self._tcp.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
        self._tcp.settimeout(10)
        self._tcp.connect(("127.0.0.1", town.web.port))
        head = (
            "GET /ws/v1 HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
            f"Authorization: Bearer {token}\r\n\r\n"
        )
        self._tcp.sendall(head.encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self._tcp.close()

    def send(self, commands: list[Json]) -> None:
        for number, command in enumerate(commands):
            frame = json.dumps({**command, "id": str(number)}).encode()
            self._tcp.sendall(struct.pack("!BB", 0x81, 0x80 | len(frame)) + b"\0\0\0\0" + frame)

    def keep_asking(self, game: str, *, seconds: int) -> None:
        for _ in range(seconds * 4):
            self.send([{"type": "subscribe", "stream": f"game:{game}", "cursor": 0}] * 12)
            time.sleep(0.25)

    def read_at_last(self) -> tuple[int, int]:
        """The code of the close frame, and how many events came before it."""
        data = bytearray()
        while chunk := self._tcp.recv(262_144):
            data += chunk
            if data[-4:-2] == b"\x88\x02":
                break
        at = data.rfind(b"\x88\x02")
        assert at >= 0, bytes(data[-100:])
        (code,) = struct.unpack("!H", data[at + 2 : at + 4])
        return code, data.count(b'{"type":"event"')


def test_stopping_tells_everybody_to_come_back(town: Town, person: Person) -> None:
    web = town.cluster.web()
    elsewhere = Town(town.cluster, web)
    with ExitStack() as stack:
        clients = [stack.enter_context(Socket(elsewhere, person.token)) for _ in range(20)]
        clients.append(stack.enter_context(Socket(elsewhere)))
        for client in clients:
            client.hear()
        stopping = threading.Thread(target=web.stop)
        stopping.start()
        assert [client.close_code() for client in clients] == [4503] * 21
        stopping.join()
    assert not web.alive
    assert elsewhere.complaints() == []


def test_many_come_and_go_and_nothing_stays(town: Town, person: Person) -> None:
    game = person.game()
    for number in range(60):
        with Socket(town, person.token) as socket:
            if number % 3:
                socket.told("subscribe", stream=f"game:{game}")
            if number % 4 == 0:
                socket.connection.socket.close()  # no word of farewell
    redis = town.cluster.redis()
    try:
        deadline = time.monotonic() + 10
        channels = [f"kado:game:{game}".encode()]
        while time.monotonic() < deadline:
            if all(count == 0 for _, count in redis.pubsub_numsub(*channels)):
                break
            time.sleep(0.05)
        assert redis.pubsub_numsub(*channels) == [(channels[0], 0)]
    finally:
        redis.close()


# Anything at all


WORDS: list[Any] = [
    *(
        "auth",
        "subscribe",
        "unsubscribe",
        "move",
        "resign",
        "ticket.join",
        "ticket.leave",
        "ping",
        "nope",
    ),
    *("inbox", "game:NoSuchGame00", "game:", "NoSuchGame00", "duo-blitz", "a1,a2", "e10", ""),
    *(
        0,
        1,
        -1,
        2**31,
        2**63,
        10**25,
        1.5,
        True,
        False,
        None,
        "\x00",
        "☃",
        "é" * 40,
        [],
        {},
        [[1]],
        {"a": {}},
    ),
]
KEYS = ["type", "id", "stream", "cursor", "game", "ply", "move", "pool", "token", "x"]


@pytest.mark.parametrize("seed", range(6))
def test_garbage_is_answered_or_closed_with_a_code(town: Town, person: Person, seed: int) -> None:
    """Never silence, never a dead socket without a code, and nothing that the log would have to tell."""
    chance = random.Random(seed)
    socket: Socket | None = None
    for number in range(150):
        if socket is None:
            socket = Socket(town, person.token)
            socket.hear()
        fields = {key: chance.choice(WORDS) for key in chance.sample(KEYS, chance.randrange(7))}
        frame_id = None
        if chance.random() < 0.8:
            fields["type"] = chance.choice(WORDS[:9])
        if chance.random() < 0.8:
            frame_id = fields["id"] = f"f{number}"
        text = json.dumps(fields, ensure_ascii=chance.random() < 0.5)
        if chance.random() < 0.15:
            at = chance.randrange(len(text) + 1)
            text, frame_id = (
                text[:at] + chance.choice(["", "}", '"', "\\", "\x00", "["]) + text[at + 1 :],
                None,
            )
        time.sleep(0.002)
        socket.say(text)
        try:
            frame = socket.until(lambda f: f["type"] == "reply", 10)
            assert frame_id is None or frame["id"] == frame_id
            assert ("result" in frame) != ("problem" in frame)
            if "problem" in frame:
                assert frame["problem"]["code"] != "internal", text
        except ConnectionClosed as closed:
            assert frame_id is None or fields.get("type") == "auth", text
            assert closed.rcvd is not None, text
            assert closed.rcvd.code in CLOSE_CODES, text
            socket.close()
            socket = None
    if socket is not None:
        socket.close()

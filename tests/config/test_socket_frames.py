"""The socket against a real server: every way in, and every frame that is refused."""

import json
import random
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tests.support.town import Json, Person, Socket, Town

pytestmark = pytest.mark.slow
CLOSE_CODES = {4400, 4401, 4403, 4408, 4409, 4413, 4429, 4503}


# Coming in


def test_hello_with_a_token_in_the_header(town: Town, person: Person) -> None:
    with Socket(town, person.token) as socket:
        hello = socket.hear()
        assert hello["type"] == "hello"
        assert hello["protocol"] == 1
        assert hello["player"] == person.name
        assert set(hello["scopes"]) == {"play", "profile", "puzzle"}
        assert [hello[f"inbox{mark}"] for mark in ("", "_read", "_unread", "_dropped")] == [0] * 4
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
        {"type": "undo"},
        {"type": "undo", "game": "x"},
        {"type": "undo", "game": "x", "ply": "1"},
        {"type": "undo", "game": "x", "ply": -1},
        {"type": "undo", "game": "x", "ply": None},
        {"type": "undo", "game": "x", "ply": 10_001},
        {"type": "undo", "game": "x", "ply": 1, "seat": 0},
        {"type": "hint"},
        {"type": "hint", "game": "x", "ply": -1},
        {"type": "hint", "game": "x", "ply": "0"},
        {"type": "hint", "game": "x" * 65},
        {"type": "hint", "game": "x", "level": "starter"},
        {"type": "subscribe", "stream": "inbox", "cursor": -1},
        {"type": "subscribe", "stream": "inbox", "cursor": True},
        {"type": "subscribe"},
        {"type": "inbox.read"},
        {"type": "inbox.read", "up_to": -1},
        {"type": "inbox.read", "up_to": 2**63},
        {"type": "inbox.read", "up_to": "1"},
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


# Anything at all


WORDS: list[Any] = [
    *(
        "auth",
        "subscribe",
        "unsubscribe",
        "move",
        "undo",
        "hint",
        "resign",
        "ticket.join",
        "ticket.leave",
        "inbox.read",
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
KEYS = ["type", "id", "stream", "cursor", "game", "ply", "move", "pool", "token", "up_to", "x"]


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
            fields["type"] = chance.choice(WORDS[:11])
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

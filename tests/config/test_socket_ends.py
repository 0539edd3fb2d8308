"""The socket against a real server: every way out."""

import json
import socket as sockets
import struct
import threading
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Self

import pytest

from tests.support.town import Json, Person, Socket, Town

pytestmark = pytest.mark.slow


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

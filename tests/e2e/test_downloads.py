"""Long downloads from a real web process that has four database connections: slow readers hold none of them."""

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from games.territory import rules
from tests.support.cluster import Cluster
from tests.support.proc import eventually
from tests.support.town import Person, Town

pytestmark = pytest.mark.slow
COPIES = 4_000

COPY = f"""
CREATE TEMP TABLE copies AS SELECT 'copy' || lpad(n::text, 8, '0') AS id, n FROM generate_series(1, {COPIES}) n;
INSERT INTO territory_game SELECT (jsonb_populate_record(g, jsonb_build_object('id', c.id,
    'created_at', g.created_at + c.n * interval '1 second'))).* FROM territory_game g, copies c;
INSERT INTO territory_event (game_id, version, at, payload)
    SELECT c.id, e.version, e.at, e.payload FROM territory_event e, copies c WHERE e.game_id NOT LIKE 'copy%%';
INSERT INTO territory_seat (game_id, index, player_id, level, points, rank)
    SELECT c.id, s.index, s.player_id, s.level, s.points, s.rank FROM territory_seat s, copies c;
INSERT INTO territory_playergame
    (player_id, game_id, variant, key, rated, started_at, levels, result, points, perfect, ended_at)
    SELECT p.player_id, c.id, p.variant, p.key, p.rated, p.started_at + c.n * interval '1 second',
        p.levels, p.result, p.points, p.perfect, p.ended_at
    FROM territory_playergame p, copies c
"""  # the statements read the one game that was played


@pytest.fixture(scope="module")
def town() -> Iterator[Town]:
    with Cluster() as cluster:
        cluster.environ |= {"KADO_DB_POOL": "4", "KADO_DB_THREADS": "1"}
        town = Town(cluster, cluster.web())
        person = town.member("Ada")
        game = person.game()
        legal = person.legal(game)["moves"][0]["move"]
        person.http("POST", f"/api/v1/games/{game}/moves", {"ply": 0, "move": legal})
        person.http("POST", f"/api/v1/games/{game}/resign")
        cluster.manage("sweeper", "--once")
        assert eventually(
            lambda: cluster.manage("sweeper", "--once") and _settled(cluster), seconds=30
        )
        cluster.execute(COPY)
        yield town
        assert town.complaints() == []


def _settled(cluster: Cluster) -> bool:
    return cluster.query("SELECT result FROM territory_playergame") == [("several",)]


class _Stalled:
    """A client that asks for a download and does not read it."""

    def __init__(self, person: Person, address: str) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._socket.connect(("127.0.0.1", person.town.web.port))
        head = f"GET {address} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {person.token}\r\n\r\n"
        self._socket.sendall(head.encode())
        self._socket.recv(100)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *details: object) -> None:
        self._socket.close()


def test_readers_that_stop_hold_no_connection_and_one_that_leaves_frees_its_turn(
    town: Town,
) -> None:
    address = "/api/v1/players/Ada/games/export"
    readers = [town.guest() for _ in range(6)]
    with ExitStack() as stack, town.cluster.redis() as redis:
        for reader in readers:
            stack.enter_context(_Stalled(reader, address))
        for _ in range(10):
            assert readers[0].http("GET", "/api/v1/me").status == 200
        assert len(redis.keys("kado:download:*")) == 6, "all of them are still at it"
        refused = readers[0].http("GET", f"{address}.blksgf")
        assert refused.code == "too-fast"
        assert 0 < int(refused.headers["Retry-After"]) <= 60
        stack.close()
        assert eventually(lambda: not redis.keys("kado:download:*"), seconds=30)


def test_the_whole_of_it_arrives(town: Town) -> None:
    reader = town.guest()
    answer = reader.http("GET", "/api/v1/players/ada/games/export?until=2126-01-01T00:00:00Z")
    assert answer.headers["Content-Type"] == "application/x-ndjson; charset=utf-8"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="Ada.ndjson"'
    lines = answer.body.splitlines()
    assert len(lines) == COPIES + 1
    assert {json.loads(line)["variant"] for line in lines} == {"duo"}
    sgf = reader.http("GET", "/api/v1/players/Ada/games/export.blksgf?until=2126-01-01T00:00:00Z")
    assert sgf.headers["Content-Type"] == "application/x-blokus-sgf; charset=utf-8"
    assert sgf.body.count(b"(;GM[Blokus Duo]") == COPIES + 1
    first = next(rules.read_sgf_collection(sgf.body))
    assert first.players == rules.read_json(lines[0]).players == ("Ada", "Ada")
    assert reader.http("GET", "/api/v1/players/Ada/games/export?variant=junior").body == b""
    assert reader.http("GET", "/api/v1/players/Nobody/games/export").code == "unknown-player"

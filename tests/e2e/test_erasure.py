"""Somebody is erased while two web processes know their game: sockets, tokens, and the name that everybody sees."""

import socket
from collections.abc import Iterator
from functools import partial

import pytest

from tests.support.cluster import Cluster
from tests.support.proc import eventually
from tests.support.town import Person, Socket, Town

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def towns() -> Iterator[list[Town]]:
    with Cluster() as cluster:
        webs = [cluster.web(wait=False), cluster.web(wait=False)]
        worker = cluster.worker("default", wait=False)
        for process in (*webs, worker):
            process.wait_until_ready()
        both = [Town(cluster, web) for web in webs]
        yield both
        assert [town.complaints() for town in both] == [[], []]


def _names_nobody(reader: Person, address: str) -> bool:
    return b"Ada" not in reader.http("GET", address).body


def test_who_erases_themselves_is_gone_from_every_process(towns: list[Town]) -> None:
    here, there = towns
    ada, ben = here.member("Ada"), there.member("Ben")
    for person in (ada, ben):
        assert person.http("PUT", "/api/v1/pools/duo-blitz/ticket").status == 200
    assert eventually(lambda: ben.http("GET", "/api/v1/me/inbox").json["events"])
    game = ben.http("GET", "/api/v1/me/inbox").json["events"][0]["event"]["game"]
    own, theirs = Socket(here, ada.token), Socket(there, ben.token)
    for player in (own, theirs):
        player.told("subscribe", stream=f"game:{game}")
    assert b'"Ada"' in ben.http("GET", f"/api/v1/games/{game}").body

    assert ada.http("DELETE", "/api/v1/me", {"name": "Ben"}).code == "invalid"
    assert ada.http("DELETE", "/api/v1/me", {}).code == "invalid"
    assert ada.http("GET", "/api/v1/me").status == 200
    gone = ada.http("DELETE", "/api/v1/me", {"name": "Ada"})

    assert gone.status == 202
    name = gone.json["name"]
    assert name.startswith("Erased-")
    assert own.close_code() == 4401
    assert ada.http("GET", "/api/v1/me").code == "invalid-token"
    assert here.http("GET", "/api/v1/players/Ada").code == "unknown-player"
    theirs.until(lambda f: f["type"] == "event" and f["event"]["type"] == "game_rated", 60)
    read_again = [
        *(f"/api/v1/games/{game}", f"/api/v1/games/{game}/events", f"/api/v1/games/{game}/record"),
        *(f"/api/v1/games/{game}/record.blksgf", "/api/v1/me/inbox"),
    ]
    for town in towns:
        ben.town = town
        for address in read_again:
            assert eventually(partial(_names_nobody, ben, address), seconds=60)
        assert name.encode() in ben.http("GET", f"/api/v1/games/{game}").body
        with Socket(town, ben.token) as again:
            again.told("subscribe", stream=f"game:{game}")
            snapshots = [frame for frame in again.heard if frame["type"] == "snapshot"]
            assert name in str(snapshots)
            assert "Ada" not in str(again.heard)
    theirs.close()


def test_everybody_has_their_data_one_download_at_a_time(towns: list[Town]) -> None:
    here, there = towns
    cy = here.member("Cy")
    answer = cy.http("GET", "/api/v1/me/export")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="Cy.json"'
    assert answer.json["sections"]["account"]["name"] == "Cy"
    with here.cluster.redis() as redis:
        assert redis.keys("kado:download:*") == [], "who is served may come again at once"
        (player,) = here.cluster.query("SELECT id FROM accounts_player WHERE name = 'Cy'")
        redis.set(f"kado:download:player:{player[0]}", "elsewhere", px=30_000)
        cy.town = there
        refused = cy.http("GET", "/api/v1/me/export")
        assert refused.code == "too-fast"
        assert 25 <= int(refused.headers["Retry-After"]) <= 30
        redis.delete(f"kado:download:player:{player[0]}")
    assert cy.http("GET", "/api/v1/me/export").status == 200


def test_a_client_that_goes_away_frees_its_turn(towns: list[Town]) -> None:
    here, _ = towns
    dee = here.member("Dee")
    with socket.create_connection(("127.0.0.1", here.web.port)) as connection:
        head = f"GET /api/v1/me/export HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {dee.token}"
        connection.sendall(f"{head}\r\n\r\n".encode())
        connection.recv(1)
    assert eventually(lambda: dee.http("GET", "/api/v1/me/export").status == 200, seconds=30)

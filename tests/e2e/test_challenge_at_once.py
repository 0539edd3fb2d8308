"""One challenge accepted fifty times at once, and a rematch that both ask for, through two web processes."""

import asyncio
from collections.abc import Sequence

import pytest

from examples.kado_client import Client, Json
from tests.chaos.crowd import make_players, rest, started
from tests.support.cluster import Cluster

pytestmark = pytest.mark.slow
BY_REST, BY_SOCKET = 20, 5
"""On each of the two processes."""
SETTINGS: Json = {
    "variant": "duo",
    "time_control": {"kind": "realtime", "initial_ms": 600_000, "increment_ms": 0},
}


def test_accepted_fifty_times_at_once(cluster: Cluster) -> None:
    webs = [cluster.web(wait=False), cluster.web(wait=False)]
    tokens = make_players(cluster, [("Ada", None), ("Ben", None)])
    started(*webs)
    asyncio.run(_fifty(cluster, tokens, [web.url for web in webs]))
    assert all("Traceback" not in web.log() for web in webs)


async def _fifty(cluster: Cluster, tokens: dict[str, str], urls: Sequence[str]) -> None:
    async with Client(urls[0], tokens["Ada"]) as ada, Client(urls[1], tokens["Ben"]) as ben:
        wish = SETTINGS | {"player": "Ben", "first": "challenger"}
        made = await rest(urls[0], "/api/v1/challenges", ada.token, "POST", wish)
        received = await ben.inbox("challenge_received")
        assert received["challenge"] == made["challenge"]

        game = await _accept_many_times(urls, ada, ben, made["challenge"])
        for client, seat in ((ada, 0), (ben, 1)):
            told = await client.inbox("challenge_accepted")
            assert (told["game"], told["seat"]) == (game, seat)
        assert cluster.query("SELECT id FROM territory_game") == [(game,)]
        assert _accepted_items(cluster) == 2

        await ada.command("resign", game=game)
        asked = await asyncio.gather(ada.rematch(game), ben.rematch(game), ada.rematch(game))
        assert {each["challenge"] for each in asked} == {asked[0]["challenge"]}
        again = (await ada.inbox("challenge_accepted"))["game"]
        assert (await ben.inbox("challenge_accepted"))["seat"] == 0
        games = {row[0] for row in cluster.query("SELECT id FROM territory_game")}
        assert games == {game, again}
        assert _accepted_items(cluster) == 4


async def _accept_many_times(urls: Sequence[str], ada: Client, ben: Client, challenge: str) -> str:
    """By REST and by sockets of Ben's, fifty times; the one game that all the answers name."""
    path = f"/api/v1/challenges/{challenge}/accept"
    socket_wishes = [
        client.command("challenge.accept", challenge=challenge)
        for client in (ben, ada)
        for _ in range(BY_SOCKET)
    ]
    rest_wishes = [rest(url, path, ben.token, "POST") for url in urls for _ in range(BY_REST)]
    answers = await asyncio.gather(*socket_wishes, *rest_wishes)
    # Ada has agreed from the start: her own acceptances may come before Ben's, and then find no game yet.
    of_ada = range(BY_SOCKET, 2 * BY_SOCKET)
    games = {each["game"] for number, each in enumerate(answers) if number not in of_ada}
    assert len(answers) == 50
    assert len(games) == 1
    assert {answers[number]["game"] for number in of_ada} <= games | {None}
    (game,) = games
    assert isinstance(game, str)
    return game


def _accepted_items(cluster: Cluster) -> int:
    statement = (
        "SELECT count(*) FROM accounts_inboxitem WHERE payload LIKE '%%challenge_accepted%%'"
    )
    ((count,),) = cluster.query(statement)
    return int(count)

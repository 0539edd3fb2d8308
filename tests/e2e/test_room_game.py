"""A room's whole game over sockets: two people, two CPUs, and a move that is taken back by agreement."""

import asyncio
import random

import pytest

from examples.kado_client import Client, Game, Json, Refused
from tests.chaos.crowd import Board, make_players, rest, started
from tests.support.cluster import Cluster

pytestmark = pytest.mark.slow
SECONDS = 240.0
UNDONE_AT = 8
"""At this ply, when it is Ada's turn, she takes her move of ply 4 back."""
SETTINGS: Json = {
    "variant": "classic",
    "time_control": {"kind": "none"},
    "undo": "ask",
    "spectators": False,
}


def test_a_room_of_two_people_and_two_cpus(cluster: Cluster) -> None:
    webs = [cluster.web(wait=False), cluster.web(wait=False)]
    others = [cluster.sweeper(wait=False), cluster.worker("bots", wait=False)]
    tokens = make_players(cluster, [("Ada", None), ("Ben", None), ("Cyd", None)])
    started(*webs, *others)
    asyncio.run(_play(tokens, [web.url for web in webs]))


async def _play(tokens: dict[str, str], urls: list[str]) -> None:
    async with (
        Client(urls[0], tokens["Ada"]) as ada,
        Client(urls[1], tokens["Ben"]) as ben,
        Client(urls[1], tokens["Cyd"]) as cyd,
    ):
        game_id = await _meet(ada, ben)
        with pytest.raises(Refused, match="spectators-refused"):
            await cyd.follow(game_id)
        games = [await ada.follow(game_id), await ben.follow(game_id)]
        chances = [random.Random(0), random.Random(1)]
        await asyncio.gather(
            _play_seat(ada, games[0], 0, chances[0], takes_back=True),
            _play_seat(ben, games[1], 2, chances[1]),
        )
        fresh = await rest(urls[0], f"/api/v1/games/{game_id}", ada.token)
        assert fresh["status"] == "finished"
        for game in games:
            await game.until(lambda snapshot: snapshot["version"] == fresh["version"])
            assert game.snapshot == fresh
            versions = [version for version, _ in game.events]
            assert versions == list(range(versions[0], fresh["version"] + 1))
            kinds = [event["type"] for _, event in game.events]
            at = kinds.index("undo_asked")
            assert kinds[at : at + 3] == ["undo_asked", "undo_answered", "moves_undone"]
        asked = [await ada.rematch(game_id), await ben.rematch(game_id)]
        assert [seat["level"] for seat in asked[1]["seats"]] == ["starter", None, "starter", None]
        assert asked[1]["game"]


async def _meet(ada: Client, ben: Client) -> str:
    """From Ada's room to the game; both see every step."""
    room = await rest(ada.base, "/api/v1/rooms", ada.token, "POST", SETTINGS)
    code = room["room"]
    seen = [await client.watch(f"room:{code}") for client in (ada, ben)]
    for seat in (1, 3):
        await ada.command("room.sit", room=code, seat=seat, level="starter")
    await ben.sit(code.lower(), 2)
    for shown in seen:
        state = await shown.until(lambda room: room["seats"][2]["player"] == "Ben")
        assert [seat["level"] for seat in state["seats"]] == [None, "starter", None, "starter"]
    with pytest.raises(Refused, match="room-not-ready"):
        await ada.command("room.start", room=code)
    await ben.ready(code, room["revision"])
    await seen[0].until(lambda room: room["seats"][2]["ready"])
    game_id: str = (await ada.command("room.start", room=code))["game"]
    for client, seat in ((ada, 0), (ben, 2)):
        told = await client.inbox("room_started")
        assert (told["game"], told["seat"]) == (game_id, seat)
    for shown in seen:
        over = await shown.until(lambda room: room["status"] == "started")
        assert over["game"] == game_id
    return game_id


async def _play_seat(
    client: Client, game: Game, seat: int, chance: random.Random, *, takes_back: bool = False
) -> None:
    """Play to the end; agree to every undo that another asks for."""

    def mine(snapshot: Json) -> bool:
        turn, wish = snapshot["turn"], snapshot["undo_asked"]
        to_answer = wish is not None and wish["seat"] != seat
        to_move = turn is not None and turn["seat"] == seat and wish is None
        return to_answer or to_move or snapshot["status"] != "started"

    while True:
        snapshot = await game.until(mine, SECONDS)
        if snapshot["status"] != "started":
            return
        ply = snapshot["turn"]["ply"]
        if snapshot["undo_asked"]:
            receipt = await client.answer_undo(game.id, ply, agreed=True)
        elif takes_back and ply == UNDONE_AT:
            takes_back = False
            receipt = await client.undo(game.id, ply)
        else:
            receipt = await client.move(game.id, ply, Board(game).choose(chance))
        await game.until(lambda s, seen=receipt["version"]: s["version"] >= seen, SECONDS)

"""Two strangers on two web processes meet, play, and lose one of the processes in the middle of it."""

import asyncio
import random
from collections.abc import Sequence

import pytest

from examples.kado_client import Json
from tests.chaos.crowd import Crowd, make_players, play, report, rest, started
from tests.support.cluster import Cluster
from tests.support.process import Process

pytestmark = pytest.mark.slow
KILLED_AT_PLY = 8


def test_a_whole_game_over_two_processes_one_of_which_dies(cluster: Cluster) -> None:
    webs = [cluster.web(wait=False), cluster.web(wait=False)]
    others = [cluster.wave(wait=False), cluster.sweeper(wait=False)]
    workers = [cluster.worker("default", wait=False), cluster.worker("bots", wait=False)]
    tokens = make_players(cluster, [("Ada", None), ("Ben", None)])
    started(*webs, *others, *workers)
    asyncio.run(_two_strangers(cluster, tokens, webs))


async def _two_strangers(cluster: Cluster, tokens: dict[str, str], webs: list[Process]) -> None:
    async with Crowd(cluster, tokens, [web.url for web in webs]) as crowd:
        ada, ben = crowd
        assert (ada.base, ben.base) == (webs[0].url, webs[1].url)
        met = await crowd.meet()
        assert met[0][1]["game"] == met[1][1]["game"]

        async def kill_adas_process(game: str, ply: int) -> None:
            """Before Ben's move, so that Ada, who is kept away until it is made, has missed it."""
            if ply >= KILLED_AT_PLY and webs[0].alive:
                ada.may_connect.clear()
                ben.on_ack = lambda player: ada.may_connect.set()
                await asyncio.to_thread(webs[0].kill9)

        ends = await asyncio.gather(
            play(ada, met[0][1], random.Random(0)),
            play(ben, met[1][1], random.Random(1), before_move=kill_adas_process),
        )
        verdict = await crowd.judged(wishes={"Ada": 1, "Ben": 1})
        missed = ada.log.resumed(f"game:{ends[0]['game']}")
        report(
            f"{len(ends[0]['moves'])} moves; after the kill Ada was sent {missed} that she had missed"
        )
        assert missed == 1
        assert not verdict.findings
        assert (ada.connections, ben.connections) == (2, 1)
        assert ada.base == webs[1].url
        assert ends[0]["outcome"]["termination"] == "completed"
        await _same_for_all(crowd, ends, webs[1].url)


async def _same_for_all(crowd: Crowd, ends: Sequence[Json], url: str) -> None:
    """The clients, REST and the tables agree; the game was rated once and nothing holds the players any more."""
    game_id = ends[0]["game"]
    for player in crowd:
        assert ends[0] == ends[1] == await rest(url, f"/api/v1/games/{game_id}", player.token)
        frames = player.log.frames(f"game:{game_id}")
        assert [frame.kind for frame in frames] == ["snapshot"] + ["event"] * (len(frames) - 1)
        versions = [frame.version for frame in frames]
        assert versions == list(range(versions[0], ends[0]["version"] + 1))
        assert await rest(url, "/api/v1/pools/duo-blitz/ticket", player.token) == {"state": "none"}
        profile = await rest(url, f"/api/v1/players/{player.log.player}")
        (change,) = [
            c
            for c in ends[0]["rating_changes"]
            if ends[0]["seats"][c["seat"]]["player"] == player.name
        ]
        assert [rating["rating"] for rating in profile["ratings"]] == [change["after"]]
    assert crowd.cluster.query("SELECT count(*) FROM accounts_ledgerrow") == [(2,)]
    assert crowd.cluster.query("SELECT count(*) FROM territory_engagement") == [(0,)]

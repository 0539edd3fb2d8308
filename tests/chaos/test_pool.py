"""Hundreds of players join one pool while the processes that match them are killed again and again."""

import asyncio
import random
import time
from asyncio import FIRST_COMPLETED
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

from tests.chaos.crowd import (
    PATIENCE,
    Crowd,
    Player,
    eventually,
    make_players,
    read,
    report,
    started,
)
from tests.chaos.record import Queues
from tests.support.cluster import Cluster
from tests.support.process import Process

pytestmark = pytest.mark.slow
SEED = 20_261_130
WAVE_LIVES = 6
COUPLES, GROUPS, GROUP = 60, 8, 10
APART = 90.0
"""The rating difference of a couple: too much for the attempt at joining, so a wave has to match them, 2 s later."""
FAR = 2_000.0
"""Between couples and groups: more than any window, so that everybody has a partner for certain."""


def test_two_hundred_players_and_a_wave_that_is_killed(cluster: Cluster) -> None:
    webs = [cluster.web(wait=False), cluster.web(wait=False)]
    wave = cluster.wave(wait=False)
    couples = [(f"Couple{i}-{j}", FAR * i + APART * j) for i in range(COUPLES) for j in range(2)]
    groups = [(f"Group{i}-{j}", -FAR * (i + 1)) for i in range(GROUPS) for j in range(GROUP)]
    tokens = make_players(cluster, [*couples, *groups])
    started(*webs, wave)
    asyncio.run(_kill_waves(cluster, tokens, webs, wave))


async def _kill_waves(
    cluster: Cluster, tokens: dict[str, str], webs: Sequence[Process], wave: Process
) -> None:
    chance = random.Random(SEED)
    async with Crowd(cluster, tokens, [web.url for web in webs]) as crowd:
        players = list(crowd)
        assert len(players) == 200
        chance.shuffle(players)
        kills = []
        for life in range(WAVE_LIVES):
            await asyncio.gather(*(p.join("duo-blitz") for p in players[life::WAVE_LIVES]))
            if life % 3 == 0:
                await asyncio.sleep(chance.random())
                await asyncio.to_thread(wave.kill9)
                kills.append("at a random moment")
            else:
                kills.append(await asyncio.to_thread(_kill_in_claim, cluster, wave))
            await asyncio.to_thread(wave.restart)
        report(f"\nwave killed {len(kills)}×: {', '.join(kills)}")
        assert any(kill.startswith("between") for kill in kills), "no kill met an open claim"
        assert await eventually(lambda: all(player.found for player in crowd))
        report(f"claims given back after their lease: {wave.log().count('claim recovered')}")
        await _everybody_is_in_one_game(crowd, wishes=dict.fromkeys(tokens, 1))


def _kill_in_claim(cluster: Cluster, wave: Process) -> str:
    """Kill the wave while it holds a claim: freeze it when one appears, and look whether it is still open."""
    with cluster.redis() as client:
        raw: Any = client
        old = set(raw.hkeys("{mm}claims"))
        deadline = time.monotonic() + PATIENCE / 3
        while time.monotonic() < deadline:
            if set(raw.hkeys("{mm}claims")) - old:
                wave.pause()
                claims = raw.hgetall("{mm}claims")
                if mine := [claims[claim] for claim in claims.keys() - old]:
                    wave.kill9()
                    return _how_far(cluster, mine[0].decode())
                wave.resume()
    wave.kill9()
    return "with nothing claimed"


def _how_far(cluster: Cluster, claim: str) -> str:
    player = int(claim.partition("|")[2].partition(":")[0])
    engaged = cluster.query("SELECT 1 FROM territory_engagement WHERE player_id = %s", player)
    return "between commit and settling" if engaged else "between claim and commit"


def test_joining_while_web_processes_are_killed(cluster: Cluster) -> None:
    webs = [cluster.web(wait=False), cluster.web(wait=False)]
    wave = cluster.wave(wait=False)
    names = [*(f"Player{i}" for i in range(120)), "Lonely"]
    tokens = make_players(cluster, [(name, None) for name in names])
    started(*webs, wave)
    asyncio.run(_kill_webs(cluster, tokens, webs, wave))


async def _kill_webs(
    cluster: Cluster, tokens: dict[str, str], webs: Sequence[Process], wave: Process
) -> None:
    chance = random.Random(SEED)
    async with Crowd(cluster, tokens, [web.url for web in webs]) as crowd:
        *players, lonely = crowd
        await lonely.join("duo-rapid")
        parts = [players[:40], players[40:80], players[80:]]
        for number, part in enumerate(parts):
            web = webs[number % 2]
            joins = [asyncio.create_task(player.join("duo-blitz")) for player in part]
            told = chance.randrange(3, 30)
            done = 0
            while done < told:
                await asyncio.wait([t for t in joins if not t.done()], return_when=FIRST_COMPLETED)
                done = sum(task.done() for task in joins)
            web.kill9()
            report(f"{web.name} killed after {done} of {len(part)} answers")
            lease = _lease_of(cluster, lonely)
            await asyncio.gather(*joins, asyncio.to_thread(web.restart))
            # Whoever still waits is kept by the connection to the other process.
            assert await eventually(partial(_is_renewed, cluster, lonely, lease))
        assert await eventually(lambda: all(player.found for player in players))
        report(f"claims given back after their lease: {wave.log().count('claim recovered')}")
        report(f"reconnected: {sum(player.connections > 1 for player in crowd)} players")
        assert any(player.connections > 1 for player in crowd)
        await lonely.command("ticket.leave")
        await _everybody_is_in_one_game(crowd, wishes={p.log.player: 1 for p in players})


def _lease_of(cluster: Cluster, player: Player) -> float:
    """Until when the ticket of the one who waits in another pool stands; milliseconds."""
    ids = {name: number for number, name in read(cluster).players.items()}
    with cluster.redis() as client:
        raw: Any = client
        return float(raw.zscore("{mm}leases", str(ids[player.log.player])) or 0)


def _is_renewed(cluster: Cluster, player: Player, lease: float) -> bool:
    return _lease_of(cluster, player) > lease


async def _everybody_is_in_one_game(crowd: Crowd, wishes: dict[str, int]) -> None:
    """Nothing is left in the queues; games, engagements and notifications fit together, and each client was told."""
    assert await eventually(lambda: not (read(crowd.cluster).queues.claims))
    verdict = await crowd.judged(wishes=wishes, ended=False)
    assert not verdict.findings
    record = read(crowd.cluster)
    queues = record.queues
    assert queues == Queues()
    live = [game for game in record.games.values() if game.status == "started"]
    report(f"{len(live)} live games, {len(record.engagements)} engagements, {len(wishes)} players")
    assert len(record.engagements) == 2 * len(live) == len(wishes)
    told = [_times_told(player) for player in crowd if player.log.player in wishes]
    assert told == [1] * len(wishes)


def _times_told(player: Player) -> int:
    return sum(frame.body["type"] == "match_found" for frame in player.log.frames("inbox"))

"""Valkey dies in the middle of games, stays away for a while, comes back empty: games and wishes go on."""

import asyncio
import random
import time
from collections.abc import Sequence

import pytest

from examples.kado_client import Json
from tests.chaos.checker import PROMISED_MS, SLOWNESS_MS
from tests.chaos.crowd import (
    PATIENCE,
    Crowd,
    Gate,
    Player,
    all_reach,
    eventually,
    make_players,
    meet,
    play,
    read,
    report,
    started,
)
from tests.support.cluster import Cluster
from tests.support.process import Process

pytestmark = pytest.mark.slow
GAMES = 6
WITH, WITHOUT = 6, 9
"""The games go on to ply 6 with Valkey, then to ply 9 without it."""
LONELY = ["duo-rapid", "duo-rapid-casual", "duo-blitz-casual"]


def test_games_and_tickets_outlast_valkey(cluster: Cluster) -> None:
    webs = [cluster.web(wait=False), cluster.web(wait=False)]
    others = [cluster.wave(wait=False), cluster.sweeper(wait=False)]
    worker = cluster.worker("default", wait=False)
    names = [f"Player{i}" for i in range(2 * GAMES)]
    lonely = [f"{who}{i}" for who in ("Lonely", "Late") for i in range(len(LONELY))]
    tokens = make_players(cluster, [(name, None) for name in [*names, *lonely]])
    started(*webs, *others, worker)
    asyncio.run(_without_valkey(cluster, tokens, webs))


async def _without_valkey(
    cluster: Cluster, tokens: dict[str, str], webs: Sequence[Process]
) -> None:
    async with Crowd(cluster, tokens, [web.url for web in webs]) as crowd:
        players, lonely, late = _parts(crowd)
        met = await meet(players)
        await asyncio.gather(*(p.join(pool) for p, pool in zip(lonely, LONELY, strict=True)))
        gate = Gate()
        playing = [
            asyncio.create_task(play(p, found, random.Random(i), before_move=gate.pass_through))
            for i, (p, found) in enumerate(met)
        ]
        await all_reach(gate, players, WITH)
        await asyncio.to_thread(cluster.valkey.kill)
        away = time.monotonic()
        await all_reach(gate, players, WITHOUT)
        report(
            f"\n{GAMES * (WITHOUT - WITH)} moves in {time.monotonic() - away:.1f} s without Valkey"
        )
        await asyncio.to_thread(cluster.valkey.start)
        await _waits_again(crowd, lonely)
        await gate.allow(float("inf"))
        await asyncio.to_thread(cluster.restart_valkey)
        ends = await asyncio.gather(*playing)
        assert {end["outcome"]["termination"] for end in ends} == {"completed"}
        await _waits_again(crowd, lonely)
        await _matched_after_all(lonely, late)
        verdict = await crowd.judged(wishes=dict.fromkeys(tokens, 1))
        report(f"promised: {PROMISED_MS} ms, granted to this machine on top: {SLOWNESS_MS} ms")
        assert not verdict.findings


def _parts(crowd: Crowd) -> tuple[list[Player], list[Player], list[Player]]:
    players = list(crowd)
    return players[: 2 * GAMES], players[-2 * len(LONELY) : -len(LONELY)], players[-len(LONELY) :]


async def _waits_again(crowd: Crowd, lonely: Sequence[Player]) -> None:
    """The connections of those who wait have made their tickets anew in the empty Valkey."""
    ids = {name: number for number, name in read(crowd.cluster).players.items()}
    missing, began = {ids[player.log.player] for player in lonely}, time.monotonic()
    assert await eventually(lambda: missing <= read(crowd.cluster).queues.tickets)
    report(f"{len(missing)} tickets made anew within {time.monotonic() - began:.1f} s")


async def _matched_after_all(lonely: Sequence[Player], late: Sequence[Player]) -> None:
    """Tickets made anew are as good as others: somebody comes, they meet, and part again."""
    await asyncio.gather(*(p.join(pool) for p, pool in zip(late, LONELY, strict=True)))
    for one, other in zip(lonely, late, strict=True):
        found: list[Json] = [await p.inbox("match_found", PATIENCE) for p in (one, other)]
        assert found[0]["game"] == found[1]["game"]
        await one.command("resign", game=found[0]["game"])

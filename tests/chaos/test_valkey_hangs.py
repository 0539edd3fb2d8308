"""Valkey hangs: it accepts connections and answers nothing. That is worse than its death, and games go on as well."""

import asyncio
import contextlib
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Sequence

import pytest

from examples.kado_client import Game, Refused
from tests.chaos.crowd import (
    PATIENCE,
    Board,
    Crowd,
    Gate,
    Player,
    all_reach,
    eventually,
    make_players,
    meet,
    play,
    report,
    rest,
    started,
)
from tests.support.cluster import Cluster
from tests.support.process import Process

pytestmark = pytest.mark.slow
GAMES, AGAINST_CPU, JOINING = 4, 24, 24
WITH, WITHOUT = 4, 8
"""The games go on to ply 4 while Valkey works, then to ply 8 while it hangs."""


def test_games_go_on_while_valkey_hangs(cluster: Cluster) -> None:
    webs = [cluster.web(wait=False), cluster.web(wait=False)]
    others = [cluster.wave(wait=False), cluster.sweeper(wait=False)]
    workers = [cluster.worker("default", wait=False), cluster.worker("bots", wait=False)]
    tokens = make_players(cluster, [(f"Player{i}", None) for i in range(2 * GAMES + JOINING + 2)])
    started(*webs, *others, *workers)
    asyncio.run(_while_it_hangs(cluster, tokens, webs))


async def _while_it_hangs(
    cluster: Cluster, tokens: dict[str, str], webs: Sequence[Process]
) -> None:
    with cluster.redis() as client:
        valkey = int(client.info("server")["process_id"])
    async with Crowd(cluster, tokens, [web.url for web in webs]) as crowd:
        everybody = list(crowd)
        players, joining, guests = everybody[: 2 * GAMES], everybody[2 * GAMES : -2], everybody[-2:]
        met = await meet(players)
        gate = Gate()
        playing = [
            asyncio.create_task(play(p, found, random.Random(i), before_move=gate.pass_through))
            for i, (p, found) in enumerate(met)
        ]
        tables = [
            (player, Board(await _against_cpu(player)))
            for player in guests
            for _ in range(AGAINST_CPU // 2)
        ]
        await all_reach(gate, players, WITH)
        os.kill(valkey, signal.SIGSTOP)
        began = time.monotonic()
        try:
            # Every one of these moves calls for a CPU's, whose task the queue does not take.
            await asyncio.gather(*(_first_move(player, board) for player, board in tables))
            report(f"\n{len(tables)} CPUs to move after {time.monotonic() - began:.1f} s")
            codes: Counter[str] = Counter()
            joins = [asyncio.create_task(_join_in_the_end(p, codes)) for p in joining]
            await all_reach(gate, players, WITHOUT)
            moves = GAMES * (WITHOUT - WITH)
            report(f"{moves} moves between people after {time.monotonic() - began:.1f} s")
            assert await eventually(lambda: codes["unavailable"])
        finally:
            os.kill(valkey, signal.SIGCONT)
        await gate.allow(float("inf"))
        ends = await asyncio.gather(*playing)
        assert {end["outcome"]["termination"] for end in ends} == {"completed"}
        for _, board in tables:
            await board.game.until(lambda s: len(s["moves"]) >= 2, PATIENCE)
        report(f"all CPUs have moved after {time.monotonic() - began:.1f} s")
        for player, board in tables:
            await player.command("resign", game=board.game.id)
        await asyncio.gather(*joins)
        report(f"{len(joining)} joined meanwhile; on the way they were told {dict(codes)}")
        verdict = await crowd.judged(wishes={p.log.player: 1 for p in (*players, *joining)})
        assert not verdict.findings


async def _against_cpu(player: Player) -> Game:
    wish = {"variant": "duo", "seats": [{}, {"level": "starter"}]}
    made = await rest(player.base, "/api/v1/games", player.token, "POST", wish)
    return await player.follow(made["game"])


async def _first_move(player: Player, board: Board) -> None:
    await player.move(board.game.id, 0, board.choose(random.Random(0)))


async def _join_in_the_end(player: Player, codes: Counter[str]) -> None:
    """Ask as often as it takes, as a client would, counting the refusals; then meet somebody and part."""
    while not player.found:
        try:
            await player.join("duo-rapid")
            break
        except Refused as refusal:
            codes[refusal.code] += 1
            assert refusal.code in {"unavailable", "already-playing"}, refusal
    found = await player.inbox("match_found", PATIENCE)
    with contextlib.suppress(Refused):  # the other was first
        await player.command("resign", game=found["game"])

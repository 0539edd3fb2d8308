"""Workers die while a CPU is to move and while a game waits to be settled: play goes on, and ratings come once."""

import asyncio
import os
import random
import signal
import time
from typing import Any

import pytest

from examples.kado_client import Game, Json
from tests.chaos.crowd import (
    PATIENCE,
    Board,
    Crowd,
    Player,
    eventually,
    is_turn_of,
    make_players,
    play,
    read,
    report,
    rest,
    started,
)
from tests.support.cluster import Cluster
from tests.support.proc import descendants
from tests.support.process import Process

pytestmark = pytest.mark.slow
SEED = 20_261_130


def test_a_game_against_the_cpu_outlasts_its_worker(cluster: Cluster) -> None:
    web = cluster.web(wait=False)
    sweeper, bots = cluster.sweeper(wait=False), cluster.worker("bots", wait=False)
    guest = make_players(cluster, [("Ada", None)])
    started(web, sweeper, bots)
    asyncio.run(_against_the_cpu(cluster, guest, web, bots))


async def _against_the_cpu(
    cluster: Cluster, tokens: dict[str, str], web: Process, bots: Process
) -> None:
    async with Crowd(cluster, tokens, [web.url]) as crowd:
        (ada,) = crowd
        table = await _Table.begin(ada, web.url)
        await table.cpu_moves("with its worker")

        # The move is there a moment before its task is done; hands stopped in between would never take the next one.
        assert await eventually(lambda: _tasks(cluster) == (0, 0))
        hands = list(descendants(bots.pid))
        for pid in hands:
            os.kill(pid, signal.SIGSTOP)
        await table.move()
        assert hands
        assert await eventually(lambda: _tasks(cluster) == (0, 1))
        await asyncio.to_thread(bots.kill9)
        await table.stands_still(seconds=2)
        await asyncio.to_thread(bots.restart)
        await table.cpu_moves("after its worker was killed with the task in its hands")

        await asyncio.to_thread(bots.stop)
        await table.move()
        await table.stands_still(seconds=3)
        await asyncio.to_thread(bots.restart)
        await table.cpu_moves("after its worker was away for some seconds")

        await asyncio.to_thread(bots.stop)
        await table.move()
        await asyncio.to_thread(cluster.restart_valkey)  # the task is lost for good
        await asyncio.to_thread(bots.restart)
        await table.cpu_moves(
            "after the task itself was lost, so that the sweeper had to ask again"
        )

        end = await play(ada, {"game": table.game.id, "seat": 0}, random.Random(SEED))
        assert end["outcome"]["termination"] == "completed"
        verdict = await crowd.judged()
        assert not verdict.findings


def _tasks(cluster: Cluster, queue: str = "bots") -> tuple[int, int]:
    """How many tasks wait in a queue, and how many a worker has taken and not finished."""
    with cluster.redis() as client:
        raw: Any = client
        return raw.llen(queue), raw.hlen("unacked")


class _Table:
    """Ada's game against the CPU, which moves second."""

    def __init__(self, player: Player, game: Game) -> None:
        self.player, self.game = player, game
        self._board, self._chance = Board(game), random.Random(SEED)

    @classmethod
    async def begin(cls, player: Player, url: str) -> "_Table":
        wish = {"variant": "duo", "seats": [{}, {"level": "starter"}]}
        made = await rest(url, "/api/v1/games", player.token, "POST", wish)
        table = cls(player, await player.follow(made["game"]))
        await table.game.until(lambda s: s["turn"]["seat"] == 0)
        await table.move()
        return table

    async def move(self) -> None:
        """Ada moves; then it is the CPU's turn."""
        ply = self.game.snapshot["turn"]["ply"]
        receipt = await self.player.move(self.game.id, ply, self._board.choose(self._chance))
        await self.game.until(lambda s: s["version"] >= receipt["version"])

    async def stands_still(self, seconds: float) -> None:
        """Without its worker the CPU cannot move: nothing happens, however long one waits."""
        version = self.game.version
        await asyncio.sleep(seconds)
        assert self.game.version == version
        assert self.game.snapshot["turn"]["seat"] == 1

    async def cpu_moves(self, when: str) -> Json:
        began = time.monotonic()
        state = await self.game.until(is_turn_of(0), PATIENCE)
        report(f"the CPU moved {time.monotonic() - began:.1f} s later, {when}")
        assert state["status"] == "started"
        return state


def test_a_rated_game_is_settled_without_its_worker(cluster: Cluster) -> None:
    web, sweeper = cluster.web(wait=False), cluster.sweeper(wait=False)
    tokens = make_players(cluster, [("Ada", None), ("Ben", None)])
    started(web, sweeper)
    asyncio.run(_settled_by_the_sweeper(cluster, tokens, web, sweeper))


async def _settled_by_the_sweeper(
    cluster: Cluster, tokens: dict[str, str], web: Process, sweeper: Process
) -> None:
    async with Crowd(cluster, tokens, [web.url]) as crowd:
        met = await crowd.meet()
        ended = time.monotonic()
        await asyncio.gather(
            *(play(p, found, random.Random(i)) for i, (p, found) in enumerate(met))
        )
        report(f"\nplayed and rated after {time.monotonic() - ended:.1f} s, by the sweeper alone")
        assert await eventually(lambda: "settled_by_sweeper" in sweeper.log())
        assert len(read(cluster).ledger) == 2
        # The worker comes back and finds the task that nobody needs any more.
        assert _tasks(cluster, "default") == (1, 0)
        await asyncio.to_thread(cluster.worker, "default")
        assert await eventually(lambda: _tasks(cluster, "default") == (0, 0))
        verdict = await crowd.judged(wishes=dict.fromkeys(tokens, 1))
        assert not verdict.findings
        assert len(read(cluster).ledger) == 2

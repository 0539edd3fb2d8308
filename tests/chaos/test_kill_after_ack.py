"""What has been acknowledged is kept: web processes are killed right after they have said so, again and again."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence

import pytest

from tests.chaos.crowd import PATIENCE, Crowd, Gate, Player, make_players, play, report, started
from tests.support.cluster import Cluster
from tests.support.process import Process

pytestmark = pytest.mark.slow
SEED = 20_261_130
GAMES, KILLS = 20, 10
PLIES = 2
"""Plies that every game may go on between two kills, so that all the kills come while games are played."""


class Executioner:
    """Kills the process that acknowledges the n-th move from now, in the moment when its word has arrived."""

    def __init__(self, webs: Sequence[Process]) -> None:
        self._webs = {web.url: web for web in webs}
        self._left = 0
        self.killed: asyncio.Queue[Process] = asyncio.Queue()

    def arm(self, after: int) -> None:
        self._left = after

    def hear(self, player: Player) -> None:
        self._left -= 1
        web = self._webs[player.base]
        if self._left == 0 and web.alive:
            web.kill9()
            self.killed.put_nowait(web)
        elif self._left == 0:  # word of a process that is dead already
            self._left = 1


def test_acknowledged_moves_outlast_ten_kills(cluster: Cluster) -> None:
    webs = [cluster.web(wait=False), cluster.web(wait=False)]
    others = [cluster.wave(wait=False), cluster.sweeper(wait=False)]
    worker = cluster.worker("default", wait=False)
    names = [f"Player{i}" for i in range(2 * GAMES + 2)]
    tokens = make_players(cluster, [(name, None) for name in names])
    started(*webs, *others, worker)
    asyncio.run(_ten_kills(cluster, tokens, webs))


async def _ten_kills(cluster: Cluster, tokens: dict[str, str], webs: Sequence[Process]) -> None:
    chance, gate, executioner = random.Random(SEED), Gate(), Executioner(webs)
    async with Crowd(cluster, tokens, [web.url for web in webs]) as crowd:
        met = await crowd.meet()
        nobody_there = met[0][1]["game"]
        playing = []
        for number, (player, found) in enumerate(met):
            if found["game"] == nobody_there:
                await player.follow(nobody_there)
                continue
            player.on_ack = executioner.hear
            choice = random.Random(SEED + number)
            seat = play(player, found, choice, before_move=gate.pass_through)
            playing.append(asyncio.create_task(seat))
        for number in range(KILLS):
            executioner.arm(chance.randint(1, GAMES))
            await gate.allow((number + 1) * PLIES)
            async with asyncio.timeout(PATIENCE):
                web = await executioner.killed.get()
            said = sum(len(player.log.acks) for player in crowd)
            report(f"{web.name} killed after {said} acknowledged moves")
            await asyncio.to_thread(web.restart)
        await gate.allow(float("inf"))
        await asyncio.gather(*playing)
        verdict = await crowd.judged(wishes=dict.fromkeys(tokens, 1))
        report(f"connections made: {sum(player.connections for player in crowd)}")
        assert not verdict.findings
        games = cluster.query("SELECT termination FROM territory_game")
        report(f"games ended: {dict(Counter(word for (word,) in games))}")
        assert Counter(word for (word,) in games) == {"completed": GAMES, "aborted": 1}

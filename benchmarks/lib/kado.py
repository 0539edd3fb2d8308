"""The whole product as a contender: two web processes, a worker, the sweeper, PostgreSQL and Valkey.

The two players of a game sit on different web processes, so that every move crosses from one to the other.
"""

import asyncio
import json
import os
import secrets
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import psycopg
import redis

from benchmarks.lib.contender import Contender, in_groups
from benchmarks.lib.duel import DuelTable, Player, PreparedGame
from benchmarks.lib.load import Meter, Table
from benchmarks.lib.processes import StartError
from benchmarks.lib.recorded import PROJECT, duo_games
from benchmarks.lib.websocket import CONNECT_SECONDS
from config.embedded import Services, embedded_services
from config.processes import free_port

WEB_PROCESSES = 2
SEED_SECONDS = 600
MANAGE = (sys.executable, "manage.py")


class Kado(Contender):
    name = "Kado, 2 web processes"
    keeps = "PostgreSQL"

    def __init__(self, scratch: Path) -> None:
        super().__init__(scratch)
        self._stack = ExitStack()
        self._seeded = 0
        self._arrived = 0
        self.ports: list[int] = []
        self.environ: dict[str, str] = {}

    def start(self) -> None:
        data = self.scratch / "data"
        services = self._stack.enter_context(embedded_services(data, environ={}))
        self.environ = {
            **os.environ,
            **services.addresses(),
            "KADO_DATA": str(data),
            "KADO_SECRET_KEY": secrets.token_urlsafe(48),
            "KADO_DEBUG": "0",
        }
        self._count_services(data, services)
        prepared = subprocess.run(
            [*MANAGE, "prepare", "--verbosity", "0"],
            cwd=PROJECT,
            env=self.environ,
            capture_output=True,
            check=False,
        )
        if prepared.returncode:
            raise StartError(f"prepare failed:\n{prepared.stderr.decode(errors='replace')[-1500:]}")
        self._run("worker", "worker", "--queue", "default")
        self._run("sweeper", "sweeper")
        self.ports = [free_port() for _ in range(WEB_PROCESSES)]
        for port in self.ports:
            self._run("web", "web", "--port", str(port), port=port)

    def stop(self) -> None:
        super().stop()
        self._stack.close()

    @property
    def first_web(self) -> int:
        """The process id to look at with a profiler: the child that serves, if the command has one."""
        return self.processes.parts["web"][0]

    def verify(self, moves: int) -> str:
        """Every move that arrived must stand in the table."""
        self._arrived += moves
        query = (
            """SELECT count(*) FROM territory_event WHERE payload LIKE '{"type":"move_played"%'"""
        )
        with psycopg.connect(self.environ["DATABASE_URL"]) as connection:
            (stored,) = connection.execute(query).fetchone() or (0,)
        return (
            ""
            if stored >= self._arrived
            else f"{self._arrived} moves arrived, only {stored} are kept"
        )

    def _run(self, part: str, *command: str, port: int | None = None) -> None:
        self.processes.start(part, [*MANAGE, *command], cwd=PROJECT, env=self.environ, port=port)

    def _count_services(self, data: Path, services: Services) -> None:
        postmaster = data / "postgres" / "postmaster.pid"
        self.processes.adopt("postgres", int(postmaster.read_text().split("\n", 1)[0]))
        self.processes.adopt("valkey", _listener(services.redis_url))

    async def tables(self, count: int, meter: Meter, *, games: int) -> list[Table]:
        seeded = await asyncio.to_thread(self._seed, count, games)
        recorded = duo_games()
        tables = []
        for number, row in enumerate(seeded):
            waiting = [
                PreparedGame(game, recorded[(number + n) % len(recorded)])
                for n, game in enumerate(row["games"])
            ]
            tables.append(DuelTable(meter, waiting))
        await in_groups(
            self._seat(table, number, row["tokens"])
            for number, (table, row) in enumerate(zip(tables, seeded, strict=True))
        )
        await asyncio.sleep(1.0)
        return list(tables)

    async def _seat(self, table: DuelTable, number: int, tokens: list[str]) -> None:
        for seat, token in enumerate(tokens):
            port = self.ports[(number + seat) % len(self.ports)]
            player = Player(table, seat, port, token)
            table.players.append(player)
            self.sockets.append(player)
            await player.connect(port)
            async with asyncio.timeout(CONNECT_SECONDS):
                await player.greeted.wait()
            table.follow(player)

    def _seed(self, tables: int, games: int) -> list[dict[str, list[str]]]:
        self._seeded += 1
        tag = f"r{secrets.token_hex(3)}{self._seeded}"
        command = [sys.executable, "-m", "benchmarks.lib.seed", "--tag", tag]
        outcome = subprocess.run(
            [*command, "--tables", str(tables), "--games", str(games)],
            cwd=PROJECT,
            env=self.environ,
            capture_output=True,
            check=False,
            timeout=SEED_SECONDS,
        )
        if outcome.returncode:
            raise StartError(f"seeding failed:\n{outcome.stderr.decode(errors='replace')[-1500:]}")
        rows: list[dict[str, list[str]]] = json.loads(outcome.stdout)["tables"]
        return rows


def _listener(redis_url: str) -> int:
    """The process that serves `redis_url`; it says so itself."""
    with redis.Redis.from_url(redis_url) as client:
        return int(client.info("server")["process_id"])

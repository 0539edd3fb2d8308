"""boardgame.io with PostgreSQL as a contender, spoken to in raw Engine.IO frames.

The generator looks for the start of an `update` and does not decode the state, which favours boardgame.io; so does its
sending of the update before it is stored.
"""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

from benchmarks.lib import http, node
from benchmarks.lib.contender import Contender, UnavailableError, in_groups
from benchmarks.lib.load import Meter, Table
from benchmarks.lib.recorded import endless_moves
from benchmarks.lib.websocket import CONNECT_SECONDS, Socket, frame
from config.env import ConfigurationError
from config.postgres import Postgres
from config.processes import free_port

_UPDATE = b'42/duel,["update"'
_SYNC = b'42/duel,["sync"'


class Client(Socket):
    """One player of a match."""

    __slots__ = ("_credentials", "_match", "joined", "seat", "table", "updates")

    def __init__(
        self, table: "MatchTable", seat: int, port: int, match: str, credentials: str
    ) -> None:
        super().__init__("/socket.io/?EIO=4&transport=websocket", port)
        self.table = table
        self.seat = seat
        self.joined = asyncio.Event()
        self.updates = 0
        """One comes for every move, to both players."""
        self._match = match
        self._credentials = credentials

    def received(self, message: bytes) -> None:
        if message.startswith(_UPDATE):
            self.updates += 1
            self.table.updated(self)
        elif message == b"2":
            self.send(frame(b"3"))
        elif message.startswith(b"0"):
            self.send(frame(b"40/duel,"))
        elif message.startswith(b"40/duel"):
            self._emit("sync", self._match, str(self.seat), self._credentials, 2)
        elif message.startswith(_SYNC):
            self.joined.set()

    def play(self, ply: int, move: str) -> None:
        """Send the action of a move; the state's id counts the actions."""
        payload = {
            "type": "play",
            "args": [ply, move],
            "playerID": str(self.seat),
            "credentials": self._credentials,
        }
        self._emit(
            "update", {"type": "MAKE_MOVE", "payload": payload}, ply, self._match, str(self.seat)
        )

    def _emit(self, *event: Any) -> None:
        self.send(frame(b"42/duel," + json.dumps(event).encode()))

    def lost(self) -> None:
        self.table.failed(self.closed)


class MatchTable(Table):
    """Two players of one match that never ends."""

    __slots__ = ("clients", "ply")

    def __init__(self, meter: Meter) -> None:
        super().__init__(meter)
        self.clients: list[Client] = []
        self.ply = 0

    def send_move(self) -> None:
        moves = endless_moves()
        self.clients[self.ply & 1].play(self.ply, moves[self.ply % len(moves)])

    def updated(self, client: Client) -> None:
        """An update reached a player: the receipt, if the other one has just moved."""
        if self.under_way and client.updates == self.ply + 1 and client.seat != self.ply & 1:
            self.ply += 1
            self.arrived()
            self.ready()


class BoardgameIo(Contender):
    name = "boardgame.io 0.50, PostgreSQL"
    keeps = "PostgreSQL, after telling both"

    _postgres: Postgres | None = None

    def install(self) -> str:
        self.folder: Path
        self.folder, version = node.install("boardgameio")
        return version

    def start(self) -> None:
        self._postgres = Postgres(self.scratch)
        try:
            self.scratch.mkdir(mode=0o711, parents=True, exist_ok=True)
            self._postgres.launch()
            self._postgres.wait_until_ready()
            self._postgres.create_database("boardgameio")
        except ConfigurationError as error:
            raise UnavailableError(f"PostgreSQL for boardgame.io did not start: {error}") from error
        postmaster = self._postgres.folder / "postmaster.pid"
        self.processes.adopt("postgres", int(postmaster.read_text().split("\n", 1)[0]))
        self.port = free_port()
        url = self._postgres.url("boardgameio")
        command = [shutil.which("node") or "node", "server.js", str(self.port), url]
        self.processes.start("node", command, cwd=self.folder, port=self.port)

    def stop(self) -> None:
        super().stop()
        if self._postgres is not None:
            self._postgres.stop()
            self._postgres = None

    async def tables(self, count: int, meter: Meter, *, games: int) -> list[Table]:
        tables = [MatchTable(meter) for _ in range(count)]
        await in_groups(self._seat(table) for table in tables)
        return list(tables)

    async def _seat(self, table: MatchTable) -> None:
        match = (await http.post(self.port, "/games/duel/create", {"numPlayers": 2}))["matchID"]
        for seat in range(2):
            wish = {"playerID": str(seat), "playerName": f"p{seat}"}
            joined = await http.post(self.port, f"/games/duel/{match}/join", wish)
            client = Client(table, seat, self.port, match, joined["playerCredentials"])
            table.clients.append(client)
            self.sockets.append(client)
            await client.connect(self.port)
            async with asyncio.timeout(CONNECT_SECONDS):
                await client.joined.wait()

"""Colyseus as a contender: the `ws` transport, a schema state, spoken to in its own binary protocol.

Every move changes the board, the last move, the turn and the ply in the schema; the patch frame that reaches the other
seat is the receipt. The generator does not decode patches, which favours Colyseus.
"""

import asyncio
import shutil
from pathlib import Path

from benchmarks.lib import http, node
from benchmarks.lib.contender import Contender, in_groups
from benchmarks.lib.load import Meter, Table
from benchmarks.lib.recorded import endless_moves
from benchmarks.lib.websocket import BINARY, CONNECT_SECONDS, Socket, frame
from config.processes import free_port

JOIN, ERROR, DATA, STATE, PATCH = 10, 11, 13, 14, 15
_MOVE_HEAD = bytes((DATA, 0xA4)) + b"move" + b"\x82\xa3ply\xce"
"""A message of type `move` with a msgpack map: `ply` as uint32 follows, then `move` as a short string."""


class Seat(Socket):
    """One client of a room."""

    __slots__ = ("joined", "patches", "seat", "table")

    def __init__(
        self, table: "RoomTable", seat: int, port: int, reservation: dict[str, str]
    ) -> None:
        path = f"/{reservation['processId']}/{reservation['roomId']}?sessionId={reservation['sessionId']}"
        super().__init__(path, port)
        self.table = table
        self.seat = seat
        self.joined = asyncio.Event()
        self.patches = 0
        """One comes for every move, to both seats."""

    def received(self, message: bytes) -> None:
        code = message[0]
        if code == PATCH:
            self.patches += 1
            self.table.patched(self)
        elif code == JOIN:
            self.send(frame(bytes((JOIN,)), BINARY))
        elif code == STATE:
            self.joined.set()
        elif code in (ERROR, DATA):
            self.table.failed(f"refused: {message[:80]!r}")

    def lost(self) -> None:
        self.table.failed(self.closed)


class RoomTable(Table):
    """Two clients of one room, moving in turn in one match that never ends."""

    __slots__ = ("_moves", "ply", "seats")

    def __init__(self, meter: Meter) -> None:
        super().__init__(meter)
        self.seats: list[Seat] = []
        self.ply = 0
        self._moves = [b"\xa4move" + bytes((0xA0 | len(m),)) + m.encode() for m in endless_moves()]

    def send_move(self) -> None:
        ply = self.ply
        move = self._moves[ply % len(self._moves)]
        self.seats[ply & 1].send(frame(_MOVE_HEAD + ply.to_bytes(4, "big") + move, BINARY))

    def patched(self, client: Seat) -> None:
        """A patch reached a seat: the receipt, if the other seat has just moved."""
        if self.under_way and client.patches == self.ply + 1 and client.seat != self.ply & 1:
            self.ply += 1
            self.arrived()
            self.ready()


class Colyseus(Contender):
    name = "Colyseus 0.18, ws, schema state"
    keeps = "memory"

    def install(self) -> str:
        self.folder: Path
        self.folder, version = node.install("colyseus")
        return version

    def start(self) -> None:
        self.port = free_port()
        command = [shutil.which("node") or "node", "server.mjs", str(self.port)]
        self.processes.start("node", command, cwd=self.folder, port=self.port)

    async def tables(self, count: int, meter: Meter, *, games: int) -> list[Table]:
        tables = [RoomTable(meter) for _ in range(count)]
        await in_groups(self._seat(table) for table in tables)
        await asyncio.sleep(
            1.5
        )  # the room's own timer still sends what changed before the second player joined
        for table in tables:
            for client in table.seats:
                client.patches = 0
        return list(tables)

    async def _seat(self, table: RoomTable) -> None:
        reservation = await http.post(self.port, "/matchmake/create/duel", {})
        for seat in range(2):
            if seat:
                reservation = await http.post(
                    self.port, f"/matchmake/joinById/{reservation['roomId']}", {}
                )
            client = Seat(table, seat, self.port, reservation)
            table.seats.append(client)
            self.sockets.append(client)
            await client.connect(self.port)
            async with asyncio.timeout(CONNECT_SECONDS):
                await client.joined.wait()

"""The bare ASGI relay as a contender: what the generator can drive when the server does next to nothing."""

import asyncio
import sys

from benchmarks.lib.contender import Contender, in_groups
from benchmarks.lib.duel import DuelTable, Player, PreparedGame
from benchmarks.lib.load import Meter, Table
from benchmarks.lib.recorded import PROJECT, endless_moves
from config.processes import free_port

MOVES = 20_000
"""Ready frames a table; a relay's game never ends, and no window is long enough to play so many."""


class Relay(Contender):
    name = "bare ASGI relay"
    keeps = "no"

    def start(self) -> None:
        self.port = free_port()
        command = [
            *(
                sys.executable,
                "-m",
                "uvicorn",
                "benchmarks.peers.relay:application",
                "--loop",
                "uvloop",
            ),
            *(
                "--ws",
                "websockets-sansio",
                "--ws-per-message-deflate",
                "false",
                "--lifespan",
                "off",
            ),
            *(
                "--no-access-log",
                "--log-level",
                "warning",
                "--host",
                "127.0.0.1",
                "--port",
                str(self.port),
            ),
        ]
        self.processes.start("web", command, cwd=PROJECT, port=self.port)

    async def tables(self, count: int, meter: Meter, *, games: int) -> list[Table]:
        moves = endless_moves()
        game_moves = (moves * (MOVES // len(moves) + 1))[:MOVES]
        tables = [DuelTable(meter, [_SharedGame(f"{n:06}", game_moves)]) for n in range(count)]
        await in_groups(self._seat(table) for table in tables)
        await asyncio.sleep(0.2)
        return list(tables)

    async def _seat(self, table: DuelTable) -> None:
        for seat in range(2):
            player = Player(table, seat, self.port, "none")
            table.players.append(player)
            self.sockets.append(player)
            await player.connect(self.port)
            table.follow(player)


class _SharedGame(PreparedGame):
    """All tables share one list of frames, because the relay does not read them."""

    _shared: "list[bytes]" = []

    def __init__(self, game_id: str, moves: tuple[str, ...]) -> None:
        super().__init__(game_id, moves if not self._shared else ())
        if not self._shared:
            self._shared.extend(self.frames)
        self.frames = self._shared

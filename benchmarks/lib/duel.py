"""The product's socket protocol, as a load: two players who play prepared games one after another."""

import asyncio
from collections.abc import Sequence

import msgspec

from benchmarks.lib.load import Meter, Table
from benchmarks.lib.websocket import Socket, frame


class _Turn(msgspec.Struct):
    ply: int
    seat: int


class _Event(msgspec.Struct):
    type: str
    ply: int = -1
    turn: _Turn | None = None


class _Frame(msgspec.Struct):
    stream: str
    event: _Event


_decode = msgspec.json.Decoder(_Frame).decode


class PreparedGame:
    """A game that waits in the server, and the ready frames of its moves."""

    __slots__ = ("frames", "id")

    def __init__(self, game_id: str, moves: Sequence[str]) -> None:
        self.id = game_id
        self.frames = [
            frame(
                f'{{"type":"move","id":"m","game":"{game_id}","ply":{ply},"move":"{move}"}}'.encode()
            )
            for ply, move in enumerate(moves)
        ]


class Player(Socket):
    """One seat's socket."""

    __slots__ = ("greeted", "seat", "table")

    def __init__(self, table: "DuelTable", seat: int, port: int, token: str) -> None:
        super().__init__("/ws/v1", port, (f"Authorization: Bearer {token}",))
        self.table = table
        self.seat = seat
        self.greeted = asyncio.Event()

    def received(self, message: bytes) -> None:
        if message.startswith(b'{"type":"event"'):
            self.table.event(self.seat, message)
        elif message.startswith(b'{"type":"reply"'):
            self.table.reply(message)
        elif message.startswith(b'{"type":"hello"'):
            self.greeted.set()

    def lost(self) -> None:
        self.table.failed(self.closed)


class DuelTable(Table):
    """A pair of players. Events are read at the seat that did not move: its receipt is the measured one."""

    __slots__ = (
        "_awaited",
        "_games",
        "game",
        "mover",
        "next_ply",
        "players",
        "stream",
        "to_move",
    )

    def __init__(self, meter: Meter, games: Sequence[PreparedGame]) -> None:
        super().__init__(meter)
        self._games = iter(games)
        self._awaited = 0
        self.players: list[Player] = []
        self.mover = -1
        self.to_move = self.next_ply = 0
        self.stream = ""
        self.waiting = True
        self.open_next()

    def open_next(self) -> None:
        """Leave the game that ended and follow the next one from both seats."""
        old, new = self.stream, next(self._games, None)
        if new is None:
            self.failed("the prepared games ran out")
            return
        self.game, self.stream = new, f"game:{new.id}"
        self.mover, self.to_move, self.next_ply = -1, 0, 0
        self._awaited = 2
        for player in self.players:
            self.follow(player, old)

    def follow(self, player: Player, old: str = "") -> None:
        """Subscribe to the current game, and leave the old one."""
        if old:
            player.send(frame(f'{{"type":"unsubscribe","id":"u","stream":"{old}"}}'.encode()))
        player.send(frame(f'{{"type":"subscribe","id":"s","stream":"{self.stream}"}}'.encode()))

    def send_move(self) -> None:
        self.mover = self.to_move
        try:
            ready = self.game.frames[self.next_ply]
        except IndexError:
            self.failed(f"{self.stream} goes on after the last recorded move")
            return
        self.players[self.mover].send(ready)

    def reply(self, message: bytes) -> None:
        """The answer to a command of either seat."""
        if b'"problem":' in message:
            self.failed(message[:300].decode(errors="replace"))
        elif message.startswith(b'{"type":"reply","id":"s"'):
            self._awaited -= 1
            if self._awaited == 0:
                self.ready()

    def event(self, seat: int, message: bytes) -> None:
        """An event at one seat."""
        if seat == self.mover or self.mover < 0:
            return
        found = _decode(message)
        if found.stream != self.stream:
            return
        event = found.event
        if event.type == "move_played":
            if event.ply != self.next_ply:
                if event.ply > self.next_ply:
                    self.failed(f"expected ply {self.next_ply}, got {event.ply}")
                return  # the late copy of the move that this seat has made itself
            self.arrived()
            if event.turn is not None:
                self.next_ply, self.to_move = event.turn.ply, event.turn.seat
                self.ready()
        elif event.type == "game_finished":
            self.meter.finished += 1
            self.open_next()

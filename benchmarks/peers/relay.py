"""The floor for any ASGI server, and the generator's ceiling: rooms of two that pass a ready event on.

It speaks just enough of the product's socket to be driven by the same generator: no rules, no database, no second
process, no JSON. `uvicorn benchmarks.peers.relay:application --ws websockets-sansio`.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]

HELLO = '{"type":"hello"}'
REPLY = '{"type":"reply","id":"%s","result":{"version":%d}}'
EVENT = (
    '{"type":"event","stream":"game:%s","version":%d,"at":"2026-01-01T00:00:00.000Z","event":{"type":"move_played",'
    '"ply":%d,"colour":"blue","seat":%d,"piece":"V3","move":"e8,e9,f9","points":3,"skipped":[],"turn":{"ply":%d,'
    '"colour":"orange","seat":%d,"clocks_ms":[300000,300000],"deadline":"2026-01-01T00:05:00.000Z"}}}'
)


class Room:
    """Both sockets of one game, and the number of its next ply."""

    __slots__ = ("ply", "sockets")

    def __init__(self) -> None:
        self.ply = 0
        self.sockets: list[Send] = []


rooms: dict[str, Room] = {}


async def application(scope: Message, receive: Receive, send: Send) -> None:
    """The ASGI application: sockets only."""
    if scope["type"] != "websocket":
        return
    await receive()
    await send({"type": "websocket.accept"})
    await send({"type": "websocket.send", "text": HELLO})
    name, room = "", Room()
    while True:
        message = await receive()
        if message["type"] != "websocket.receive":
            return
        text: str = message["text"]
        if text.startswith('{"type":"move"'):
            ply = room.ply
            room.ply = after = ply + 1
            event = EVENT % (name, after, ply, ply & 1, after, after & 1)
            for socket in room.sockets:
                await socket({"type": "websocket.send", "text": event})
            await send({"type": "websocket.send", "text": REPLY % ("m", after)})
        elif text.startswith('{"type":"subscribe"'):
            name = text.rpartition("game:")[2][:-2]
            room = rooms.setdefault(name, Room())
            room.sockets.append(send)
            await send({"type": "websocket.send", "text": REPLY % ("s", 0)})

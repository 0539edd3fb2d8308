"""uvicorn's WebSocket protocol, with a way to cut off a client that does not read."""

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol


class Protocol(WebSocketsSansIOProtocol):
    """Closing waits until what was written has been read, which a client that has stopped reading never does.

    `scope["state"]["cut"]` drops the connection at once instead.
    """

    async def run_asgi(self) -> None:
        self.scope["state"]["cut"] = self.transport.abort
        await super().run_asgi()

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.transport.abort()

"""uvicorn's WebSocket protocol, with a way to cut off a client that does not read, and the round trips of its pings."""

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from config.round_trips import RoundTrips


class Protocol(WebSocketsSansIOProtocol):
    """Closing waits until what was written has been read, which a client that has stopped reading never does.

    `scope["state"]["cut"]` drops the connection at once instead; `scope["state"]["round_trips"]` knows the lag.
    """

    async def run_asgi(self) -> None:
        self.round_trips = RoundTrips()
        self.scope["state"] |= {"cut": self.transport.abort, "round_trips": self.round_trips}
        await super().run_asgi()

    def start_keepalive(self) -> None:
        """Ping at once, so that the lag is known before the first move."""
        self.send_keepalive_ping()

    def handle_pong(self, event: Frame) -> None:
        awaited = self.pending_ping_payload
        super().handle_pong(event)
        if awaited is not None and self.pending_ping_payload is None:
            self.round_trips.add(self.last_ping_rtt)

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.transport.abort()

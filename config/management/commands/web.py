"""`manage.py web`: one web process, HTTP and sockets."""

import gc
import socket
from typing import Any

import uvicorn
from django.core.management.base import CommandError, CommandParser

from common.commands import ExampleCommand
from config.protocol import Protocol

EXAMPLES = """\
  python manage.py web --port 8001                    behind a proxy; one process a core
  python manage.py web --host 0.0.0.0 --port 8001     reachable from other machines
"""
BACKLOG = 2048
SHUTDOWN_SECONDS = 3


class Server(uvicorn.Server):
    """uvicorn, except that clients on sockets are told to come back before the server goes."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        from config.asgi import drain

        for server in self.servers:
            server.close()  # nobody new while the others are sent away
        await drain()
        await super().shutdown(sockets)


class Command(ExampleCommand):
    help = "Run one web process (HTTP and WebSocket)."
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="default: %(default)s")
        where = parser.add_mutually_exclusive_group()
        where.add_argument("--port", type=int, default=8000, help="default: %(default)s")
        where.add_argument(
            "--fd", type=int, help="accept on this inherited listening socket (`serve` uses it)"
        )

    def handle(
        self, *args: Any, host: str, port: int, fd: int | None = None, **options: Any
    ) -> None:
        listener = listen(host, port) if fd is None else socket.socket(fileno=fd)
        server = Server(server_config())
        server.config.load()
        gc.collect()
        gc.freeze()  # what is loaded stays: full collections need not walk it again and again
        # Collections of what lives with the games pause everybody: make them rare.
        gc.set_threshold(20_000, 50, 100)
        server.run(sockets=[listener])


def listen(host: str, port: int) -> socket.socket:
    """A listening socket that may be handed to child processes; says in one sentence why it cannot be had."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        raise CommandError(
            f"Port {port} on {host} cannot be used ({error.strerror}): "
            "stop what is using it, or choose another with --port."
        ) from error
    listener.setblocking(False)
    listener.set_inheritable(True)
    return listener


def server_config() -> uvicorn.Config:
    """The cheapest set-up for many small frames; see docs/adr for the figures."""
    return uvicorn.Config(
        "config.asgi:application",
        loop="uvloop",
        http="httptools",
        ws=Protocol,  # the `websockets-sansio` implementation
        ws_per_message_deflate=False,  # it doubles a connection's memory and our frames are small
        ws_max_size=65_536,
        ws_ping_interval=10.0,  # each answer measures the way to the client: config/round_trips.py
        lifespan="on",
        access_log=False,
        log_config=None,  # ours, from config/logs.py
        log_level="warning",
        backlog=BACKLOG,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        server_header=False,
        proxy_headers=True,
    )

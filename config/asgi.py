"""The ASGI application of a web process: HTTP by Django, `/ws/v1` by the socket, start and stop by the server."""

import os
import warnings
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# WhiteNoise hands out its few small files by ordinary iterators, which is all right.
warnings.filterwarnings("ignore", "StreamingHttpResponse must consume synchronous iterators")

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.core.asgi import get_asgi_application  # noqa: E402

django = get_asgi_application()  # sets Django up, so what follows may import models

from django.urls import path  # noqa: E402

from config import sockets  # noqa: E402
from config.socket import Socket  # noqa: E402

drain = sockets.drain


async def http(scope: Any, receive: Any, send: Any) -> None:
    """Django, but for `/healthz`: the process answers, by whatever host name, and says nothing of what is behind it."""
    if scope["path"] != "/healthz":
        await django(scope, receive, send)
        return
    headers = [(b"content-type", b"text/plain")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"ok\n"})


async def lifespan(scope: Any, receive: Any, send: Any) -> None:
    """Start the feed before the first request, stop it after the last."""
    await receive()
    await sockets.startup()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await sockets.shutdown()
    await send({"type": "lifespan.shutdown.complete"})


async def no_socket_here(scope: Any, receive: Any, send: Any) -> None:
    """Refuse a socket at any other address with HTTP 403, as the ASGI server does for a close before accept."""
    await receive()
    await send({"type": "websocket.close", "code": 4404})


elsewhere: Any = no_socket_here  # Django types `path` for views only
addresses = [path("ws/v1", Socket.as_asgi()), path("", elsewhere), path("<path:rest>", elsewhere)]

application = ProtocolTypeRouter(
    {
        "http": http,
        "websocket": URLRouter(addresses),
        "lifespan": lifespan,
    }
)

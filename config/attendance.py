"""What a web process says of who is connected to it, so that others know who is online."""

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Callable

from accounts.services.presence import attend
from common import database
from common.clock import now_ms

logger = logging.getLogger(__name__)

REPEAT_SECONDS = 2.0
"""Between two words if nobody comes or goes: they renew the process's lease, and find who is offline."""
GATHER_SECONDS = 0.05
"""How long comings and goings gather before they are told together."""


class Attendance:
    """Tells the store of presence, from the event loop, which players have a socket here."""

    def __init__(self, players: Callable[[], frozenset[int]]) -> None:
        self._process = secrets.token_hex(8)
        self._players = players
        self._told: frozenset[int] = frozenset()
        self._stirred = asyncio.Event()

    def stir(self) -> None:
        """Somebody has come or gone."""
        self._stirred.set()

    async def run(self) -> None:
        """Say again and again who is here, and when this is cancelled that nobody is."""
        try:
            while True:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(REPEAT_SECONDS):
                        await self._stirred.wait()
                        await asyncio.sleep(GATHER_SECONDS)
                self._stirred.clear()
                await self._tell(self._players())
        finally:
            await self._tell(frozenset())

    async def _tell(self, players: frozenset[int]) -> None:
        told, self._told = self._told, frozenset()  # if it fails, nothing is known to have arrived
        try:
            await database.aside(
                "presence",
                attend,
                process=self._process,
                before=told,
                players=players,
                now=now_ms(),
            )
        except Exception as error:  # noqa: BLE001  # whatever it was, it is said again
            logger.warning("presence not told, and said again: %r", error)
        else:
            self._told = players

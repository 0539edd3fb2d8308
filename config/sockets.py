"""The sockets of this process, and what looks after them: sign-ins that end, tickets to renew, clients gone silent."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

from channels.layers import get_channel_layer
from django.conf import settings
from redis.exceptions import RedisError

from accounts import selectors as accounts
from accounts.selectors import Caller
from common import database
from common.clock import now_ms
from common.feed import Feed
from common.state_feed import StateFeed
from common.wire import Wire
from config.attendance import Attendance
from games.territory import selectors as territory
from games.territory.services import live
from matchmaking import socket as matchmaking

logger = logging.getLogger(__name__)

WARD_SECONDS = 4.0
"""Between two looks at all sockets. A token that was revoked, or has expired, is noticed by the next one."""
SILENT_MS = 120_000
"""A client that sends no frame for so long is closed; `ping` is enough to stay."""
DRAIN_SECONDS = 2.0
CONTROL_GROUP = "web"
CONTROL_RENEW_SECONDS = 3_600.0


class Close(IntEnum):
    """The socket's close codes; docs/protocol.md says what a client does about each."""

    BAD_FRAME = 4400
    NOT_AUTHENTICATED = 4401
    SILENT = 4408
    NOT_READING = 4409
    TOO_LARGE = 4413
    TOO_FAST = 4429
    SHUTTING_DOWN = 4503


class Connected(Protocol):
    """What a socket shows to its warden."""

    caller: Caller | None
    pool: str | None
    heard_at: int
    gone: asyncio.Event

    def close(self, code: int) -> None: ...


here: set[Connected] = set()
"""Every open socket of this process."""

_doubted: set[str] = set()
"""Access tokens of apps that the last look did not find any more."""


@dataclass(slots=True)
class _Erasures:
    """The latest erasure that this process has taken note of."""

    seen: int | None = None
    once_more: bool = False


_erased = _Erasures()
_attendances: list[Attendance] = []
_running: list[tuple[Wire, Feed, StateFeed]] = []
_tasks: list[asyncio.Task[None]] = []


def feed() -> Feed:
    """The process's feed. Only a serving process has one."""
    return _running[0][1]


def states() -> StateFeed:
    """The process's feed of state streams. Only a serving process has one."""
    return _running[0][2]


async def startup() -> None:
    """Start the feed and the wardens on the server's loop."""
    database.adopt_loop(asyncio.get_running_loop())
    territory.warm_up()
    wire = Wire([settings.REDIS_URL])
    news, current = Feed(wire), StateFeed(wire)
    news.listeners.append(live.games.hear)
    for part in (wire, news, current):
        part.start()
    _running[:] = [(wire, news, current)]
    loop = asyncio.get_running_loop()
    wards = [_ward(look) for look in (_close_ended, _renew_tickets, _close_silent, _forget_erased)]
    _attendances[:] = [Attendance(_players_here)]
    others = (_listen_to_control(), _attendances[0].run())
    _tasks.extend(loop.create_task(work) for work in (*wards, *others))


async def drain() -> None:
    """Before the server stops: tell every client to reconnect elsewhere, after what is queued for it."""
    leaving = list(here)
    for socket in leaving:
        socket.close(Close.SHUTTING_DOWN)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            await asyncio.gather(*(socket.gone.wait() for socket in leaving))


async def shutdown() -> None:
    """Stop what `startup` started."""
    for task in _tasks:
        task.cancel()
    await asyncio.gather(*_tasks, return_exceptions=True)
    _tasks.clear()
    for wire, news, current in _running:
        for part in (current, news, wire):
            await part.stop()
    _running.clear()
    _attendances.clear()
    database.adopt_loop(None)


def stir() -> None:
    """Somebody has come or gone: let others know."""
    for attendance in _attendances:
        attendance.stir()


def _players_here() -> frozenset[int]:
    return frozenset(socket.caller.player_id for socket in here if socket.caller)


async def _ward(look: Callable[[], Awaitable[None]]) -> None:
    """Look at all sockets again and again; each look by itself, so that one that hangs holds up no other."""
    while True:
        await asyncio.sleep(WARD_SECONDS)
        try:
            await look()
        except Exception:
            logger.exception("%s failed and is tried again", look)


async def _close_ended() -> None:
    callers = {socket: socket.caller for socket in here if socket.caller}
    if not callers:
        return
    alive = await database.in_thread(accounts.live_credentials, set(callers.values()))
    ended = {socket for socket, caller in callers.items() if caller.credential not in alive}
    doubted = frozenset(_doubted)
    for socket in ended:
        caller = callers[socket]
        # A token that was renewed meanwhile is another one, and gets its own look.
        if socket.caller is not caller:
            continue
        # An app that refreshes its token loses the old one at that moment, and has until the next look to renew.
        refreshed = caller.app_token_id is not None and now_ms() < (caller.expires_at or 0)
        if refreshed and caller.credential not in doubted:
            _doubted.add(caller.credential)
        else:
            socket.close(Close.NOT_AUTHENTICATED)
    _doubted.intersection_update(callers[socket].credential for socket in ended)


async def _renew_tickets() -> None:
    waiting = {s.caller.player_id: s.pool for s in here if s.caller and s.pool}
    if not waiting:
        return
    over = await matchmaking.keep_leases(waiting)
    for socket in here:
        if socket.caller and socket.caller.player_id in over:
            socket.pool = None


async def _forget_erased() -> None:
    """Games that this process knows may name somebody who was erased meanwhile, whatever control messages got lost.

    One that was being read at that moment may come in afterwards: so they are forgotten at the next look once more.
    """
    latest = await database.in_thread(accounts.latest_erasure)
    if latest != _erased.seen or _erased.once_more:
        live.games.clear()
    _erased.once_more = latest != _erased.seen
    _erased.seen = latest


async def _close_silent() -> None:
    earliest = now_ms() - SILENT_MS
    for socket in list(here):
        if socket.heard_at < earliest:
            socket.close(Close.SILENT)


async def _listen_to_control() -> None:
    """Hear what concerns a player's sockets at once instead of at the next look. May miss messages: `_ward` looks."""
    layer = get_channel_layer()
    while True:
        try:
            name = await layer.new_channel()
            while True:
                # A group membership expires after a day; joining again in time keeps it.
                await layer.group_add(CONTROL_GROUP, name)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(CONTROL_RENEW_SECONDS):
                        while True:
                            _obey(await layer.receive(name))
        except (RedisError, OSError) as error:
            logger.warning("control messages are not heard: %s", error)
            await asyncio.sleep(1)


def _obey(message: dict[str, Any]) -> None:
    if message["type"] == "credential.ended":
        ended = message["credential"]
        close_where(lambda caller: caller.credential == ended, Close.NOT_AUTHENTICATED)
    elif message["type"] == "player.erased":
        erased = message["player"]
        close_where(lambda caller: caller.player_id == erased, Close.NOT_AUTHENTICATED)
        live.games.clear()


def close_where(matches: Callable[[Caller], bool], code: Close) -> None:
    """Close the sockets of the callers that match."""
    for socket in list(here):
        if socket.caller and matches(socket.caller):
            socket.close(code)

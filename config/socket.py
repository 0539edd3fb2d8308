"""The one WebSocket endpoint, `/ws/v1`: authenticate, limit, dispatch to the apps' handlers, relay streams."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from channels.consumer import AsyncConsumer
from channels.exceptions import StopConsumer

from accounts.selectors import Caller, authenticate
from bots import socket as bots
from common import database, streams
from common.clock import now_ms, rfc3339
from common.errors import (
    ForbiddenError,
    InvalidError,
    KadoError,
    NotAuthenticatedError,
    NotFoundError,
)
from common.feed import Following
from common.streams import Note
from config import frames, handshake, sockets
from config.problems import document, problem_of
from config.sockets import Close
from games.puzzle import selectors as puzzles
from games.puzzle import socket as puzzle
from games.territory import socket as territory
from games.territory.services import live
from games.territory.snapshot import snapshot
from matchmaking import socket as matchmaking

logger = logging.getLogger(__name__)

AUTH_SECONDS = 10.0
MAX_FRAME = 8 * 1024
"""Bytes in one frame from a client."""
BURST, SUSTAINED = 200.0, 50.0
"""Frames a client may send at once, and a second for long."""
MAX_SUBSCRIPTIONS = 64
MAX_OUTGOING = 1_000
"""Frames waiting for a client that does not read."""
CUT_SECONDS = 5.0
"""How long a client that did not read has to read why it is closed."""
MAX_MISSING = 500
"""With more events missing than this, a subscriber gets a snapshot instead."""


class BadFrameError(InvalidError):
    code = "bad-frame"
    title = "The frame is not understood"


class UnknownStreamError(NotFoundError):
    code = "unknown-stream"
    title = "There is no such stream"


class TooManySubscriptionsError(InvalidError):
    code = "too-many-subscriptions"
    title = "The socket follows too many streams"


class Socket(AsyncConsumer):
    """One connected client. Its commands are answered in the order in which they came."""

    handlers: ClassVar[dict[str, str]] = {
        "websocket.connect": "websocket_connect",
        "websocket.receive": "websocket_receive",
        "websocket.disconnect": "websocket_disconnect",
    }

    def __init__(self) -> None:
        self.caller: Caller | None = None
        self.pool: str | None = None
        self.heard_at = now_ms()
        self.gone = asyncio.Event()
        self._followings: dict[str, Following] = {}
        self._allowance = BURST
        self._outgoing: deque[str] = deque()
        self._filled = asyncio.Event()
        self._closing: int | None = None
        self._writer: asyncio.Task[None] | None = None
        self._auth_timer: asyncio.TimerHandle | None = None

    # Channels' own loop spends a task and a trip to a thread on every message, to clean up database connections and
    # to listen to the channel layer; a socket needs neither (docs/adr/0002-live-feed.md).

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scope, self.base_send = scope, send
        try:
            while True:
                await self.dispatch(await receive())
        except StopConsumer:
            pass
        finally:
            await self._goodbye()

    async def dispatch(self, message: Any) -> None:
        await getattr(self, self.handlers[message["type"]])(message)

    # Life

    async def websocket_connect(self, message: Any) -> None:
        await self.base_send({"type": "websocket.accept"})
        self._writer = asyncio.get_running_loop().create_task(self._write())
        sockets.here.add(self)
        hello: dict[str, Any] = {
            "type": "hello",
            "protocol": frames.PROTOCOL,
            "server_time": rfc3339(now_ms()),
            "player": None,
        }
        headers = self.scope["headers"]
        by_token = handshake.by_token(headers)
        if find := by_token or handshake.by_session(headers):
            try:
                hello |= await self._sign_in(find)
            except Exception as error:  # noqa: BLE001  # no socket is left without a close code
                unknown = isinstance(problem_of(error, "sign-in"), NotAuthenticatedError)
                if by_token or not unknown:  # a session that is over is nobody's, and no fault
                    self.close(Close.NOT_AUTHENTICATED if unknown else Close.SHUTTING_DOWN)
                    return
        if self.caller is None:
            loop = asyncio.get_running_loop()
            self._auth_timer = loop.call_later(AUTH_SECONDS, self._auth_overdue)
        self.push(frames.encode(hello))

    async def websocket_disconnect(self, message: Any) -> None:
        raise StopConsumer

    async def _goodbye(self) -> None:
        sockets.here.discard(self)
        sockets.stir()
        self.gone.set()
        if self._auth_timer:
            self._auth_timer.cancel()
        if self._writer:
            self._writer.cancel()
        for following in self._followings.values():
            await sockets.feed().unfollow(following)
        self._followings.clear()

    def _auth_overdue(self) -> None:
        if self.caller is None:
            self.close(Close.NOT_AUTHENTICATED)

    async def _sign_in(self, find: Callable[[], Caller]) -> dict[str, Any]:
        """Become the caller that is found, and follow the inbox from now on."""
        caller, inbox = await database.in_thread(_caller_and_inbox, find)
        if self.caller is not None and caller.player_id != self.caller.player_id:
            raise ForbiddenError("A socket stays with its player; open another one.")
        renewed, self.caller = self.caller is not None, caller
        if not renewed:
            following = await sockets.feed().follow(f"inbox:{caller.player_id}", self._relay_inbox)
            self._followings["inbox"] = following
            sockets.feed().begin(following, inbox)
            sockets.stir()
        return {"player": caller.name, "scopes": sorted(caller.scopes), "inbox": inbox}

    # Out

    def push(self, frame: str) -> None:
        """Queue a frame. A client that does not read is closed with a code and hurts nobody else."""
        if self._closing is not None:
            return
        if len(self._outgoing) >= MAX_OUTGOING:
            self.close(Close.NOT_READING)
            return
        self._outgoing.append(frame)
        self._filled.set()

    def close(self, code: int) -> None:
        """Close with a code, after what is queued has been sent (or instead, if the client does not read)."""
        if self._closing is None:
            self._closing = code
            if code == Close.NOT_READING:
                self._outgoing.clear()
                asyncio.get_running_loop().call_later(CUT_SECONDS, self._cut)
            self._filled.set()

    def _cut(self) -> None:
        if not self.gone.is_set():
            self.scope["state"]["cut"]()

    async def _write(self) -> None:
        try:
            while True:
                await self._filled.wait()
                self._filled.clear()
                while self._outgoing:
                    await self.base_send(
                        {"type": "websocket.send", "text": self._outgoing.popleft()}
                    )
                if self._closing is not None:
                    await self.base_send({"type": "websocket.close", "code": self._closing})
                    return
        except OSError:
            pass  # the client is gone; `websocket.disconnect` tells the reader

    def _relay(self, note: Note) -> None:
        self.push(note.frame())

    def _relay_inbox(self, note: Note) -> None:
        if '"type":"match_found"' in note.payload:
            self.pool = None
        self.push(note.frame())

    # In

    async def websocket_receive(self, message: Any) -> None:
        text = message.get("text")
        if self._closing is not None or not self._within_limits(text):
            return
        try:
            command = frames.decode(text)
        except frames.NOT_UNDERSTOOD as error:
            if (frame_id := frames.id_of(text)) is None:
                self.close(Close.BAD_FRAME)
            else:
                self._refuse(frame_id, BadFrameError(str(error)))
            return
        try:
            result = await self._answer(command)
        except Exception as error:  # noqa: BLE001  # every command gets exactly one reply
            self._refuse(command.id, problem_of(error, type(command).__name__))
        else:
            self.push(frames.encode({"type": "reply", "id": command.id, "result": result}))

    def _within_limits(self, text: str | None) -> bool:
        now = now_ms()
        passed = max(0, now - self.heard_at)  # the machine's time may be set back
        earned = passed * SUSTAINED / 1000
        self._allowance = min(BURST, self._allowance + earned) - 1
        self.heard_at = now
        if self._allowance < 0:
            self.close(Close.TOO_FAST)
        elif text is None:
            self.close(Close.BAD_FRAME)
        elif len(text) > MAX_FRAME or (not text.isascii() and len(text.encode()) > MAX_FRAME):
            self.close(Close.TOO_LARGE)
        return self._closing is None

    def _refuse(self, frame_id: str, error: KadoError) -> None:
        self.push(frames.encode({"type": "reply", "id": frame_id, "problem": document(error)}))

    async def _answer(self, command: frames.AnyCommand) -> dict[str, Any]:
        if isinstance(command, frames.Auth):
            return await self._renew(command.token)
        caller = self.caller
        if caller is None:
            raise NotAuthenticatedError("Send an `auth` frame first.")
        match command:
            case frames.Move():
                caller.require("play")
                return await territory.move(
                    caller, game=command.game, ply=command.ply, move=command.move
                )
            case frames.Undo():
                caller.require("play")
                return await territory.undo(caller, game=command.game, ply=command.ply)
            case frames.Hint():
                caller.require("play")
                return await bots.hint(caller, game=command.game, ply=command.ply)
            case frames.Resign():
                caller.require("play")
                return await territory.resign(caller, game=command.game, seat=command.seat)
            case frames.RunPlace() | frames.RunUndo() | frames.RunHint():
                caller.require("puzzle")
                return await _in_run(caller, command)
            case frames.Subscribe():
                return await self._subscribe(caller, command.stream, command.cursor)
            case frames.Unsubscribe():
                return await self._unsubscribe(command.stream)
            case frames.TicketJoin() | frames.TicketLeave():
                caller.require("play")
                return await self._change_ticket(caller, command)
            case frames.Ping():
                return {"server_time": rfc3339(now_ms())}

    async def _change_ticket(
        self, caller: Caller, command: frames.TicketJoin | frames.TicketLeave
    ) -> dict[str, Any]:
        """The ticket that the player has then; it is kept alive from now on, if there is one that waits."""
        if isinstance(command, frames.TicketJoin):
            ticket = await matchmaking.ticket_join(caller, command.pool)
        else:
            ticket = await matchmaking.ticket_leave(caller, command.pool)
        self.pool = ticket["pool"] if ticket["state"] == "waiting" else None
        return ticket

    async def _renew(self, token: str) -> dict[str, Any]:
        try:
            return await self._sign_in(partial(authenticate, token))
        except NotAuthenticatedError:
            if self.caller is None:
                self.close(Close.NOT_AUTHENTICATED)
            raise

    # Streams

    async def _subscribe(self, caller: Caller, stream: str, cursor: int | None) -> dict[str, Any]:
        if stream == "inbox":
            return await self._follow(
                "inbox", f"inbox:{caller.player_id}", cursor, self._relay_inbox
            )
        if stream.startswith("game:"):
            return await self._follow(stream, stream, cursor, self._relay)
        if stream.startswith("run:"):
            await database.in_thread(puzzles.run_of, stream.removeprefix("run:"), caller.player_id)
            return await self._follow(stream, stream, cursor, self._relay)
        raise UnknownStreamError(
            f"Streams are `inbox`, `game:<id>` and `run:<id>`, not {stream!r}."
        )

    async def _follow(
        self, name: str, stream: str, cursor: int | None, relay: Any
    ) -> dict[str, Any]:
        """Hold the stream's news back, send what the table has, then let the news through."""
        if name not in self._followings and len(self._followings) >= MAX_SUBSCRIPTIONS:
            raise TooManySubscriptionsError(f"At most {MAX_SUBSCRIPTIONS} streams a socket.")
        current = sockets.feed().hears(stream)
        following = await sockets.feed().follow(stream, relay)
        try:
            missing, version = await _missing(name, stream, cursor, current=current)
        except BaseException:
            await sockets.feed().unfollow(following)
            raise
        # Only now: a subscription that fails leaves the old one as it was.
        await self._unsubscribe(name)
        for frame in missing:
            self.push(frame)
        self._followings[name] = following
        sockets.feed().begin(following, version)
        return {"version": version}

    async def _unsubscribe(self, name: str) -> dict[str, Any]:
        following = self._followings.pop(name, None)
        if following is not None:
            await sockets.feed().unfollow(following)
        return {}


def _caller_and_inbox(find: Callable[[], Caller]) -> tuple[Caller, int]:
    caller = find()
    return caller, streams.version_of(f"inbox:{caller.player_id}")


async def _in_run(
    caller: Caller, command: frames.RunPlace | frames.RunUndo | frames.RunHint
) -> dict[str, Any]:
    if isinstance(command, frames.RunHint):
        return await bots.run_hint(caller, run=command.run, turn=command.turn)
    if isinstance(command, frames.RunUndo):
        return await puzzle.undo(caller, run=command.run, turn=command.turn)
    return await puzzle.place(
        caller,
        run=command.run,
        turn=command.turn,
        slot=command.slot,
        rotation=command.rotation,
        at=command.at,
    )


async def _missing(
    name: str, stream: str, cursor: int | None, *, current: bool
) -> tuple[list[str], int]:
    """The frames that bring a new follower up to date, and the version that it then has.

    A cursor that is too old, or from another world, is answered with a snapshot, as none is.
    """
    if cursor is not None:
        notes = await database.in_thread(streams.events_after, stream, cursor)
        if notes and notes[0].version == cursor + 1 and len(notes) <= MAX_MISSING:
            return [note.frame() for note in notes], notes[-1].version
        if (
            cursor > 0
            and not notes
            and cursor == await database.in_thread(streams.version_of, stream)
        ):
            return [], cursor
    if name == "inbox":
        return [], await database.in_thread(streams.version_of, stream)
    prefix, _, stream_id = stream.partition(":")
    view: Any
    if prefix == puzzles.PREFIX:
        view = await database.in_thread(puzzles.load_snapshot, stream_id)
    else:
        view = snapshot(await live.games.state(stream_id, current=current))
    frame = {"type": "snapshot", "stream": name, "version": view.version, "snapshot": view}
    return [frames.encode(frame)], view.version

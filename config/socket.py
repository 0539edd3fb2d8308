"""The one WebSocket endpoint, `/ws/v1`: authenticate, limit, dispatch to the apps' handlers, relay streams."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from channels.consumer import AsyncConsumer
from channels.exceptions import StopConsumer

from accounts import socket as accounts
from accounts.selectors import Caller, InboxMarks, authenticate, inbox_marks
from common import database
from common.clock import now_ms, rfc3339
from common.errors import (
    ForbiddenError,
    InvalidError,
    KadoError,
    NotAuthenticatedError,
)
from common.states import State
from common.streams import Note
from config import dispatch, frames, handshake, sockets
from config.following import Followings, Outgoing
from config.problems import document, problem_of
from config.sockets import Close
from matchmaking import socket as matchmaking

logger = logging.getLogger(__name__)

AUTH_SECONDS = 10.0
MAX_FRAME = 8 * 1024
"""Bytes in one frame from a client."""
BURST, SUSTAINED = 200.0, 50.0
"""Frames a client may send at once, and a second for long."""
MAX_OUTGOING = 1_000
"""Frames waiting for a client that does not read."""
CUT_SECONDS = 5.0
"""How long a client that did not read has to read why it is closed."""


class BadFrameError(InvalidError):
    code = "bad-frame"
    title = "The frame is not understood"


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
        self._allowance = BURST
        self._outgoing = Outgoing()
        self._followings = Followings(self.push, self._relay, self._show, self._outgoing.forget)
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
        await self._followings.end()

    def _auth_overdue(self) -> None:
        if self.caller is None:
            self.close(Close.NOT_AUTHENTICATED)

    async def _sign_in(self, find: Callable[[], Caller]) -> dict[str, Any]:
        """Become the caller that is found, and follow the inbox from now on."""
        caller, marks = await database.in_thread(_caller_and_marks, find)
        if self.caller is not None and caller.player_id != self.caller.player_id:
            raise ForbiddenError("A socket stays with its player; open another one.")
        renewed, self.caller = self.caller is not None, caller
        if not renewed:
            await self._followings.begin_inbox(caller, marks.version)
            sockets.stir()
        own = {"player": caller.name, "scopes": sorted(caller.scopes)}
        return {**own, **accounts.inbox_marks(marks)}

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
                    await self.base_send({"type": "websocket.send", "text": self._outgoing.pop()})
                if self._closing is not None:
                    await self.base_send({"type": "websocket.close", "code": self._closing})
                    return
        except OSError:
            pass  # the client is gone; `websocket.disconnect` tells the reader

    def _relay(self, note: Note) -> None:
        if self.pool is not None and '"type":"match_found"' in note.payload:
            self.pool = None  # only an inbox has such an event
        self.push(note.frame())

    def _show(self, state: State) -> None:
        """Queue a state, whether or not there is room: there is at most one of each stream."""
        if self._closing is None:
            self._outgoing.show(state)
            self._filled.set()

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
            case (
                frames.Move()
                | frames.Undo()
                | frames.UndoAnswer()
                | frames.Hint()
                | frames.Resign()
            ):
                caller.require("play")
                return await dispatch.in_game(caller, command)
            case frames.RunPlace() | frames.RunUndo() | frames.RunHint():
                caller.require("puzzle")
                return await dispatch.in_run(caller, command)
            case frames.Subscribe():
                return await self._followings.subscribe(caller, command.stream, command.cursor)
            case frames.Unsubscribe():
                return await self._followings.unsubscribe(command.stream)
            case frames.TicketJoin() | frames.TicketLeave():
                caller.require("play")
                return await self._change_ticket(caller, command)
            case frames.InboxRead():
                return await accounts.inbox_read(caller, up_to=command.up_to)
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


def _caller_and_marks(find: Callable[[], Caller]) -> tuple[Caller, InboxMarks]:
    caller = find()
    return caller, inbox_marks(caller.player_id)

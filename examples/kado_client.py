"""A complete Kado client in one file: copy it into your project. It needs `websockets`, and nothing of the server.

    async with Client("http://127.0.0.1:8000", token) as client:
        await client.join("duo-blitz")
        found = await client.inbox("match_found")
        game = await client.follow(found["game"])
        ...

A lost connection is made again with growing pauses, at the next address if there are several; every stream goes on
after the last version that was seen, so nothing is missed and nothing comes twice, and whoever waits in a pool goes on
waiting.
"""

import asyncio
import contextlib
import json
import random
from collections.abc import Sequence
from typing import Any, Self
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import websockets

Json = dict[str, Any]
PING_SECONDS = 60.0
BAD_TOKEN = 4401
"""The close code of a token that is unknown, expired or revoked: connecting again is of no use."""

PATIENCE_SECONDS = 30.0
"""How long a command waits for a connection."""


class Refused(Exception):
    """The server's problem document; `code` is stable, `problem` has everything."""

    def __init__(self, problem: Json) -> None:
        super().__init__(f"{problem.get('code')}: {problem.get('detail')}")
        self.code: str = problem.get("code", "unknown")
        self.problem = problem


def fold(snapshot: Json, version: int, event: Json) -> Json:
    """The snapshot after one more event. No rules are needed: every event carries what there is to draw."""
    game: Json = {**json.loads(json.dumps(snapshot)), "version": version}
    if event["type"] in ("move_played", "moves_undone", "seat_left", "game_finished"):
        game["undo_asked"] = None
    match event["type"]:
        case "move_played":
            game["moves"].append({k: event[k] for k in ("ply", "colour", "seat", "piece", "move")})
            colour = next(c for c in game["colours"] if c["colour"] == event["colour"])
            colour["points"] = event["points"]
            colour["pieces_left"].remove(event["piece"])
            game["turn"] = event["turn"]
        case "colours_out":
            for colour in game["colours"]:
                colour["out"] = colour["out"] or colour["colour"] in event["colours"]
        case "seat_left":
            game["leavers"].append({"seat": event["seat"], "reason": event["reason"]})
            game["turn"] = event["turn"]
        case "undo_asked":
            game["undo_asked"] = {"seat": event["seat"], "ply": event["ply"], "agreed": []}
        case "undo_answered" if event["agreed"]:
            game["undo_asked"]["agreed"].append(event["seat"])
        case "undo_answered":
            game["undo_asked"] = None
        case "moves_undone":
            del game["moves"][event["ply"] :]
            game |= {"colours": event["colours"], "turn": event["turn"], "status": "started"}
            game |= {"outcome": None, "clocks_ms": None}
        case "game_finished":
            aborted = event["outcome"]["termination"] == "aborted"
            game["status"] = "aborted" if aborted else "finished"
            game |= {"outcome": event["outcome"], "clocks_ms": event["clocks_ms"], "turn": None}
        case "game_rated":
            game["rating_changes"] = event["changes"]
    return game


def fold_run(snapshot: Json, version: int, event: Json) -> Json:
    """The same for a run of the block puzzle."""
    run: Json = {**snapshot, "version": version}
    match event["type"]:
        case "block_placed":
            run |= {"state": event["state"], "end": event["end"]}
            run["status"] = "over" if event["end"] else "running"
        case "placement_undone":
            run |= {"state": event["state"], "end": None, "status": "running"}
        case "run_ended":
            abandoned = event["end"]["reason"] == "abandoned"
            run |= {"end": event["end"], "status": "abandoned" if abandoned else "closed"}
        case "seed_revealed":
            run["seed"] = event["seed"]
    return run


class Game:
    """A followed game: `snapshot` is always the latest state; `changed` wakes whoever waits for the next one."""

    kind = "game"
    fold = staticmethod(fold)

    def __init__(self, game_id: str) -> None:
        self.id = game_id
        self.snapshot: Json = {}
        self.events: list[tuple[int, Json]] = []
        self.changed = asyncio.Condition()

    @property
    def stream(self) -> str:
        return f"{self.kind}:{self.id}"

    @property
    def version(self) -> int:
        return int(self.snapshot.get("version", 0))

    @property
    def turn(self) -> Json | None:
        return self.snapshot.get("turn")

    async def until(self, test: Any, seconds: float = 60.0) -> Json:
        """Wait until `test(snapshot)` is true and return the snapshot."""
        async with asyncio.timeout(seconds), self.changed:
            await self.changed.wait_for(lambda: self.snapshot and test(self.snapshot))
        return self.snapshot


class Run(Game):
    """A followed run of the block puzzle: one's own."""

    kind = "run"
    fold = staticmethod(fold_run)


class Shown:
    """A followed state stream: `state` is the latest one, null when what it showed is no more."""

    def __init__(self, stream: str) -> None:
        self.stream = stream
        self.state: Any = None
        self.count = 0
        self.changed = asyncio.Condition()

    async def until(self, test: Any, seconds: float = 60.0) -> Any:
        """Wait until `test(state)` is true and return the state."""
        async with asyncio.timeout(seconds), self.changed:
            await self.changed.wait_for(lambda: self.count and test(self.state))
        return self.state

    async def take(self, state: Any) -> None:
        async with self.changed:
            self.state = state
            self.count += 1
            self.changed.notify_all()


class Client:
    """One player's connection: commands, the inbox, and any number of followed games.

    `base` is the service's address, or several that are tried in turn.
    """

    def __init__(self, base: str | Sequence[str], token: str) -> None:
        self._bases = [each.rstrip("/") for each in ([base] if isinstance(base, str) else base)]
        self.token, self.name = token, ""
        self.connections = 0
        self._turn = 0
        self._pool: str | None = None
        self._games: dict[str, Game] = {}
        self._shown: dict[str, Shown] = {}
        self._inbox: asyncio.Queue[Json] = asyncio.Queue()
        self._inbox_cursor: int | None = None
        self._replies: dict[str, asyncio.Future[Json]] = {}
        self._socket: websockets.ClientConnection | None = None
        self._ready = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._number = 0
        self._gone: Refused | None = None

    @property
    def base(self) -> str:
        """The address in use."""
        return self._bases[self._turn % len(self._bases)]

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._stay_connected())
        try:
            await self._connected()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    # Commands

    async def command(self, type: str, **fields: Any) -> Json:
        """Send a command and return its result; raises `Refused`. One that got no answer is sent again: all may be
        said twice.
        """
        for _ in range(10):
            await self._connected()
            with contextlib.suppress(ConnectionError, websockets.ConnectionClosed):
                return await self._ask(type, fields)
            await asyncio.sleep(0.05)
        raise ConnectionError("the server does not answer")

    async def _connected(self) -> None:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._ready.wait()
        except TimeoutError:
            raise ConnectionError("no server can be reached") from None
        if self._gone:
            raise self._gone

    async def _ask(self, type: str, fields: Json) -> Json:
        self._number += 1
        frame_id = str(self._number)
        reply = self._replies[frame_id] = asyncio.get_running_loop().create_future()
        try:
            assert self._socket is not None
            await self._socket.send(json.dumps({"type": type, "id": frame_id, **fields}))
            answer = await asyncio.wait_for(reply, 20)
        finally:
            self._replies.pop(frame_id, None)
            if reply.done() and not reply.cancelled():
                reply.exception()  # whoever could not even send is told of the lost connection once
        if "problem" in answer:
            raise Refused(answer["problem"])
        result: Json = answer["result"]
        return result

    async def join(self, pool: str) -> Json:
        """Wait in a pool; the match comes as `match_found` in the inbox. The wish outlasts a lost connection."""
        connections = self.connections
        try:
            ticket = await self.command("ticket.join", pool=pool)
        except Refused as refusal:
            if refusal.code != "already-playing" or self.connections == connections:
                raise
            ticket = {"state": "matched", "game": refusal.problem["game"]}  # the answer was lost
        self._pool = pool if ticket["state"] == "waiting" else None
        return ticket

    async def move(self, game: str, ply: int, move: str) -> Json:
        return await self.command("move", game=game, ply=ply, move=move)

    async def undo(self, game: str, ply: int) -> Json:
        """Take one's latest move back, or ask the others to let one, in a game that is at `ply`."""
        return await self.command("undo", game=game, ply=ply)

    async def answer_undo(self, game: str, ply: int, *, agreed: bool) -> Json:
        """Let another seat take its move back, or do not."""
        return await self.command("undo.answer", game=game, ply=ply, agreed=agreed)

    async def hint(self, game: str, ply: int) -> Json:
        """Ask for the strongest CPU's move; it comes as `hint_given` in the inbox if `move` of the answer is null."""
        return await self.command("hint", game=game, ply=ply)

    async def follow(self, game_id: str) -> Game:
        """Follow a game: snapshot first, then every event."""
        return await self._follow(Game(game_id))

    async def follow_run(self, run_id: str) -> Game:
        """Follow a run of the block puzzle in the same way."""
        return await self._follow(Run(run_id))

    async def _follow(self, game: Game) -> Game:
        game = self._games.setdefault(game.id, game)
        await self.command("subscribe", stream=game.stream)
        return game

    async def watch(self, stream: str) -> Shown:
        """Follow a state stream, such as `friends`: each state replaces the one before."""
        shown = self._shown.setdefault(stream, Shown(stream))
        await self.command("subscribe", stream=stream)
        return shown

    async def place(self, run: str, turn: int, slot: int, at: str, rotation: int = 0) -> Json:
        """Place a block of a run: the answer to turn number `turn`. It gives the event that came of it."""
        return await self.command(
            "run.place", run=run, turn=turn, slot=slot, rotation=rotation, at=at
        )

    async def inbox(self, type: str, seconds: float = 60.0) -> Json:
        """The next event of this type in the inbox; others before it are dropped."""
        async with asyncio.timeout(seconds):
            while True:
                event = await self._inbox.get()
                if event["type"] == type:
                    return event

    async def read_inbox(self) -> Json:
        """All items that have come so far have been read; our other devices learn of it (`watch("inbox-read")`)."""
        return await self.command("inbox.read", up_to=self._inbox_cursor)

    def get(self, path: str) -> Any:
        """GET an address of the REST API (blocking; call it in a thread)."""
        return request(self.base, path, token=self.token)

    async def legal_moves(self, game_id: str) -> list[Json]:
        answer = await asyncio.to_thread(self.get, f"/api/v1/games/{game_id}/legal-moves")
        moves: list[Json] = answer["moves"]
        return moves

    # The connection

    async def _stay_connected(self) -> None:
        pause = 0.05
        while True:
            connections = self.connections
            try:
                await self._serve_one_connection()
            except websockets.ConnectionClosed as closed:
                if closed.rcvd and closed.rcvd.code == BAD_TOKEN:
                    problem = {"code": "invalid-token", "detail": "the token is not valid"}
                    self._gone = Refused(problem)
            except (OSError, websockets.WebSocketException):
                pass
            finally:
                self._ready.clear()
                self._turn += 1
                if self.connections > connections:  # it was a good one: the next may come soon
                    pause = 0.05
                for reply in self._replies.values():
                    if not reply.done():
                        reply.set_exception(ConnectionError("the connection was lost"))
            if self._gone:
                self._ready.set()  # whoever waits for the connection learns that there will be none
                return
            await asyncio.sleep(pause * (1 + random.random()))
            pause = min(pause * 2, 5.0)

    async def _serve_one_connection(self) -> None:
        url = f"ws{self.base.removeprefix('http')}/ws/v1"
        headers = {"Authorization": f"Bearer {self.token}"}
        async with websockets.connect(url, additional_headers=headers, compression=None) as socket:
            hello = json.loads(await socket.recv())
            self._socket, self.name = socket, hello["player"]
            self.connections += 1
            await self._resume(socket, hello)
            self._ready.set()
            pinging = asyncio.create_task(self._ping(socket))
            try:
                async for text in socket:
                    await self._hear(json.loads(text))
            finally:
                pinging.cancel()

    async def _ping(self, socket: websockets.ClientConnection) -> None:
        """Stay connected while we have nothing to say: the server closes a socket after two silent minutes."""
        while True:
            await asyncio.sleep(PING_SECONDS)
            await socket.send('{"type":"ping","id":"ping"}')

    async def _resume(self, socket: websockets.ClientConnection, hello: Json) -> None:
        """Go on with every stream after the last version that was seen, and with waiting in a pool.

        The server itself begins with the inbox, after the version that its `hello` names.
        """
        if self._inbox_cursor is None:
            self._inbox_cursor = hello["inbox"]
        # What has gone by its age while we were away is not missing.
        self._inbox_cursor = max(self._inbox_cursor, hello["inbox_dropped"])
        streams: list[tuple[str, int | None]] = [
            (game.stream, game.version) for game in self._games.values() if game.version
        ]
        if self._inbox_cursor != hello["inbox"]:
            streams.append(("inbox", self._inbox_cursor))
        for stream, cursor in streams + [(stream, None) for stream in self._shown]:
            frame: Json = {"type": "subscribe", "id": f"resume-{stream}", "stream": stream}
            await socket.send(json.dumps(frame if cursor is None else {**frame, "cursor": cursor}))
        if self._pool:
            frame = {"type": "ticket.join", "id": "resume-pool", "pool": self._pool}
            await socket.send(json.dumps(frame))

    async def _hear(self, frame: Json) -> None:
        match frame["type"]:
            case "reply" if frame["id"] == "ping":
                pass
            case "reply" if frame["id"].startswith("resume-"):
                if frame.get("problem", {}).get("code") == "unavailable":
                    raise ConnectionError("the server cannot go on just now")
            case "reply":
                reply = self._replies.get(frame["id"])
                if reply and not reply.done():
                    reply.set_result(frame)
            case "state" if frame["stream"] in self._shown:
                await self._shown[frame["stream"]].take(frame["state"])
            case "snapshot":
                await self._change(frame["stream"], frame["snapshot"])
            case "event" if frame["stream"] == "inbox":
                self._take_item(frame["version"], frame["event"])
            case "event":
                game = self._games[frame["stream"].partition(":")[2]]
                game.events.append((frame["version"], frame["event"]))
                folded = game.fold(game.snapshot, frame["version"], frame["event"])
                await self._change(frame["stream"], folded)

    def _take_item(self, version: int, event: Json) -> None:
        """Take an inbox item in its turn: one that comes just after `hello` comes again with what was missing."""
        if self._inbox_cursor is None or version != self._inbox_cursor + 1:
            return
        self._inbox_cursor = version
        if event["type"] == "match_found":
            self._pool = None
        self._inbox.put_nowait(event)

    async def _change(self, stream: str, snapshot: Json) -> None:
        game = self._games[stream.partition(":")[2]]
        async with game.changed:
            game.snapshot = snapshot
            game.changed.notify_all()


def request(base: str, path: str, *, token: str = "", method: str = "GET", body: Any = None) -> Any:
    """One REST call (blocking); raises `Refused` with the server's problem document."""
    assert urlsplit(base).scheme in ("http", "https")
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    try:
        with urlopen(Request(base + path, data, headers, method=method), timeout=20) as answer:
            return json.loads(answer.read() or b"null")
    except HTTPError as error:
        raise Refused(json.loads(error.read())) from None

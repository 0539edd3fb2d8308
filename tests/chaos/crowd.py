"""Players for tests of real processes: made by the services, connected by the example client, playing by the rules."""

import asyncio
import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import websockets

from common.clock import now_ms
from examples.kado_client import Client, Game, Json, request
from games.territory.rules import Position, parse_move, variant
from tests.chaos.checker import Verdict, judge
from tests.chaos.logs import Ack, Connected, Frame, Log, Resumed, milliseconds
from tests.chaos.record import Record, read_record
from tests.support.cluster import Cluster

PATIENCE = 90.0
"""Seconds that anything may take on a machine that is busy with other things."""
_MAKE = """
import json, sys
from django.db import transaction
from accounts.models import RatingRow
from accounts.services.people import create_player
from accounts.services.tokens import issue_token
tokens = []
with transaction.atomic():
    for name, mu in json.loads({people!r}):
        player = create_player(name=name).pk
        tokens.append(issue_token(player_id=player, scopes=["play", "challenge"])[1])
        if mu is not None:
            RatingRow.objects.create(player_id=player, key="duo:blitz", mu=mu)
print(json.dumps(tokens))
"""


def make_players(cluster: Cluster, people: Sequence[tuple[str, float | None]]) -> dict[str, str]:
    """Registered players of these names, with a rating in `duo:blitz` if one is given; their tokens by name."""
    script = _MAKE.format(people=json.dumps(people))
    printed = cluster.manage("shell", "--no-imports", "--verbosity", "0", "--command", script)
    tokens = json.loads(printed.splitlines()[-1])
    return {name: token for (name, _), token in zip(people, tokens, strict=True)}


class Player(Client):
    """The example client, and a log of all that it is told."""

    def __init__(self, base: str | Sequence[str], token: str, name: str) -> None:
        super().__init__(base, token)
        self.log = Log(name)
        self.found: Json | None = None
        """The latest `match_found`."""
        self.on_ack: Callable[[Player], None] = lambda player: None
        """Called as soon as a move is acknowledged."""
        self.may_connect = asyncio.Event()
        """Clear it, and a lost connection is not made again until it is set."""
        self.may_connect.set()

    async def _serve_one_connection(self) -> None:
        await self.may_connect.wait()
        await super()._serve_one_connection()

    async def _resume(self, socket: websockets.ClientConnection, hello: Json) -> None:
        self.log.entries.append(Connected(now_ms(), hello["inbox"]))
        await super()._resume(socket, hello)

    async def _hear(self, frame: Json) -> None:
        match frame["type"]:
            case "reply" if frame["id"].startswith("resume-"):
                self.log.entries.append(Resumed(frame["id"].removeprefix("resume-"), now_ms()))
            case "event":
                at, body = milliseconds(frame["at"]), frame["event"]
                self._note(Frame("event", frame["stream"], frame["version"], at, now_ms(), body))
            case "snapshot":
                body = frame["snapshot"]
                self._note(Frame("snapshot", frame["stream"], frame["version"], 0, now_ms(), body))
        await super()._hear(frame)

    def _note(self, frame: Frame) -> None:
        self.log.entries.append(frame)
        if frame.body.get("type") == "match_found":
            self.found = frame.body

    async def move(self, game: str, ply: int, move: str) -> Json:
        receipt = await super().move(game, ply, move)
        self.log.acks.append(Ack(game, ply, receipt["version"]))
        self.on_ack(self)
        return receipt


@dataclass(slots=True)
class Board:
    """The position of a followed game, so that a player finds legal moves without asking the server."""

    game: Game
    _played: int = 0
    _position: Position | None = field(default=None)

    def position(self) -> Position:
        on = variant(self.game.snapshot["variant"])
        position = self._position or Position.start(on)
        for move in self.game.snapshot["moves"][self._played :]:
            position = position.advance(parse_move(move["move"], on)).position
            self._played += 1
        self._position = position
        return position

    def legal(self) -> list[str]:
        return [move.text for move in self.position().legal()]

    def choose(self, chance: random.Random) -> str:
        """One of the largest pieces that fit, so that games are short and differ."""
        moves = list(self.position().legal())
        largest = max(len(move.cells) for move in moves)
        return chance.choice([move.text for move in moves if len(move.cells) == largest])


class Gate:
    """Holds games back: a move waits until its ply is allowed. So faults come in the middle of games, however fast."""

    def __init__(self) -> None:
        self.plies = 0.0
        self._raised = asyncio.Condition()

    async def allow(self, plies: float) -> None:
        """Let every game go on to this ply."""
        async with self._raised:
            self.plies = plies
            self._raised.notify_all()

    async def pass_through(self, game: str, ply: int) -> None:
        async with self._raised:
            await self._raised.wait_for(lambda: ply < self.plies)


def is_turn_of(seat: int) -> Callable[[Json], bool]:
    return lambda s: s["status"] != "started" or bool(s["turn"] and s["turn"]["seat"] == seat)


async def play(
    player: Player,
    found: Json,
    chance: random.Random,
    *,
    before_move: Callable[[str, int], Any] | None = None,
) -> Json:
    """Play one's seat to the end of the game; returns the snapshot when the ratings are settled.

    `before_move(game, ply)` is awaited before each move: a test paces or holds games by it.
    """
    game = await player.follow(found["game"])
    board = Board(game)
    while True:
        state = await game.until(is_turn_of(found["seat"]), PATIENCE * 2)
        if state["status"] != "started":
            break
        ply = state["turn"]["ply"]
        if before_move:
            await before_move(game.id, ply)
        receipt = await player.move(game.id, ply, board.choose(chance))
        await game.until(lambda s, version=receipt["version"]: s["version"] >= version, PATIENCE)
    if state["rated"] and state["status"] == "finished":
        return await game.until(lambda s: s["rating_changes"] is not None, PATIENCE)
    return state


class Crowd:
    """Many connected players of one cluster; use it as an asynchronous context."""

    def __init__(self, cluster: Cluster, tokens: dict[str, str], bases: Sequence[str]) -> None:
        """Each player knows all the addresses; every second one begins with the next."""
        self.cluster = cluster
        self.players = {
            name: Player([*bases[i % len(bases) :], *bases[: i % len(bases)]], token, name)
            for i, (name, token) in enumerate(tokens.items())
        }
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            await asyncio.gather(*map(stack.enter_async_context, self.players.values()))
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception):
            verdict = judge(read(self.cluster), [player.log for player in self], ended=False)
            report(f"\nat the failure: {verdict}")
        await self._stack.aclose()

    def __iter__(self) -> Any:
        return iter(self.players.values())

    async def meet(self, pool: str = "duo-blitz") -> list[tuple[Player, Json]]:
        """All meet in `pool`, see `meet`."""
        return await meet(list(self), pool)

    async def judged(self, *, wishes: dict[str, int] | None = None, ended: bool = True) -> Verdict:
        """Wait until the record is at rest and every client has all of it; then judge, and print what was found."""
        record = await asyncio.to_thread(at_rest, self.cluster) if ended else read(self.cluster)
        for player in self:
            await eventually(partial(_has_all, player.log, record))
        verdict = judge(record, [player.log for player in self], wishes=wishes, ended=ended)
        report(f"\n{verdict}")
        return verdict


async def meet(players: Sequence[Player], pool: str = "duo-blitz") -> list[tuple[Player, Json]]:
    """Everybody joins a pool and is matched; each with its `match_found`. One after the other, so that neighbours
    meet: they are connected to different web processes.
    """
    for player in players:
        await player.join(pool)
    return [(player, await player.inbox("match_found", PATIENCE)) for player in players]


async def all_reach(gate: Gate, players: Sequence[Player], ply: int) -> None:
    """Let all games of these players, two in each, go on to a ply, and see that they get there."""
    await gate.allow(ply)
    wanted = len(players) // 2 * ply
    assert await eventually(lambda: sum(len(player.log.acks) for player in players) == wanted)


def _has_all(log: Log, record: Record) -> bool:
    def latest(stream: str) -> int:
        return max((row.version for row in record.stream(stream, log.player)), default=0)

    return all(log.version(stream) >= latest(stream) for stream in log.streams())


def read(cluster: Cluster) -> Record:
    return read_record(cluster.database_url, cluster.redis_url)


def at_rest(cluster: Cluster) -> Record:
    """The record when every game is settled, or after all patience what there is."""
    deadline = time.monotonic() + PATIENCE
    statement = "SELECT count(*) FROM territory_game WHERE settled_at IS NULL"
    while cluster.query(statement) != [(0,)] and time.monotonic() < deadline:
        time.sleep(0.1)
    return read(cluster)


async def eventually(condition: Callable[[], Any], seconds: float = PATIENCE) -> bool:
    """Whether the condition comes true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.02)
    return True


async def rest(base: str, path: str, token: str = "", method: str = "GET", body: Any = None) -> Any:
    """One REST call, without holding up the other players."""
    return await asyncio.to_thread(request, base, path, token=token, method=method, body=body)


def report(line: str) -> None:
    """Print a figure; pytest shows it with `-s`, or when the test has failed."""
    sys.stdout.write(f"{line}\n")


def started(*processes: Any) -> None:
    """Wait for processes that were started with `wait=False`, side by side."""
    for process in processes:
        process.wait_until_ready()

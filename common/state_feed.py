"""The state streams of one web process: each is subscribed and read once, however many follow it.

What is published is shown at once; what is only said to have changed is read again, many streams together. Every
`HEAL_SECONDS` all that is followed is compared with its sources, so that even a total loss of Redis heals.
Everything here runs on the event loop; only `publish_from_anywhere` may be called from elsewhere.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial

from common import database, states
from common.ids import new_id
from common.states import CHANNEL, TOUCHED, State, Touch
from common.wire import Wire

logger = logging.getLogger(__name__)

HEAL_SECONDS = 2.0
GATHER_SECONDS = 0.05
"""Between two readings of one kind of stream that changes all the time."""

Sink = Callable[[State], None]


class Watching:
    """One follower of one state stream."""

    __slots__ = ("begun", "sink", "stream")

    def __init__(self, stream: str, sink: Sink) -> None:
        self.stream = stream
        self.sink = sink
        self.begun = False

    def show(self, state: State) -> None:
        try:
            self.sink(state)
        except Exception:  # the others, and whoever publishes, have no part in it
            logger.exception("a follower of %s failed", self.stream)


class Board:
    """A stream followed in this process: the latest state that is known, and who looks at it."""

    __slots__ = ("changes", "state", "watchings")

    def __init__(self) -> None:
        self.state: State | None = None
        self.watchings: list[Watching] = []
        self.changes = 0
        """How many states were published here; tells a reading that it has been overtaken."""


class StateFeed:
    """The process's hub of state streams."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._boards: dict[str, Board] = {}
        self._stale: dict[str, set[str]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._own_name = new_id()
        self.healed = 0
        """How many states were noticed by the comparison instead of Redis."""

    # Life

    def start(self) -> None:
        """Heal what is followed, and publish for this process from now on."""
        self._spawn(self._heal())
        states.install_publisher(self)

    async def stop(self) -> None:
        states.install_publisher(None)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _spawn(self, work: "asyncio._CoroutineLike[None]") -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # Following

    async def follow(self, stream: str, sink: Sink) -> Watching:
        """Show `sink` the current state before this returns, and every later one that becomes known.

        Raises what the source raises when it cannot be read.
        """
        watching = Watching(stream, sink)
        board = self._boards.get(stream)
        if board is None:
            board = self._boards[stream] = Board()
        # Before anything is awaited, so that nobody drops the board meanwhile.
        board.watchings.append(watching)
        try:
            name = CHANNEL + stream.encode()
            subscription = await self._wire.line(stream).subscribe(
                name, partial(self._hear, stream)
            )
            if board.state is None or not subscription.confirmed.is_set():
                await self._read([stream])
        except BaseException:
            await self.unfollow(watching)
            raise
        watching.begun = True
        if board.state is not None:
            watching.show(board.state)
        return watching

    async def unfollow(self, watching: Watching) -> None:
        board = self._boards.get(watching.stream)
        if board is None or watching not in board.watchings:
            return
        board.watchings.remove(watching)
        if not board.watchings:
            del self._boards[watching.stream]
            stream = watching.stream
            await self._wire.line(stream).unsubscribe(CHANNEL + stream.encode())

    # Spreading

    def publish(self, news: Sequence[State | Touch]) -> None:
        """Tell the followers here at once and everybody else through Redis."""
        signed = [
            replace(each, sender=self._own_name) if isinstance(each, Touch) else each
            for each in news
        ]
        for each in signed:
            if isinstance(each, Touch):
                self._refresh(each.stream)
            else:
                self._accept(each)
        self._wire.publish(signed)

    def publish_from_anywhere(self, news: Sequence[State | Touch]) -> None:
        if threading.get_ident() == self._thread:
            self.publish(news)
        else:
            self._loop.call_soon_threadsafe(self.publish, news)

    def _hear(self, stream: str, message: bytes) -> None:
        if not message.startswith(TOUCHED):
            self._accept(State.unpacked(stream, message))
        elif message[len(TOUCHED) :].decode() != self._own_name:
            self._refresh(stream)

    def _accept(self, state: State) -> None:
        """Take a state that was published, unless a later one is known."""
        board = self._boards.get(state.stream)
        if board is not None and (board.state is None or state.at >= board.state.at):
            board.changes += 1
            self._show(board, state)

    def _show(self, board: Board, state: State) -> bool:
        """Whether it was another state than the one that is known."""
        if board.state is not None and board.state.text == state.text:
            board.state.at = max(board.state.at, state.at)
            return False
        board.state = state
        for watching in board.watchings:
            if watching.begun:
                watching.show(state)
        return True

    # Reading

    async def _read(self, streams: Collection[str]) -> int:
        """Read streams of one kind from their source and show what has changed; how many have."""
        boards = {stream: board for stream in streams if (board := self._boards.get(stream))}
        if not boards:
            return 0
        before = {stream: board.changes for stream, board in boards.items()}
        found = await database.aside("states", states.read, list(boards))
        changed = 0
        for stream, board in boards.items():
            # What was published meanwhile may be newer than what was read; the next comparison sees.
            if board.changes == before[stream]:
                changed += self._show(board, found[stream])
        return changed

    def _refresh(self, stream: str) -> None:
        """Read a stream again soon, together with others of its kind."""
        if stream not in self._boards:
            return
        prefix = stream.partition(":")[0]
        is_running = prefix in self._stale
        self._stale.setdefault(prefix, set()).add(stream)
        if not is_running:
            self._spawn(self._read_stale(prefix))

    async def _read_stale(self, prefix: str) -> None:
        try:
            while streams := self._stale[prefix]:
                self._stale[prefix] = set()
                await self._read(streams)
                await asyncio.sleep(GATHER_SECONDS)
        except Exception:
            logger.exception("could not read the streams %s:…; the comparison tries again", prefix)
        finally:
            del self._stale[prefix]

    async def _heal(self) -> None:
        """Compare each kind by itself, so that a source that hangs holds up no other."""
        comparing: dict[str, asyncio.Task[None]] = {}
        while True:
            await asyncio.sleep(HEAL_SECONDS)
            kinds: dict[str, list[str]] = {}
            for stream in self._boards:
                kinds.setdefault(stream.partition(":")[0], []).append(stream)
            for prefix, streams in kinds.items():
                if prefix not in comparing or comparing[prefix].done():
                    comparing[prefix] = self._loop.create_task(self._compare(prefix, streams))
                    self._tasks.add(comparing[prefix])
                    comparing[prefix].add_done_callback(self._tasks.discard)

    async def _compare(self, prefix: str, streams: list[str]) -> None:
        try:
            self.healed += await self._read(streams)
        except Exception:
            logger.exception("could not compare the streams %s:… with their source", prefix)

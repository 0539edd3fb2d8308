"""Who looks on in this process: counted for everybody, and shown rated games late, each event once for all of them.

Everything here runs on the event loop.
"""

import asyncio
import logging
from collections import Counter, deque

from redis.exceptions import RedisError

from common import database, states
from common.clock import now_ms
from common.feed import Feed, Following
from common.ids import new_id
from common.streams import Note
from games.territory import events as ev
from games.territory import selectors, viewing
from games.territory.viewing import View
from games.territory.watchers import RENEW_MS, report
from games.territory.watching import WATCHERS

logger = logging.getLogger(__name__)

GATHER_SECONDS = 0.2
"""How long comings and goings are gathered before they are told."""


class LateGame:
    """Lets the events of a game through to its spectators here some time after they happened, until it ends.

    What gets lost, the feed's comparison finds, as everywhere.
    """

    def __init__(self, feed: Feed, game_id: str, version: int) -> None:
        self._feed = feed
        self._stream = viewing.late_stream(game_id)
        self._waiting: deque[Note] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._is_over = False
        self._following: Following | None = None
        self._starting = asyncio.ensure_future(self._start(selectors.stream_of(game_id), version))

    async def _start(self, stream: str, version: int) -> None:
        """From what the first spectator sees: the feed reads what has happened since then."""
        self._following = await self._feed.follow(stream, self._hear)
        self._feed.begin(self._following, version)

    def _hear(self, note: Note) -> None:
        self._waiting.append(Note(self._stream, note.version, note.at, note.payload))
        self._is_over = self._is_over or isinstance(ev.decode(note.payload), ev.GameFinished)
        self._let_through()

    def _let_through(self) -> None:
        """Tell what is old enough, or everything when the game is over; come back for the next."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        old = viewing.newest_visible(now_ms())
        while self._waiting and (self._is_over or self._waiting[0].at <= old):
            self._feed.tell_here([self._waiting.popleft()])
        if self._waiting:
            seconds = (self._waiting[0].at - old) / 1000
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(seconds, self._let_through)

    async def end(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._starting.cancel()
        await asyncio.gather(self._starting, return_exceptions=True)
        if self._following:
            await self._feed.unfollow(self._following)


class Spectators:
    """Who follows which game here without a seat in it: sockets by player."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._process = new_id()
        self._players: dict[str, Counter[int]] = {}
        self._late: dict[str, LateGame] = {}
        self._changed: set[str] = set()
        self._something_changed = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(work) for work in (self._tell(), self._renew())]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for game in self._late.values():
            await game.end()
        if self._players:
            await self._report(dict.fromkeys(self._players, 0))

    def enter(self, view: View, player_id: int, version: int) -> None:
        """A socket of the player follows the game from this version on."""
        if view.is_seated:
            return
        game_id = view.game_id
        players = self._players.setdefault(game_id, Counter())
        players[player_id] += 1
        if players[player_id] == 1:
            self._change(game_id)
        if view.is_late and game_id not in self._late:
            self._late[game_id] = LateGame(self._feed, game_id, version)

    async def leave(self, view: View, player_id: int) -> None:
        """And does not any more."""
        if view.is_seated:
            return
        game_id = view.game_id
        players = self._players[game_id]
        players[player_id] -= 1
        if players[player_id]:
            return
        del players[player_id]
        self._change(game_id)
        if not players:
            del self._players[game_id]
            if late := self._late.pop(game_id, None):
                await late.end()

    def _change(self, game_id: str) -> None:
        self._changed.add(game_id)
        self._something_changed.set()

    async def _tell(self) -> None:
        while True:
            await self._something_changed.wait()
            await asyncio.sleep(GATHER_SECONDS)
            self._something_changed.clear()
            changed, self._changed = self._changed, set()
            await self._report({game: len(self._players.get(game, ())) for game in changed})
            states.touch(*(f"{WATCHERS}:{game}" for game in changed))

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEW_MS / 1000)
            counts = {game: len(players) for game, players in self._players.items()}
            if counts:
                await self._report(counts)

    async def _report(self, counts: dict[str, int]) -> None:
        try:
            await database.aside("spectators", report, self._process, counts, now=now_ms())
        except RedisError as error:
            logger.warning("spectators of %d games not counted: %s", len(counts), error)

"""The games a process knows: a cache of states that may always be thrown away.

A copy is brought up to date by the news that the process hears and, when a command does not fit it, from the event
table. A copy that is behind does no harm: its commit is refused by the version.
"""

import asyncio
from collections import OrderedDict

from common import database
from common.streams import Note
from games.territory import events as ev
from games.territory import selectors
from games.territory import state as st
from games.territory.selectors import Seating

CAPACITY = 10_000
"""Games kept in one process, about 10 kB each; the one that was used longest ago goes first."""


class LiveGame:
    """One game in this process. Hold `lock` while deciding and committing: commands of one game go one by one."""

    __slots__ = ("_news", "lock", "seating", "state")

    def __init__(self, state: st.GameState, seating: Seating) -> None:
        self.state = state
        self.seating = seating
        self.lock = asyncio.Lock()
        self._news: list[Note] = []

    def hear(self, note: Note) -> None:
        """News from another process; folded when it is needed."""
        if note.version > self.state.version:
            self._news.append(note)

    def catch_up(self) -> None:
        """Fold the news that continues the state without a gap."""
        news, self._news = self._news, []
        for note in sorted(news, key=lambda note: note.version):
            if note.version == self.state.version + 1:
                self.state = st.fold(self.state, [(ev.decode(note.payload), note.at)])

    async def reload(self) -> None:
        """Fold everything that the table has and the state has not."""
        missing = await database.in_thread(
            selectors.events_after, self.state.started.game, self.state.version
        )
        self.state = st.fold(self.state, missing)


class LiveGames:
    """The cache. It lives on the event loop."""

    def __init__(self) -> None:
        self._games: OrderedDict[str, LiveGame] = OrderedDict()

    async def get(self, game_id: str) -> LiveGame:
        """The game, loaded if this process did not know it. Raises `UnknownGameError`."""
        live = self._games.get(game_id)
        if live is None:
            loaded = await database.in_thread(_load, game_id)
            # Two callers may have loaded it at once: one copy, and one lock, must win.
            live = self._games.setdefault(game_id, loaded)
            if len(self._games) > CAPACITY:
                self._drop_oldest()
        self._games.move_to_end(game_id)
        return live

    async def state(self, game_id: str, *, current: bool) -> st.GameState:
        """The latest state. `current`: this process has been hearing the game's news, so its copy needs no reading.

        Raises `UnknownGameError`.
        """
        known = game_id in self._games
        live = await self.get(game_id)
        async with live.lock:
            live.catch_up()
            if known and not current:
                await live.reload()
            return live.state

    def hear(self, note: Note) -> None:
        """A listener for the process's feed."""
        prefix, _, game_id = note.stream.partition(":")
        if prefix == selectors.PREFIX and (live := self._games.get(game_id)):
            live.hear(note)

    def clear(self) -> None:
        """Forget all. Who is at one of them goes on with it; its commit is refused if another copy was faster."""
        self._games.clear()

    def _drop_oldest(self) -> None:
        for game_id, live in self._games.items():
            if not live.lock.locked():
                del self._games[game_id]
                return


def _load(game_id: str) -> LiveGame:
    return LiveGame(selectors.load_state(game_id), selectors.seating(game_id))


games = LiveGames()

"""What one socket follows: streams of events, each by its cursor, and state streams, where only the newest counts."""

from collections import deque
from collections.abc import Callable
from typing import Any

from django.conf import settings

from accounts.selectors import Caller
from common import database, states, streams
from common.errors import InvalidError, NotFoundError
from common.feed import Following
from common.state_feed import Watching
from common.states import State
from common.streams import Note
from config import frames, sockets
from games.puzzle import selectors as puzzles
from games.territory import selectors as territory
from games.territory import viewing
from games.territory.services import live
from games.territory.snapshot import snapshot
from games.territory.viewing import View

MAX_SUBSCRIPTIONS = 64
MAX_MISSING = 500
"""With more events missing than this, a subscriber gets a snapshot instead."""


class UnknownStreamError(NotFoundError):
    code = "unknown-stream"
    title = "There is no such stream"


class TooManySubscriptionsError(InvalidError):
    code = "too-many-subscriptions"
    title = "The socket follows too many streams"


class NoCursorError(InvalidError):
    """A state stream has no versions: a client that sends one expects what it will not get."""

    code = "no-cursor"
    title = "A state stream has no versions"


class Outgoing:
    """The frames that wait for a client to read: every event in its order, but of each state only the newest."""

    def __init__(self) -> None:
        self._frames: deque[str | Slot] = deque()
        self._states: dict[str, State] = {}

    def __len__(self) -> int:
        return len(self._frames)

    def append(self, frame: str) -> None:
        self._frames.append(frame)

    def show(self, state: State) -> None:
        """Queue a state in the place of an older one that still waits, so that they never pile up."""
        if state.stream not in self._states:
            self._frames.append(Slot(state.stream))
        self._states[state.stream] = state

    def forget(self, stream: str) -> None:
        """Send no more of a state stream."""
        if self._states.pop(stream, None) is not None:
            self._frames.remove(Slot(stream))

    def pop(self) -> str:
        """The next frame."""
        frame = self._frames.popleft()
        return frame if isinstance(frame, str) else self._states.pop(frame.stream).frame()

    def clear(self) -> None:
        self._frames.clear()
        self._states.clear()


class Slot:
    """The place of a state stream among the frames that wait."""

    __slots__ = ("stream",)

    def __init__(self, stream: str) -> None:
        self.stream = stream

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Slot) and other.stream == self.stream

    def __hash__(self) -> int:
        return hash(self.stream)


class Followings:
    """The streams that a socket follows, by their public names. `relay` is told events, `show` states."""

    def __init__(
        self,
        push: Callable[[str], None],
        relay: Callable[[Note], None],
        show: Callable[[State], None],
        forget: Callable[[str], None],
    ) -> None:
        self._push, self._relay, self._show, self._forget = push, relay, show, forget
        self._all: dict[str, Following | Watching] = {}
        self._views: dict[str, tuple[View, int]] = {}

    async def begin_inbox(self, caller: Caller, version: int) -> None:
        """Follow the caller's inbox after a version that is known."""
        following = await sockets.feed().follow(f"inbox:{caller.player_id}", self._relay)
        self._all["inbox"] = following
        sockets.feed().begin(following, version)

    async def subscribe(self, caller: Caller, name: str, cursor: int | None) -> dict[str, Any]:
        """Follow a stream, from a cursor or from how it is now."""
        if name == "inbox":
            return await self._follow("inbox", f"inbox:{caller.player_id}", cursor)
        if name.startswith("game:"):
            return await self._look_on(caller, name, cursor)
        if name.startswith("run:"):
            await database.in_thread(puzzles.run_of, name.removeprefix("run:"), caller.player_id)
            return await self._follow(name, name, cursor)
        if (kind := states.kind_of(name)) and (own := states.own_name(name, caller.player_id)):
            return await self._watch(caller, name, own, kind, cursor)
        kinds = ", ".join(f"`{prefix}`" for prefix in states.prefixes())
        raise UnknownStreamError(
            f"Streams are `inbox`, `game:<id>` and `run:<id>`, and those of states ({kinds}), not {name!r}."
        )

    async def unsubscribe(self, name: str) -> dict[str, Any]:
        """Follow a stream no more."""
        following = self._all.pop(name, None)
        if name in self._views:
            await sockets.spectators().leave(*self._views.pop(name))
        if isinstance(following, Following):
            await sockets.feed().unfollow(following)
        elif following is not None:
            self._forget(following.stream)
            await sockets.states().unfollow(following)
        return {}

    async def end(self) -> None:
        """The socket is gone."""
        for name in list(self._all):
            await self.unsubscribe(name)

    def _check_room(self, name: str) -> None:
        if name not in self._all and len(self._all) >= MAX_SUBSCRIPTIONS:
            raise TooManySubscriptionsError(f"At most {MAX_SUBSCRIPTIONS} streams a socket.")

    async def _follow(self, name: str, stream: str, cursor: int | None) -> dict[str, Any]:
        """Hold the stream's news back, send what the table has, then let the news through."""
        self._check_room(name)
        current = sockets.feed().hears(stream)
        following = await sockets.feed().follow(stream, self._relay)
        try:
            missing, version = await _missing(name, stream, cursor, current=current)
        except BaseException:
            await sockets.feed().unfollow(following)
            raise
        # Only now: a subscription that fails leaves the old one as it was.
        await self.unsubscribe(name)
        for frame in missing:
            self._push(frame)
        self._all[name] = following
        sockets.feed().begin(following, version)
        return {"version": version}

    async def _look_on(self, caller: Caller, name: str, cursor: int | None) -> dict[str, Any]:
        """Follow a game: with a seat as it is played, without one as spectators see it."""
        game_id = name.partition(":")[2]
        # First: nobody may see a game for a moment that is not theirs to see.
        view = _known_view(game_id, caller.player_id)
        if view is None:
            view = await database.in_thread(viewing.view_of, game_id, caller.player_id)
        followed = await self._follow(name, view.stream, cursor)
        following = self._all[name]
        if view.is_seated and isinstance(following, Following):
            sockets.feed().put_first(following)  # no crowd of spectators keeps a player waiting
        self._views[name] = (view, caller.player_id)
        sockets.spectators().enter(view, caller.player_id, followed["version"])
        return followed

    async def _watch(
        self, caller: Caller, name: str, stream: str, kind: states.Kind, cursor: int | None
    ) -> dict[str, Any]:
        """Show the state now, then every change."""
        if cursor is not None:
            raise NoCursorError(
                f"Subscribe to {name} without a cursor: you get its state as it is."
            )
        if kind.scope:
            caller.require(kind.scope)
        self._check_room(name)
        await database.aside("states", kind.source.admit, stream, caller.player_id)
        watching = await sockets.states().follow(stream, self._show)
        # The old subscription last: its stream stays followed meanwhile, and the new state is in its slot already.
        old = self._all.get(name)
        self._all[name] = watching
        if isinstance(old, Watching):
            await sockets.states().unfollow(old)
        return {}


def _known_view(game_id: str, player_id: int) -> View | None:
    """What a player may see of a game, if this process can tell without asking the database."""
    known = live.games.known(game_id)
    if known is None:
        return None
    public = known.state.started.spectators
    seated = bool(known.seating.seats_of(player_id))
    if seated or (public and not settings.SPECTATOR_DELAY_MS):
        return View(game_id, public, seated, is_late=False)
    return None


async def _missing(
    name: str, stream: str, cursor: int | None, *, current: bool
) -> tuple[list[str], int]:
    """The frames that bring a new follower up to date, and the version that it then has.

    A cursor that is too old, or from another world, is answered with a snapshot, as none is.
    """
    if cursor is not None:
        notes = await database.in_thread(streams.events_after, stream, cursor)
        # What an inbox has no more has gone by its age, and is not missing.
        complete = bool(notes) and (notes[0].version == cursor + 1 or name == "inbox")
        if complete and len(notes) <= MAX_MISSING:
            return [note.frame() for note in notes], notes[-1].version
        if (
            cursor > 0
            and not notes
            and cursor == await database.in_thread(streams.version_of, stream)
        ):
            return [], cursor
    if name == "inbox":
        return [], await database.in_thread(streams.version_of, stream)
    view = await _snapshot(stream, current=current)
    frame = {"type": "snapshot", "stream": name, "version": view.version, "snapshot": view}
    return [frames.encode(frame)], view.version


async def _snapshot(stream: str, *, current: bool) -> Any:
    prefix, _, stream_id = stream.partition(":")
    if prefix == puzzles.PREFIX:
        return await database.in_thread(puzzles.load_snapshot, stream_id)
    if prefix == viewing.LATE:
        notes = await database.in_thread(streams.events_after, stream, 0)
        return snapshot(territory.state_after(notes, None))
    return snapshot(await live.games.state(stream_id, current=current))

"""A game as one viewer sees it: players at once, spectators of a rated game late, if the site has set a delay.

The late view is what the events show that are old enough, so snapshots, cursors and events fit together as always.
When the game is over there is no delay any more. Nothing here changes anything.
"""

from collections.abc import Collection
from dataclasses import dataclass

from django.conf import settings

from common import database, streams
from common.clock import now_ms
from common.ids import is_id
from common.streams import Note
from games.territory import events as ev
from games.territory import selectors
from games.territory import state as st
from games.territory.errors import SpectatorsRefusedError, UnknownGameError

LATE = "late"
"""The prefix of a game's stream as spectators see it; on the wire it is the game's."""

STANDING = """
SELECT g.spectators, g.rated AND g.status = 'started',
    EXISTS (SELECT FROM territory_seat s WHERE s.game_id = g.id AND s.player_id = %s)
FROM territory_game g WHERE g.id = %s
"""

# Up to the event before the first one that is too young; the first event is always there.
VISIBLE = """
CASE WHEN g.status <> 'started' OR NOT g.rated THEN g.version
ELSE greatest(1, coalesce((
    SELECT min(young.version) - 1 FROM territory_event young WHERE young.game_id = g.id AND young.at > %s
), g.version)) END
"""
LATE_EVENTS = f"""
SELECT e.version, e.at, e.payload
FROM (SELECT g.id, {VISIBLE} AS visible FROM territory_game g WHERE g.id = %s) shown
JOIN territory_event e ON e.game_id = shown.id AND e.version > %s AND e.version <= shown.visible
ORDER BY e.version
"""  # noqa: S608  # made of constants
LATE_VERSIONS = f"SELECT g.id, {VISIBLE} FROM territory_game g WHERE g.id = ANY(%s)"  # noqa: S608


def late_stream(game_id: str) -> str:
    """The name, on this side, of a game's stream as spectators see it."""
    return f"{LATE}:{game_id}"


def newest_visible(now: int) -> int:
    """The instant of the youngest event that spectators see (milliseconds)."""
    return now - int(settings.SPECTATOR_DELAY_MS)


class LateStreams:
    """The late streams of games, for the feed."""

    def events_after(self, stream: str, cursor: int) -> list[Note]:
        game_id = stream.partition(":")[2]
        if not is_id(game_id):
            return []
        wanted = [newest_visible(now_ms()), game_id, min(cursor, selectors.MAX_VERSION)]
        return [Note(stream, *row) for row in database.prepared(LATE_EVENTS, wanted)]

    def versions(self, streams: Collection[str]) -> dict[str, int]:
        ids = [game_id for stream in streams if is_id(game_id := stream.partition(":")[2])]
        rows = database.prepared(LATE_VERSIONS, [newest_visible(now_ms()), ids])
        return {late_stream(game_id): version for game_id, version in rows}


def register_streams() -> None:
    streams.register(LATE, LateStreams(), shown_as=selectors.PREFIX)


@dataclass(frozen=True, slots=True)
class View:
    """What somebody may see of a game."""

    game_id: str
    is_public: bool
    """Whether everybody may see it."""
    is_seated: bool
    is_late: bool

    @property
    def stream(self) -> str:
        """The stream that shows it."""
        return late_stream(self.game_id) if self.is_late else selectors.stream_of(self.game_id)


def view_of(game_id: str, player_id: int | None) -> View:
    """What a player, or somebody who did not say who they are, may see of a game.

    Raises `UnknownGameError`, and `SpectatorsRefusedError` where only its players may read it.
    """
    view = _view(game_id, player_id)
    if not (view.is_public or view.is_seated):
        raise SpectatorsRefusedError
    return view


def spectators_view(game_id: str) -> View:
    """What is served to all alike, once it is known that the caller may read the game. Raises `UnknownGameError`."""
    return _view(game_id, None)


def _view(game_id: str, player_id: int | None) -> View:
    rows = database.prepared(STANDING, [player_id, game_id]) if is_id(game_id) else []
    if not rows:
        raise UnknownGameError
    ((public, live_and_rated, seated),) = rows
    late = live_and_rated and not seated and settings.SPECTATOR_DELAY_MS > 0
    return View(game_id, public, seated, late)


def notes_after(view: View, cursor: int) -> list[Note]:
    """The events after a version that the viewer may see, in order."""
    return streams.events_after(view.stream, cursor)


def state(view: View) -> st.GameState:
    """The game as the viewer may see it."""
    return selectors.state_after(notes_after(view, 0), None)


def ended(view: View) -> selectors.Ended:
    """A game that is over. Raises `NotFinishedError` with the version that the viewer sees."""
    return selectors.ended([(ev.decode(note.payload), note.at) for note in notes_after(view, 0)])

"""The state stream `presence:<game>`: who of a game's players is connected, since when others are away.

Everybody who is signed in may follow it, as they may the game. It is null when the game is over.
"""

from collections import OrderedDict
from collections.abc import Collection
from threading import Lock
from typing import Any

import redis
from msgspec import Struct

from accounts.selectors import presence
from common import states
from common.clock import now_ms, rfc3339
from common.errors import UnavailableError
from games.territory import leaving, selectors, viewing
from games.territory import state as st
from games.territory.selectors import Seating
from games.territory.state import GameState

PREFIX = "presence"
CAPACITY = 300
"""Games that are kept folded, so that a comparison reads new events only."""


class SeatPresence(Struct, frozen=True):
    """`away_since` is null for who is connected, or was never in this game. From `claimable_at` on others may claim."""

    seat: int
    online: bool
    away_since: str | None
    claimable_at: str | None


class PresenceView(Struct, frozen=True):
    game: str
    seats: list[SeatPresence]


def stream_of(game_id: str) -> str:
    """The name of a game's state stream."""
    return f"{PREFIX}:{game_id}"


class PresenceStates:
    """The owner of these streams."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[GameState, Seating]] = OrderedDict()
        self._lock = Lock()

    def admit(self, stream: str, player_id: int) -> None:
        """Raises `UnknownGameError`, `SpectatorsRefusedError`."""
        viewing.view_of(stream.partition(":")[2], player_id)

    def current(self, streams: Collection[str]) -> dict[str, Any]:
        live = selectors.live_games([stream.partition(":")[2] for stream in streams])
        games = [self._game(game_id, version) for game_id, version in live.items()]
        players = {player for _, seating in games for player in seating.people}
        away = presence.away_since(players, now_ms())
        return {
            stream_of(state.started.game): view_of(state, seating, away) for state, seating in games
        }

    def _game(self, game_id: str, version: int) -> tuple[GameState, Seating]:
        with self._lock:
            known = self._known.get(game_id)
        if known is None:
            known = selectors.load_state(game_id), selectors.seating(game_id)
        elif known[0].version < version:
            missing = selectors.events_after(game_id, known[0].version)
            known = st.fold(known[0], missing), known[1]
        with self._lock:
            self._known[game_id] = known
            self._known.move_to_end(game_id)
            if len(self._known) > CAPACITY:
                self._known.popitem(last=False)
        return known


def presence_of(game_id: str) -> PresenceView:
    """The same for one game, by REST. Raises `UnknownGameError`; `UnavailableError` while Redis is away."""
    state, seating = selectors.load_state(game_id), selectors.seating(game_id)
    try:
        away = presence.away_since(seating.people, now_ms())
    except redis.RedisError as error:
        raise UnavailableError("Who is connected is not known just now; ask again.") from error
    return view_of(state, seating, away)


def view_of(state: GameState, seating: Seating, away: dict[int, int]) -> PresenceView:
    """What is shown of a game, when it is known since when players are away (0: only that they are)."""
    return PresenceView(
        state.started.game,
        [_seat(state, seating, seat, away) for seat in range(len(seating.players))],
    )


def _seat(state: GameState, seating: Seating, seat: int, away: dict[int, int]) -> SeatPresence:
    player = seating.players[seat]
    if seating.levels[seat] or player not in away:
        return SeatPresence(seat, online=True, away_since=None, claimable_at=None)
    since, needed = leaving.away_from(state, seat, away[player]), leaving.claimable(state, seat)
    return SeatPresence(
        seat,
        online=False,
        away_since=None if since is None else rfc3339(since),
        claimable_at=None if since is None or needed is None else rfc3339(since + needed),
    )


def register_states() -> None:
    states.register(PREFIX, PresenceStates())

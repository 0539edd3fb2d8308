"""The state streams of those who look on: `watchers:<game>`, how many they are."""

from collections.abc import Collection
from typing import Any

from msgspec import Struct

from common import states
from common.clock import now_ms
from games.territory import viewing
from games.territory.watchers import watchers

WATCHERS = "watchers"


class WatchersState(Struct, frozen=True):
    """How many follow a game without a seat in it. A player with several devices may count more than once."""

    game: str
    count: int


class WatchersStreams:
    """The owner of `watchers:<game>`."""

    def admit(self, stream: str, player_id: int) -> None:
        viewing.view_of(stream.partition(":")[2], player_id)

    def current(self, streams: Collection[str]) -> dict[str, Any]:
        games = {stream: stream.partition(":")[2] for stream in streams}
        counts = watchers(list(games.values()), now=now_ms())
        return {stream: WatchersState(game, counts[game]) for stream, game in games.items()}


def register_streams() -> None:
    states.register(WATCHERS, WatchersStreams())

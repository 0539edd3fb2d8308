"""The state streams of those who look on: how many they are, and which game is featured."""

import logging
from collections.abc import Collection
from typing import Any

import redis
from msgspec import Struct

from common import states
from common.clock import now_ms
from common.redis import by_client
from games.territory import listing, rules, viewing
from games.territory.errors import UnknownVariantError
from games.territory.featured import Candidate, choose
from games.territory.listing import LiveGameView
from games.territory.watchers import watchers

logger = logging.getLogger(__name__)

WATCHERS = "watchers"
FEATURED = "featured"
CANDIDATES = 50
"""So many of the strongest games may be featured next."""

KEEP = """
if (redis.call('GET', KEYS[1]) or '') == ARGV[1] then redis.call('SET', KEYS[1], ARGV[2]) end
return redis.call('GET', KEYS[1])
"""
"""Let one game follow another, unless a process was first; which one is featured then."""


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


class FeaturedState(Struct, frozen=True):
    """The game that is worth watching now; null while no rated game is being played."""

    game: LiveGameView | None


class FeaturedStreams:
    """The owner of `featured` and `featured:<variant>`.

    Which one it is stands in Redis, so that all processes show the same and a stronger game that begins does not
    push it away. If Redis loses it, the choice is made anew.
    """

    def admit(self, stream: str, player_id: int) -> None:
        variant = stream.partition(":")[2]
        if stream != FEATURED and variant not in rules.VARIANTS:
            raise UnknownVariantError(f"Variants are {', '.join(sorted(rules.VARIANTS))}.")

    def current(self, streams: Collection[str]) -> dict[str, Any]:
        kept = featured_now(streams)
        live = listing.still_live({game for game in kept.values() if game})
        return {
            stream: FeaturedState(live.get(kept[stream]) or _follow(stream, kept[stream]))
            for stream in streams
        }


def featured_now(streams: Collection[str]) -> dict[str, str]:
    """The game that each of these streams shows, as far as Redis knows; it may be over. Empty for none."""
    found = dict.fromkeys(streams, "")
    for client, names in by_client(streams, stream=str):
        try:
            games: Any = client.mget([_key(name) for name in names])
        except redis.RedisError as error:
            logger.warning("which games are featured is not known: %s", error)
            continue
        found.update(zip(names, (game.decode() if game else "" for game in games), strict=True))
    return found


def _key(stream: str) -> str:
    return f"kado-{stream}"


def _follow(stream: str, before: str) -> LiveGameView | None:
    """Choose the game that follows the one `before`."""
    variant = stream.partition(":")[2] or None
    page = listing.live_games(variant=variant, rated=True, limit=CANDIDATES)
    views = {view.game: view for view in page.games}
    chosen = choose(
        Candidate(view.game, view.strength, view.started_at, view.watchers)
        for view in views.values()
    )
    if chosen is None:
        return None
    for client, _ in by_client([stream], stream=str):
        try:
            now: Any = client.eval(KEEP, 1, _key(stream), before, chosen)
            chosen = now.decode() if now else chosen
        except redis.RedisError as error:
            logger.warning("which game is featured is not kept: %s", error)
    return views.get(chosen) or listing.still_live([chosen]).get(chosen)


def tell_of_ends(game_ids: Collection[str]) -> None:
    """Let what follows the featured games among these be shown at once."""
    streams = [FEATURED, *(f"{FEATURED}:{variant}" for variant in rules.VARIANTS)]
    over = [stream for stream, game in featured_now(streams).items() if game in game_ids]
    if over:
        states.touch(*over)


def register_streams() -> None:
    states.register(WATCHERS, WatchersStreams())
    states.register(FEATURED, FeaturedStreams())

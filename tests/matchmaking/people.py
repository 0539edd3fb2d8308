"""Players and pools for the matchmaking tests, and what must be true of them."""

import threading
from collections import Counter
from collections.abc import Callable

from django.core.management import call_command
from django.db import connections
from redis import Redis

from accounts.services.people import create_player
from games.territory.models import Engagement, Game, Seat
from matchmaking import selectors

NOW = 1_800_000_000_000
BLITZ, RAPID, CASUAL = "duo-blitz", "duo-rapid", "duo-blitz-casual"
LETTERS, THREE, FOUR = "duo-correspondence", "classic-3-rapid", "classic-rapid"


def seed() -> None:
    """The seeded pools, known to this process."""
    call_command("seed_pools", verbosity=0)
    selectors.forget_pools()


def registered(count: int, prefix: str = "Player") -> list[int]:
    """The ids of so many new players."""
    return [create_player(name=f"{prefix}{number}").pk for number in range(count)]


def at_once(count: int, work: Callable[[int], None]) -> None:
    """Run `work` in threads that start together, each giving its connection back; a failure fails the test."""
    barrier = threading.Barrier(count)
    failures: list[BaseException] = []

    def run(number: int) -> None:
        barrier.wait()
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001  # raised below
            failures.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


def assert_one_game_each(players: list[int], size: int = 2) -> None:
    """Everybody has exactly one game, every game has exactly `size` seats, and engagements say the same."""
    seats = list(Seat.objects.values_list("game_id", "player_id"))
    assert Counter(player for _, player in seats) == dict.fromkeys(players, 1)
    assert set(Counter(game for game, _ in seats).values()) == {size}
    assert Game.objects.count() == len(players) // size
    assert dict(Engagement.objects.values_list("player_id", "game_id")) == {
        player: game for game, player in seats
    }


def states(redis: Redis, player: int) -> list[str]:
    """Where the store keeps a player's ticket; never more than one place."""
    places = [
        pool
        for pool in (BLITZ, RAPID, CASUAL, LETTERS, THREE, FOUR)
        if redis.zscore(f"{{mm}}waiting:{pool}", player) is not None
    ]
    if redis.hexists("{mm}claimed", str(player)):
        places.append("claimed")
    assert len(places) == redis.hexists("{mm}tickets", str(player))
    return places

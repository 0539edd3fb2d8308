"""Players, games and their tables for the tests of the services."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import connection, connections, transaction

from accounts.services.people import create_player
from common.clock import now_ms
from games.territory import decide as de
from games.territory import journal, selectors
from games.territory import state as st
from games.territory.rules import TimeControl
from games.territory.services.play import entry_for
from games.territory.services.start import SeatPlan, start_game
from tests.games.territory.support import BLITZ, assert_stream_tells_all, next_move, view

T = TypeVar("T")


def registered(count: int, prefix: str = "Player") -> list[int]:
    """The ids of so many new players."""
    return [create_player(name=f"{prefix}{number}").pk for number in range(count)]


def started(
    players: Sequence[int],
    *,
    variant: str = "duo",
    control: TimeControl = BLITZ,
    rated: bool = True,
    matched: bool = True,
    levels: Sequence[str] = (),
    now: int | None = None,
) -> str:
    """The id of a new game between these players, committed."""
    levels = levels or [""] * len(players)
    with transaction.atomic():
        return start_game(
            variant=variant,
            time_control=control,
            seats=[SeatPlan(player, level) for player, level in zip(players, levels, strict=True)],
            rated=rated,
            pool="duo-blitz" if matched else None,
            matched=matched,
            now=now_ms() if now is None else now,
        )


def at_once(count: int, work: Callable[[int], T]) -> list[T | BaseException]:
    """What `work` gave or raised, in threads that start together, each giving its connection back."""
    barrier = threading.Barrier(count)

    def run(number: int) -> T | BaseException:
        barrier.wait()
        try:
            return work(number)
        except Exception as error:  # noqa: BLE001  # the test looks at it
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def assert_record_is_whole(game_id: str) -> st.GameState:
    """I1 and I5 for one game: versions without gap or double, and every cut of them leads to the fresh snapshot."""
    notes = selectors.notes_after(game_id, 0)
    state = selectors.load_state(game_id)
    assert_stream_tells_all(notes, view(state))
    assert selectors.version_of(game_id) == state.version == len(notes)
    return state


def rows(statement: str, *parameters: str | int) -> list[tuple[object, ...]]:
    """The rows of one SQL query."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


def commit(game_id: str, command: de.Command, now: int) -> de.Decision:
    """What another process does: decide on what the table says, and write it; nobody here is told."""
    before = selectors.load_state(game_id)
    decision = de.decide(before, command, now)
    entry = entry_for(before, selectors.seating(game_id), decision, now)
    assert journal.append([entry]) == {game_id}
    return decision


def commit_moves(game_id: str, count: int, *, now: int, every: int = 100) -> st.GameState:
    """So many moves by another process, the first one at `now`."""
    for number in range(count):
        state = selectors.load_state(game_id)
        commit(game_id, next_move(state), now + number * every)
    return selectors.load_state(game_id)

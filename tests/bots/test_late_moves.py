"""A CPU's move that comes late: the game was taken back while the engine thought."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from accounts.services.people import cpu_player
from bots import tasks
from bots.engine import choose
from common.clock import now_ms
from common.database import wait
from games.territory import decide as de
from games.territory import selectors, signals
from games.territory.rules import Move, Position
from games.territory.services.play import play_move, undo
from tests.games.territory.support import NO_CLOCK
from tests.games.territory.tables import assert_record_is_whole, commit, registered, started

pytestmark = pytest.mark.django_db(transaction=True)
FIRST, OTHER = "e10", "e10,e11"


@pytest.fixture
def asked() -> Iterator[list[int]]:
    """The versions at which a CPU's move was asked for."""
    heard: list[int] = []

    def hear(version: int, **_: Any) -> None:
        heard.append(version)

    signals.turn_started.connect(hear)
    yield heard
    signals.turn_started.disconnect(hear)


@pytest.fixture
def player() -> int:
    return registered(1)[0]


@pytest.fixture
def game(player: int) -> str:
    """The player has moved, and the CPU is to move at ply 1."""
    players = [player, cpu_player("starter").pk]
    game = started(players, levels=["", "starter"], control=NO_CLOCK, rated=False, matched=False)
    wait(play_move(game_id=game, player_id=player, ply=0, move=FIRST))
    return game


def thinking(monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[], Any]) -> None:
    """The engine thinks, something happens, and it answers for the position that it was given."""

    def slowly(level: str, position: Position, random: Random, effort: float = 1.0) -> Move:
        monkeypatch.setattr(tasks, "choose", choose)
        move = choose(level, position, random)
        meanwhile()
        return move

    monkeypatch.setattr(tasks, "choose", slowly)


@pytest.mark.parametrize("again", [FIRST, OTHER, ""])
@pytest.mark.parametrize("here", [False, True])
def test_undo_while_the_engine_thinks(
    game: str,
    player: int,
    asked: list[int],
    monkeypatch: pytest.MonkeyPatch,
    again: str,
    *,
    here: bool,
) -> None:
    """Its late answer is refused, also when the same ply is to be played again, and a new task is made."""

    def meanwhile() -> None:
        if here:
            wait(undo(game_id=game, player_id=player, ply=1))
        else:
            commit(game, de.Undo(1), now_ms())
        if again:
            wait(play_move(game_id=game, player_id=player, ply=0, move=again))

    thinking(monkeypatch, meanwhile)
    tasks.choose_move(game, 2)
    state = assert_record_is_whole(game)
    assert [played.move.text for played in state.plies] == ([again] if again else [])
    if not again:
        wait(play_move(game_id=game, player_id=player, ply=0, move=OTHER))
    _until(lambda: asked[-1:] == [4])
    tasks.choose_move(game, 4)
    tasks.choose_move(game, 2)
    state = assert_record_is_whole(game)
    assert [played.seat for played in state.plies] == [0, 1]
    assert selectors.version_of(game) == 5


def _until(test: Callable[[], bool], seconds: float = 10.0) -> None:
    import time

    deadline = time.monotonic() + seconds
    while not test():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_task_from_before_an_undo_does_not_even_think(
    game: str, player: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait(undo(game_id=game, player_id=player, ply=1))
    wait(play_move(game_id=game, player_id=player, ply=0, move=OTHER))
    thought: list[int] = []
    thinking(monkeypatch, lambda: thought.append(1))
    tasks.choose_move(game, 2)
    assert (selectors.version_of(game), thought) == (4, [])
    tasks.choose_move(game, 4)
    assert (selectors.version_of(game), thought) == (5, [1])

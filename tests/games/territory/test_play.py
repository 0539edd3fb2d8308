"""Playing: whole games, the same thing said often, everybody at once, and copies that are behind."""

import asyncio
import random
from typing import Any

import pytest
from django.db import transaction

from common.clock import now_ms
from common.database import wait
from common.errors import KadoError
from games.territory import decide as de
from games.territory import selectors
from games.territory import state as st
from games.territory.errors import (
    EngagedError,
    GameOverError,
    IllegalMoveError,
    MalformedMoveError,
    NotSeatedError,
    NotYourTurnError,
    SeatsError,
    StalePlyError,
    TooLateError,
    UnknownGameError,
    UnknownVariantError,
)
from games.territory.models import Engagement, Event, Game, Seat
from games.territory.rules import TimeControl
from games.territory.services.live import games
from games.territory.services.play import Receipt, check_clock, play_move, resign
from games.territory.services.start import SeatPlan, start_game
from tests.games.territory.support import BLITZ, NO_CLOCK, a_move, begin
from tests.games.territory.tables import (
    assert_record_is_whole,
    at_once,
    commit,
    commit_moves,
    registered,
    started,
)

pytestmark = pytest.mark.django_db(transaction=True)


def play(game: str, player: int, ply: int, move: str) -> int:
    return wait(play_move(game_id=game, player_id=player, ply=ply, move=move)).version


def play_out(game: str, seed: int = 1) -> st.GameState:
    """Play by chance to the end."""
    chance = random.Random(seed)
    state, seating = selectors.load_state(game), selectors.seating(game)
    while not state.is_over:
        seat = state.position.seat_to_move
        assert seat is not None
        before = state.version
        assert play(game, seating.players[seat], state.ply, a_move(state, chance)) == before + 1
        state = wait(games.get(game)).state
    return state


# Games


@pytest.mark.parametrize("variant", ["duo", "classic-3"])
def test_a_whole_game(variant: str) -> None:
    players = registered(3 if variant == "classic-3" else 2)
    game = started(players, variant=variant)
    state = play_out(game)
    assert assert_record_is_whole(game) == state
    row = Game.objects.get(id=game)
    assert (row.status, row.termination, row.version) == ("finished", "completed", state.version)
    assert row.finished_at is not None


def test_a_game_on_one_device() -> None:
    """One player has all the seats: whose turn it is, moves."""
    (player,) = registered(1)
    game = started([player, player], control=NO_CLOCK, rated=False, matched=False)
    play_out(game)
    assert_record_is_whole(game)


def test_resigning_ends_a_game_of_two() -> None:
    one, two = registered(2)
    game = started([one, two])
    assert wait(resign(game_id=game, player_id=two)).version == 2
    state = assert_record_is_whole(game)
    assert state.outcome is not None
    assert [seat.rank for seat in state.outcome.seats] == [1, 2]
    with pytest.raises(GameOverError):
        wait(resign(game_id=game, player_id=one))


def test_a_resignation_said_twice_gives_up_one_seat() -> None:
    """Somebody with several seats names the seat; who names none gives up the one to move."""
    (one,) = registered(1)
    game = started([one] * 4, variant="classic", rated=False, matched=False)
    wait(resign(game_id=game, player_id=one, seat=2))
    with pytest.raises(GameOverError):
        wait(resign(game_id=game, player_id=one, seat=2))
    wait(resign(game_id=game, player_id=one))
    assert [seat for seat, _ in selectors.load_state(game).leavers] == [2, 0]
    with pytest.raises(NotSeatedError):
        wait(resign(game_id=game, player_id=one, seat=7))
    assert_record_is_whole(game)


# The same thing often


def test_the_same_move_twenty_times_at_once() -> None:
    one, two = registered(2)
    game = started([one, two])
    move = a_move(selectors.load_state(game))
    assert at_once(20, lambda _: play(game, one, 0, move)) == [2] * 20
    assert Event.objects.filter(game=game).count() == 2
    assert play(game, two, 1, a_move(selectors.load_state(game))) == 3
    assert play(game, one, 0, move) == 2, "and later still"


def test_twenty_different_moves_at_once() -> None:
    one, two = registered(2)
    game = started([one, two])
    moves = [move.text for move in list(selectors.load_state(game).position.legal())[:20]]
    results = at_once(20, lambda number: play(game, one, 0, moves[number]))
    assert results.count(2) == 1
    assert sum(isinstance(result, StalePlyError) for result in results) == 19
    state = assert_record_is_whole(game)
    assert state.plies[0].move.text == moves[results.index(2)]


def test_both_players_at_once() -> None:
    one, two = registered(2)
    game = started([one, two])
    state = selectors.load_state(game)
    first = a_move(state)
    move_two = next(iter(state.position.legal(1))).text
    for _ in range(3):
        results = at_once(2, lambda n: play(game, [one, two][n], 0, [first, move_two][n]))
        assert results[0] == 2
        assert isinstance(results[1], NotYourTurnError | StalePlyError)
    assert selectors.version_of(game) == 2


def test_twenty_resignations_at_once() -> None:
    one, two = registered(2)
    game = started([one, two])
    results = at_once(
        20, lambda number: wait(resign(game_id=game, player_id=[one, two][number % 2]))
    )
    assert results.count(Receipt(2)) == 1
    assert all(isinstance(r, GameOverError) for r in results if not isinstance(r, Receipt))
    assert selectors.version_of(game) == 3
    assert_record_is_whole(game)


# Refusals


def test_refusals_change_nothing() -> None:
    one, two, stranger = registered(3)
    game = started([one, two])
    move = a_move(selectors.load_state(game))
    for error, arguments in [
        (UnknownGameError, ("NoSuchGame00", one, 0, move)),
        (UnknownGameError, ("", one, 0, move)),
        (UnknownGameError, ("x" * 500, one, 0, move)),
        (UnknownGameError, ("a\x00b", one, 0, move)),
        (NotSeatedError, (game, stranger, 0, move)),
        (NotYourTurnError, (game, two, 0, move)),
        (StalePlyError, (game, one, 1, move)),
        (StalePlyError, (game, one, 10**30, move)),
        (StalePlyError, (game, one, -1, move)),
        (MalformedMoveError, (game, one, 0, "")),
        (MalformedMoveError, (game, one, 0, "e10" * 5_000)),
        (IllegalMoveError, (game, one, 0, "a1")),
    ]:
        with pytest.raises(error):
            play(*arguments)
    assert selectors.version_of(game) == 1
    assert Event.objects.count() == 1


def test_a_move_after_the_deadline_is_refused_and_ends_the_game() -> None:
    one, two = registered(2)
    past = now_ms() - 300_000
    game = started([one, two], now=past)
    commit_moves(game, 2, now=past + 1_000)
    move = a_move(selectors.load_state(game))
    with pytest.raises(TooLateError) as refused:
        play(game, one, 2, move)
    assert refused.value.data["version"] == 3
    state = assert_record_is_whole(game)
    assert state.outcome is not None
    assert state.outcome.termination == "timeout"
    assert [seat.rank for seat in state.outcome.seats] == [2, 1]
    with pytest.raises(GameOverError):
        play(game, one, 2, move)


def test_a_move_and_the_clock_at_the_same_moment() -> None:
    """Whatever order the two commit in: a move or the end of the game, never both and never neither."""
    one, two = registered(2)
    for number in range(8):
        control = TimeControl.realtime(5_000 + 4 * number)
        game = started([one, two], control=control, now=now_ms() - 5_000, matched=False)
        move = a_move(selectors.load_state(game))

        def act(n: int, game: str = game, move: str = move) -> Any:
            return play(game, one, 0, move) if n else wait(check_clock(game_id=game))

        at_once(2, act)
        state = assert_record_is_whole(game)
        assert (len(state.plies) == 1) != (state.outcome is not None)


def test_the_clock_is_not_up() -> None:
    one, two = registered(2)
    game = started([one, two])
    assert wait(check_clock(game_id=game)).version == 1
    assert selectors.version_of(game) == 1


# Copies that are behind


def test_a_copy_that_is_behind_catches_up() -> None:
    one, two = registered(2)
    game = started([one, two])
    assert wait(games.get(game)).state.version == 1
    state = commit_moves(game, 2, now=now_ms())
    assert wait(games.get(game)).state.version == 1, "nobody told this process"
    assert play(game, one, 2, a_move(state)) == 4
    assert_record_is_whole(game)


def test_a_copy_that_is_behind_refuses_nothing_that_is_right() -> None:
    one, two = registered(2)
    game = started([one, two])
    wait(games.get(game))
    state = commit_moves(game, 1, now=now_ms())
    assert play(game, two, 1, a_move(state)) == 3
    state = commit_moves(game, 1, now=now_ms())
    with pytest.raises(StalePlyError) as refused:
        play(game, one, 2, "a1,a2")
    assert refused.value.data == {"version": 4, "ply": 3}


def test_a_move_said_again_to_a_copy_that_is_behind() -> None:
    one, two = registered(2)
    game = started([one, two])
    wait(games.get(game))
    move = a_move(selectors.load_state(game))
    commit(game, de.PlayMove(0, 0, move), now_ms())
    assert play(game, one, 0, move) == 2
    assert selectors.version_of(game) == 2


def test_a_copy_that_thinks_the_game_goes_on() -> None:
    one, two = registered(2)
    game = started([one, two])
    wait(games.get(game))
    commit(game, de.Resign(1), now_ms())
    with pytest.raises(GameOverError):
        play(game, one, 0, a_move(begin()))
    with pytest.raises(GameOverError):
        wait(resign(game_id=game, player_id=one))


def test_news_without_a_gap_are_folded_and_others_wait_for_the_table() -> None:
    one, two = registered(2)
    game = started([one, two])
    live = wait(games.get(game))
    commit_moves(game, 4, now=now_ms())
    notes = selectors.notes_after(game, 1)

    async def hear() -> list[int]:
        seen = []
        for note in (notes[1], notes[0], notes[0], notes[3]):
            games.hear(note)
        async with live.lock:
            live.catch_up()
            seen.append(live.state.version)
            await live.reload()
            seen.append(live.state.version)
            live.catch_up()
            seen.append(live.state.version)
        return seen

    assert wait(hear()) == [3, 5, 5]
    assert live.state == selectors.load_state(game)


def test_two_processes_play_one_game_by_turns() -> None:
    """Every other move is committed behind this process's back."""
    one, two = registered(2)
    game = started([one, two])
    chance = random.Random(3)
    state = selectors.load_state(game)
    while not state.is_over and state.ply < 20:
        seat = state.position.seat_to_move
        assert seat is not None
        if chance.random() < 0.5:
            commit(game, de.PlayMove(seat, state.ply, a_move(state, chance)), now_ms())
        else:
            play(game, [one, two][seat], state.ply, a_move(state, chance))
        state = assert_record_is_whole(game)


def test_loading_a_game_at_once_gives_one_copy() -> None:
    game = started(registered(2))

    async def all_at_once() -> int:
        return len(set(map(id, await asyncio.gather(*(games.get(game) for _ in range(10))))))

    assert wait(all_at_once()) == 1


# Starting


def start(players: list[int], **changes: Any) -> str:
    arguments: dict[str, Any] = {
        "variant": "duo",
        "time_control": BLITZ,
        "seats": [SeatPlan(player) for player in players],
        "rated": True,
        "pool": "duo-blitz",
        "matched": True,
        "now": now_ms(),
    }
    with transaction.atomic():
        return start_game(**{**arguments, **changes})


def test_a_game_has_exactly_the_seats_of_its_variant() -> None:
    players = registered(4)
    for count in (0, 1, 3, 4):
        with pytest.raises(SeatsError):
            start(players[:count])
    with pytest.raises(UnknownVariantError):
        start(players[:2], variant="trigo")
    assert not Game.objects.exists()
    game = start(players, variant="classic")
    assert list(Seat.objects.filter(game=game).values_list("index", "player_id")) == list(
        enumerate(players)
    )


def test_nobody_is_in_two_matched_games() -> None:
    one, two, three = registered(3)
    game = start([one, two])
    with pytest.raises(EngagedError) as refused:
        start([three, two])
    assert refused.value.player_ids == frozenset({two})
    assert refused.value.data["game"] == game
    assert Game.objects.count() == 1
    start([two, three], matched=False)  # a casual game is another matter


def test_matched_twice_at_the_same_moment() -> None:
    """Fifteen threads arrange games among six players: nobody is in two, everybody else hears why."""
    players = registered(6)
    chance = random.Random(5)
    pairs = [chance.sample(players, 2) for _ in range(15)]
    results = at_once(15, lambda number: start(pairs[number]))
    made = [result for result in results if isinstance(result, str)]
    assert made
    assert all(isinstance(result, str | EngagedError) for result in results), results
    seated = list(Seat.objects.values_list("player_id", flat=True))
    assert len(seated) == len(set(seated)) == 2 * len(made)
    assert sorted(seated) == sorted(Engagement.objects.values_list("player_id", flat=True))
    assert Game.objects.count() == Event.objects.count() == len(made)


def test_every_refusal_has_a_code_of_its_own() -> None:
    from games.territory import errors

    classes = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, KadoError)]
    own = [e.code for e in classes if e.__module__ == errors.__name__]
    assert len(own) == len(set(own)) >= 10

"""Taking moves back: by the service, at once with others, and after the end, while the game is being settled."""

import asyncio
import json
import threading
from typing import Any

import pytest
from django.db import connection, transaction

from accounts.services.people import cpu_player
from common import streams
from common.clock import now_ms
from common.database import wait
from games.territory import decide as de
from games.territory import journal, lag, selectors
from games.territory import state as st
from games.territory.errors import (
    GameOverError,
    NothingToUndoError,
    NotSeatedError,
    StalePlyError,
    UndoNotAllowedError,
    UnknownGameError,
)
from games.territory.models import Event, Game, Seat
from games.territory.services.live import games
from games.territory.services.play import Receipt, play_move, resign, undo
from games.territory.services.settle import settle
from games.territory.services.sweep import SETTLE_GRACE_MS, Swept, sweep
from games.territory.state import FIRST_MOVE_MS, IDLE_MS
from tests.games.territory.support import BLITZ, NO_CLOCK, a_move
from tests.games.territory.tables import (
    assert_record_is_whole,
    at_once,
    commit,
    commit_moves,
    registered,
    rows,
    started,
)

pytestmark = pytest.mark.django_db(transaction=True)


def alone(*levels: str, variant: str = "duo", now: int | None = None, **more: Any) -> str:
    """A new game of one player, who has every seat without a level."""
    (player,) = registered(1)
    players = [cpu_player(level).pk if level else player for level in levels]
    more = {"control": NO_CLOCK, **more}
    return started(
        players, variant=variant, levels=levels, rated=False, matched=False, now=now, **more
    )


def person_of(game: str) -> int:
    seating = selectors.seating(game)
    return next(p for p, level in zip(seating.players, seating.levels, strict=True) if not level)


def take_back(game: str, ply: int, player: int | None = None) -> int:
    return wait(undo(game_id=game, player_id=player or person_of(game), ply=ply)).version


def play_to_the_end(game: str) -> st.GameState:
    state = selectors.load_state(game)
    while not state.is_over:
        state = commit_moves(game, 1, now=now_ms())
    return state


def inbox_of(player: int) -> list[dict[str, object]]:
    return [json.loads(note.payload) for note in streams.events_after(f"inbox:{player}", 0)]


# By the service


def test_a_game_against_the_cpu_goes_back_to_the_player() -> None:
    game = alone("", "starter")
    commit_moves(game, 4, now=now_ms())
    assert take_back(game, 4) == 6
    state = assert_record_is_whole(game)
    assert (state.ply, state.position.seat_to_move) == (2, 0)
    assert take_back(game, 4) == 6, "said again, it takes nothing more back"
    assert selectors.version_of(game) == 6
    assert take_back(game, 2) == 7
    assert assert_record_is_whole(game).ply == 0


def test_what_was_taken_back_stays_in_the_log() -> None:
    game = alone("", "")
    before = [note.payload for note in selectors.notes_after(commit_and_undo(game), 0)]
    assert [json.loads(text)["type"] for text in before] == [
        "game_started",
        "move_played",
        "move_played",
        "moves_undone",
    ]


def commit_and_undo(game: str) -> str:
    commit_moves(game, 2, now=now_ms())
    take_back(game, 2)
    return game


def test_refusals_change_nothing() -> None:
    game = alone("", "")
    commit_moves(game, 2, now=now_ms())
    one, two, stranger = registered(3, "Other")
    casual = started([one, two], rated=False, matched=False)
    rated = started([one, two])
    commit_moves(casual, 1, now=now_ms())
    commit_moves(rated, 1, now=now_ms())
    fresh = started([stranger, stranger], rated=False, matched=False)
    count = Event.objects.count()
    for error, arguments in [
        (UnknownGameError, ("NoSuchGame00", 0, stranger)),
        (UnknownGameError, ("", 0, stranger)),
        (UnknownGameError, ("a\x00b", 0, stranger)),
        (NotSeatedError, (game, 2, stranger)),
        (UndoNotAllowedError, (casual, 1, one)),
        (UndoNotAllowedError, (rated, 1, one)),
        (NothingToUndoError, (fresh, 0, stranger)),
        (StalePlyError, (game, 1, None)),
        (StalePlyError, (game, 3, None)),
        (StalePlyError, (game, -1, None)),
        (StalePlyError, (game, 10**30, None)),
    ]:
        with pytest.raises(error):
            take_back(*arguments)
    assert Event.objects.count() == count
    wait(resign(game_id=game, player_id=person_of(game)))
    with pytest.raises(GameOverError):
        take_back(game, 2)


# At once


def test_the_same_undo_twenty_times_at_once() -> None:
    game = alone("", "starter")
    commit_moves(game, 6, now=now_ms())
    assert at_once(20, lambda _: take_back(game, 6)) == [8] * 20
    assert selectors.version_of(game) == 8
    assert assert_record_is_whole(game).ply == 4


def test_an_undo_and_a_move_at_the_same_moment() -> None:
    """One of them is first, and the other one is for a ply at which the game is no more."""
    outcomes = set()
    for number in range(12):
        game = alone("", "") if number % 2 else alone("", "starter")
        commit_moves(game, 2, now=now_ms())
        player, move = person_of(game), a_move(selectors.load_state(game))

        def act(n: int, game: str = game, player: int = player, move: str = move) -> Any:
            if n:
                return take_back(game, 2)
            return wait(play_move(game_id=game, player_id=player, ply=2, move=move)).version

        moved, undone = at_once(2, act)
        assert {moved, undone} & {4}
        if moved == 4:
            assert isinstance(undone, StalePlyError)
        else:
            assert isinstance(moved, StalePlyError)
        outcomes.add(moved == 4)
        assert selectors.version_of(game) == 4
        assert_record_is_whole(game)
        Seat.objects.filter(game=game).delete()
        Game.objects.filter(id=game).delete()
        connection.cursor().execute("DELETE FROM accounts_player WHERE level = ''")


def test_a_copy_that_is_behind_goes_back_from_where_the_game_is() -> None:
    game = alone("", "")
    wait(games.get(game))
    commit_moves(game, 3, now=now_ms())
    assert wait(games.get(game)).state.version == 1, "nobody told this process"
    assert take_back(game, 3) == 5
    commit(game, de.Undo(2), now_ms())
    assert take_back(game, 2) == 6, "another process has done it"
    commit_moves(game, 1, now=now_ms())
    commit(game, de.Undo(2), now_ms())
    with pytest.raises(NothingToUndoError):
        take_back(commit_undo_all(game), 0)
    assert_record_is_whole(game)


def commit_undo_all(game: str) -> str:
    while (ply := selectors.load_state(game).ply) > 0:
        commit(game, de.Undo(ply), now_ms())
    return game


def test_a_move_for_a_position_that_was_taken_back_is_refused() -> None:
    """The same ply is to be played again; only the version tells that it is another position."""
    game = alone("", "starter")
    asked = commit_moves(game, 1, now=now_ms())
    cpu, move = selectors.seating(game).players[1], a_move(asked)

    def answer(chosen_at: int) -> int:
        playing = play_move(game_id=game, player_id=cpu, ply=1, move=move, chosen_at=chosen_at)
        return wait(playing).version

    take_back(game, 1)
    commit_moves(game, 1, now=now_ms())
    before = selectors.version_of(game)
    with pytest.raises(StalePlyError) as refused:
        answer(asked.version)
    assert refused.value.data == {"version": before, "ply": 1}
    assert selectors.version_of(game) == before
    assert answer(before) == before + 1


def test_what_another_process_took_back_can_be_done_again() -> None:
    """A copy that is behind must not answer that it was said before: it would acknowledge what is in no record."""
    game = alone("", "")
    player, move = person_of(game), a_move(selectors.load_state(game))

    def play() -> int:
        return wait(play_move(game_id=game, player_id=player, ply=0, move=move)).version

    assert play() == 2
    commit(game, de.Undo(1), now_ms())
    assert play() == 4
    assert take_back(game, 1) == 5
    commit_moves(game, 1, now=now_ms())
    assert take_back(game, 1) == 7
    assert assert_record_is_whole(game).ply == 0


# After the end


def assert_goes_on(game: str) -> None:
    row = Game.objects.get(id=game)
    assert (row.status, row.termination) == ("started", "")
    assert (row.finished_at, row.settled_at) == (None, None)
    assert set(Seat.objects.filter(game=game).values_list("points", "rank")) == {(None, None)}
    assert_record_is_whole(game)


@pytest.mark.parametrize("settled", [False, True])
def test_a_game_that_was_over_goes_on_and_ends_again(*, settled: bool) -> None:
    game = alone("", "starter")
    player, end = person_of(game), play_to_the_end(game)
    if settled:
        assert settle(game_id=game, now=now_ms())
    take_back(game, end.ply)
    assert_goes_on(game)
    assert settle(game_id=game, now=now_ms()) is False
    assert sweep(now=now_ms() + SETTLE_GRACE_MS).settled == 0

    second = play_to_the_end(game)
    assert sweep(now=now_ms() + SETTLE_GRACE_MS) == Swept(0, 1)
    assert second.outcome is not None
    results = [(seat.points, seat.rank) for seat in second.outcome.seats]
    assert list(Seat.objects.filter(game=game).values_list("points", "rank")) == results
    assert Game.objects.get(id=game).settled_at is not None
    told = inbox_of(player)
    assert len(told) == 1 + settled
    assert told[-1]["rank"] == second.outcome.seats[0].rank


def test_a_game_that_was_over_goes_on_at_once_with_its_settling() -> None:
    """Whichever comes first: the game goes on, unsettled and without results, and nobody fails."""
    game = alone("", "")
    player = person_of(game)
    for _ in range(10):
        end = play_to_the_end(game)
        told = len(inbox_of(player))

        def act(number: int, ply: int = end.ply) -> int:
            return take_back(game, ply) if number else settle(game_id=game, now=now_ms())

        settled, version = at_once(2, act)
        assert settled in (True, False)
        assert version == end.version + 1
        assert_goes_on(game)
        assert len(inbox_of(player)) == told + bool(settled)


def test_an_undo_waits_for_the_settling_that_was_first() -> None:
    """The results that the settling writes while the undo waits for the row's lock are cleared all the same."""
    game = alone("", "")
    end = play_to_the_end(game)
    held, free = threading.Event(), threading.Event()

    def hold(_: int) -> None:
        with transaction.atomic():
            assert settle(game_id=game, now=now_ms())
            held.set()
            assert free.wait(20)

    holder = threading.Thread(target=at_once, args=(1, hold))
    holder.start()
    assert held.wait(20)

    async def take_it_back() -> Receipt:
        player = await asyncio.to_thread(person_and_close, game)
        taking = asyncio.ensure_future(undo(game_id=game, player_id=player, ply=end.ply))
        await asyncio.to_thread(until_somebody_waits_for_a_lock)
        free.set()
        return await asyncio.wait_for(taking, 20)

    assert wait(take_it_back()) == Receipt(end.version + 1)
    holder.join()
    assert_goes_on(game)


def person_and_close(game: str) -> int:
    try:
        return person_of(game)
    finally:
        connection.close()


def until_somebody_waits_for_a_lock() -> None:
    try:
        while rows("SELECT count(*) FROM pg_locks WHERE NOT granted") == [(0,)]:
            pass
    finally:
        connection.close()


def test_a_batch_may_hold_a_game_that_goes_on() -> None:
    over = alone("", "")
    (one,) = registered(1, "Other")
    other = started([one, one], rated=False, matched=False)
    end = play_to_the_end(over)
    entries = [
        entry_of(over, de.Undo(end.ply)),
        entry_of(other, de.Resign(0)),
    ]
    assert journal.append(entries) == {over, other}
    assert_goes_on(over)
    assert Game.objects.get(id=other).status == "finished"
    assert journal.append(entries) == set()


def entry_of(game: str, command: de.Command) -> journal.Entry:
    from games.territory.services.play import entry_for

    state, now = selectors.load_state(game), now_ms()
    return entry_for(state, selectors.seating(game), de.decide(state, command, now), now)


# The sweeper


def test_the_sweeper_leaves_a_game_alone_that_goes_on_after_days() -> None:
    past = now_ms() - IDLE_MS + 60_000
    game = alone("", "", now=past)
    end = play_to_the_end(game)
    Game.objects.filter(id=game).update(wake_at=past + 1)
    take_back(game, end.ply)
    assert sweep(now=now_ms()).woken == 1
    assert_goes_on(game)
    wake_at = Game.objects.values_list("wake_at", flat=True).get(id=game)
    assert wake_at == selectors.load_state(game).expiry


def test_the_sweeper_sees_to_a_first_move_that_is_to_be_made_again() -> None:
    """Such a move has its bound again, which may come before the look that was planned."""
    game = alone("", "", control=BLITZ)
    commit_moves(game, 2, now=now_ms())
    Game.objects.filter(id=game).update(wake_at=now_ms() + 110_000)
    take_back(game, 2)
    now = now_ms()
    wake_at = Game.objects.values_list("wake_at", flat=True).get(id=game)
    assert wake_at is not None
    assert wake_at <= now + FIRST_MOVE_MS + lag.MOST_MS
    sweep(now=wake_at + 1)
    assert Game.objects.get(id=game).status == "started"


def test_nobody_asks_a_cpu_after_an_undo() -> None:
    game = alone("", "starter")
    commit_moves(game, 1, now=now_ms())
    take_back(game, 1)
    seating, state = selectors.seating(game), selectors.load_state(game)
    assert seating.level_to_move(state) == ""


# Earlier plies


def test_the_board_after_a_ply_is_of_what_stands_now() -> None:
    game = alone("", "")
    commit_moves(game, 5, now=now_ms())
    first = selectors.load_state(game)
    take_back(game, 5)
    take_back(game, 4)
    take_back(game, 3)
    state = selectors.load_state(game)
    other = list(state.position.legal())[-1].text
    commit(game, de.PlayMove(0, 2, other), now_ms())
    commit_moves(game, 2, now=now_ms())
    now = selectors.load_state(game)
    assert other != first.plies[2].move.text
    for ply in range(6):
        then = selectors.state_after(selectors.notes_after(game, 0), ply)
        assert (then.ply, then.plies) == (ply, now.plies[:ply])
        assert then.position.squares == (st.fold(then, []).position.squares)
    assert selectors.state_after(selectors.notes_after(game, 0), 9) == now
    assert selectors.state_after(selectors.notes_after(game, 0), None) == now

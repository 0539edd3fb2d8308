"""Statistics are what the games say: however they end, at whatever moment, and whatever is taken back."""

import random
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from accounts.services.people import cpu_player
from common import database
from common.clock import now_ms
from games.territory.models import PlayerGame, Statistic
from games.territory.players import statistics_of
from games.territory.selectors import load_state, seating
from games.territory.services.play import check_clock, play_move, resign, undo
from games.territory.services.settle import settle
from tests.games.territory.tables import at_once, registered, started

pytestmark = pytest.mark.django_db(transaction=True)


def _end(game: str, loser: int) -> None:
    database.wait(play_move(game_id=game, player_id=_first(game), ply=0, move="e10"))
    database.wait(resign(game_id=game, player_id=loser))
    settle(game_id=game, now=now_ms())


def _first(game: str) -> int:
    return seating(game).players[0]


def _of(player: int) -> dict[tuple[str, str], Any]:
    return {(key, level): tally for key, level, tally in statistics_of(player)}


def _check() -> str:
    """The command's words; it raises if anything is wrong."""
    out = StringIO()
    call_command("recompute_statistics", "--check", stdout=out)
    return out.getvalue()


def test_games_count_once_under_each_key() -> None:
    ada, ben = registered(2)
    for loser in (ben, ben, ada, ben):
        game = started([ada, ben])
        _end(game, loser)
        settle(game_id=game, now=now_ms())
    tally = _of(ada)["duo", ""]
    assert (tally.games, tally.won, tally.lost, tally.streak, tally.longest_streak) == (
        4,
        3,
        1,
        1,
        2,
    )
    assert _of(ada)["duo:blitz", ""] == tally
    assert _of(ben)["duo", ""].won == 1
    assert "0 wrong; 4 statistics, 0 wrong" in _check()


def test_what_does_not_count() -> None:
    ada, ben = registered(2)
    aborted = started([ada, ben], now=now_ms() - 3_600_000)
    database.wait(check_clock(game_id=aborted))  # nobody made a first move
    settle(game_id=aborted, now=now_ms())
    alone = started([ada, ada], rated=False, matched=False)
    _end(alone, ada)
    running = started([ada, ben])
    results = dict(PlayerGame.objects.filter(player=ada).values_list("game_id", "result"))
    assert results == {aborted: "aborted", alone: "several", running: "open"}
    assert _of(ada) == {}
    assert "5 games in lists of players, 0 wrong; 0 statistics" in _check()


def test_against_cpus_by_level_and_nothing_for_the_cpu() -> None:
    (ada,) = registered(1)
    cpu = cpu_player("starter").pk
    game = started([ada, cpu], levels=["", "starter"], rated=False, matched=False)
    _end(game, ada)
    assert _of(ada)["duo", "starter"].lost == 1
    assert PlayerGame.objects.get(player=cpu).result == "won"
    assert not Statistic.objects.filter(player=cpu).exists()
    _check()


def test_an_undo_after_the_end_takes_the_game_out_and_the_next_end_counts_it_again() -> None:
    (ada,) = registered(1)
    cpu = cpu_player("starter").pk
    first = started([ada, cpu], levels=["", "starter"], rated=False, matched=False)
    _end(first, ada)
    ended = _played_out(ada, cpu)
    assert _of(ada)["duo", "starter"].games == 2
    before = _of(ada)["duo", ""]

    database.wait(undo(game_id=ended, player_id=ada, ply=load_state(ended).ply))

    assert Statistic.objects.filter(player=ada, stale=True).count() == 3
    assert PlayerGame.objects.get(player=ada, game=ended).result == "open"
    assert _of(ada)["duo", "starter"].games == 1, "read aright although it is stale"
    _check()
    _finish(ended)
    assert not Statistic.objects.filter(stale=True).exists()
    assert _of(ada)["duo", ""].games == before.games
    _check()


def _played_out(ada: int, cpu: int) -> str:
    game = started([ada, cpu], levels=["", "starter"], rated=False, matched=False)
    _finish(game)
    return game


def _finish(game: str) -> None:
    """Play a game to its end, whoever is to move."""
    chance, players = random.Random(3), seating(game).players
    while (seat := (state := load_state(game)).position.seat_to_move) is not None:
        move = chance.choice(sorted(move.text for move in state.position.legal()))
        database.wait(play_move(game_id=game, player_id=players[seat], ply=state.ply, move=move))
    settle(game_id=game, now=now_ms())


def test_games_that_end_at_once_are_all_counted() -> None:
    ada, *others = registered(7)
    games = [started([ada, other], matched=False) for other in others]
    for game in games:
        database.wait(play_move(game_id=game, player_id=ada, ply=0, move="e10"))
        database.wait(resign(game_id=game, player_id=others[games.index(game)]))
    # Settled in another order than that of their ends, and at the same moment.
    assert at_once(6, lambda number: settle(game_id=games[5 - number], now=now_ms())) == [True] * 6
    tally = _of(ada)["duo", ""]
    assert (tally.games, tally.won, tally.streak) == (6, 6, 6)
    _check()


def test_what_is_wrong_is_found_and_put_right() -> None:
    ada, ben = registered(2)
    game = started([ada, ben])
    _end(game, ben)
    Statistic.objects.filter(player=ada, key="duo").update(longest_streak=9)
    Statistic.objects.filter(player=ben, key="duo:blitz").delete()
    PlayerGame.objects.filter(player=ben).update(perfect=True)
    with pytest.raises(SystemExit):
        _check()
    assert Statistic.objects.filter(longest_streak=9).exists(), "a check changes nothing"
    out = StringIO()
    call_command("recompute_statistics", stdout=out)
    assert "1 wrong; " in out.getvalue()
    _check()


def test_a_game_of_old_is_listed_by_a_recount() -> None:
    ada, ben = registered(2)
    _end(started([ada, ben]), ben)
    PlayerGame.objects.all().delete()
    Statistic.objects.all().delete()
    call_command("recompute_statistics", stdout=StringIO())
    assert _of(ada)["duo", ""].won == 1
    _check()

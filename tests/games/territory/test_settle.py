"""What the end of a game means: results, ratings, engagements, the inbox; once, whoever settles how often."""

import json

import pytest

from accounts import selectors as accounts
from accounts.models import LedgerRow
from accounts.services import inbox
from common import streams
from common.clock import now_ms
from games.territory import decide as de
from games.territory import selectors
from games.territory.models import Engagement, Event, Game, Seat
from games.territory.services.settle import settle
from tests.games.territory.support import NO_CLOCK, next_move
from tests.games.territory.tables import (
    assert_record_is_whole,
    at_once,
    commit,
    commit_moves,
    registered,
    started,
)

pytestmark = pytest.mark.django_db(transaction=True)


def inbox_of(player: int) -> list[dict[str, object]]:
    return [json.loads(note.payload) for note in streams.events_after(f"inbox:{player}", 0)]


def finished(players: list[int], loser: int = 0, variant: str = "duo", moves: int = 2) -> str:
    """A rated game that ended by the resignations of all but the last seat, `loser` first."""
    game = started(players, variant=variant, now=now_ms() - 10_000)
    commit_moves(game, moves, now=now_ms() - 9_000)
    order = [loser, *[seat for seat in range(len(players)) if seat != loser]]
    for number, seat in enumerate(order[:-1]):
        commit(game, de.Resign(seat), now_ms() - 5_000 + number)
    return game


def test_a_rated_game_is_settled_once() -> None:
    one, two = registered(2)
    game = finished([one, two])
    version = selectors.version_of(game)
    assert settle(game_id=game, now=now_ms()) is True
    state = assert_record_is_whole(game)
    assert state.version == version + 1
    assert state.ratings is not None
    assert [change.seat for change in state.ratings] == [0, 1]
    assert state.ratings[0].mu_after < 1500 < state.ratings[1].mu_after
    assert state.outcome is not None
    rows = list(Seat.objects.filter(game=game).values_list("points", "rank"))
    assert rows == [(seat.points, seat.rank) for seat in state.outcome.seats]
    assert [rank for _, rank in rows] == [2, 1]
    assert not Engagement.objects.exists()
    assert Game.objects.get(id=game).settled_at is not None

    assert settle(game_id=game, now=now_ms()) is False
    assert selectors.version_of(game) == version + 1
    assert LedgerRow.objects.count() == 2
    assert len(inbox_of(one)) == len(inbox_of(two)) == 1


def test_the_ledger_and_the_rating_say_the_same() -> None:
    one, two = registered(2)
    for loser in (0, 1, 0):
        settle(game_id=finished([one, two], loser), now=now_ms())
    ratings = accounts.ratings_of([one, two], "duo:blitz")
    for player in (one, two):
        ledger = list(LedgerRow.objects.filter(player_id=player).order_by("sequence"))
        assert [row.sequence for row in ledger] == [1, 2, 3]
        assert [row.mu_before for row in ledger] == [1500.0, *[row.mu_after for row in ledger[:-1]]]
        assert (ratings[player].mu, ratings[player].games) == (ledger[-1].mu_after, 3)


def test_everybody_is_told_and_told_right() -> None:
    players = registered(4)
    game = finished(players, loser=2, variant="classic", moves=4)
    settle(game_id=game, now=now_ms())
    state = selectors.load_state(game)
    assert state.ratings is not None
    told = [inbox_of(player) for player in players]
    assert told == [
        [
            {
                "type": "game_ended",
                "game": game,
                "termination": "resigned",
                "rank": rank,
                "rating": state.ratings[seat].after,
            }
        ]
        for seat, rank in enumerate([3, 2, 4, 1])
    ]


def test_twenty_settle_at_once() -> None:
    one, two = registered(2)
    game = finished([one, two])
    results = at_once(20, lambda _: settle(game_id=game, now=now_ms()))
    assert sorted(results, key=str) == [False] * 19 + [True]
    assert_record_is_whole(game)
    assert LedgerRow.objects.count() == 2
    assert len(inbox_of(one)) == 1


def test_games_of_the_same_players_end_at_once() -> None:
    """Every pair of five players, settled in ten threads: no deadlock, and the ledgers add up."""
    players = registered(5)
    games = []
    for a in range(5):
        for b in range(a):
            games.append(
                finished([players[b], players[a]] if (a + b) % 2 else [players[a], players[b]])
            )
            Engagement.objects.all().delete()
    assert (
        at_once(len(games), lambda number: settle(game_id=games[number], now=now_ms()))
        == [True] * 10
    )
    assert LedgerRow.objects.count() == 20
    for player in players:
        ledger = list(LedgerRow.objects.filter(player_id=player).order_by("sequence"))
        assert [row.sequence for row in ledger] == [1, 2, 3, 4]
        assert [row.mu_before for row in ledger[1:]] == [row.mu_after for row in ledger[:-1]]
        assert [note.version for note in streams.events_after(f"inbox:{player}", 0)] == [1, 2, 3, 4]


def test_a_game_that_goes_on_is_not_settled() -> None:
    game = started(registered(2))
    assert settle(game_id=game, now=now_ms()) is False
    assert settle(game_id="NoSuchGame00", now=now_ms()) is False
    assert Engagement.objects.count() == 2
    assert not LedgerRow.objects.exists()


def test_an_aborted_game_is_not_rated() -> None:
    one, two = registered(2)
    past = now_ms() - 60_000
    game = started([one, two], now=past)
    commit(game, de.CheckClock(), past + 40_000)
    assert Game.objects.get(id=game).status == "aborted"
    assert settle(game_id=game, now=now_ms()) is True
    state = assert_record_is_whole(game)
    assert state.ratings is None
    assert not LedgerRow.objects.exists()
    assert not Engagement.objects.exists()
    assert inbox_of(one) == [
        {"type": "game_ended", "game": game, "termination": "aborted", "rank": 1, "rating": None}
    ]


def test_a_casual_game_is_not_rated() -> None:
    (player,) = registered(1)
    game = started([player, player], control=NO_CLOCK, rated=False, matched=False)
    commit(game, next_move(selectors.load_state(game)), now_ms())
    commit(game, de.Resign(1), now_ms())
    assert settle(game_id=game, now=now_ms()) is True
    assert selectors.load_state(game).ratings is None
    assert len(inbox_of(player)) == 1, "one person is told once, whatever the seats"


def test_a_failure_half_way_leaves_nothing_half_done(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = registered(2)
    game = finished([one, two])
    events = Event.objects.count()

    def fail(**_: object) -> None:
        raise RuntimeError("killed here")

    with monkeypatch.context() as broken:
        broken.setattr(inbox, "notify", fail)
        with pytest.raises(RuntimeError):
            settle(game_id=game, now=now_ms())
    assert Event.objects.count() == events
    assert not LedgerRow.objects.exists()
    assert Engagement.objects.count() == 2
    assert settle(game_id=game, now=now_ms()) is True
    assert_record_is_whole(game)

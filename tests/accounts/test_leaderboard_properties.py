"""Whatever happens to them, leaderboards are what sorting says, and every bucket holds what it says."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts import rules, selectors
from accounts.models import LeaderboardBucket, Player, RatingRow, ScoreBoard, ScoreEntry
from accounts.services.people import create_player
from accounts.services.scores import (
    freeze_board,
    remove_score,
    restore_score,
    submit_score,
    withdraw_score,
)
from tests.accounts.boards import (
    SMALL,
    bucket_count,
    check_board,
    check_buckets,
    ranked,
    small_buckets,
)

pytestmark = pytest.mark.django_db

BOARD = "puzzle:easy:10x10:once"
KEY = "duo:blitz"
PLAYERS = 9
MOST = int(SMALL["1000"])

some = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(autouse=True)
def _small() -> Iterator[None]:
    with small_buckets():
        yield


@pytest.fixture
def players() -> list[int]:
    return [create_player(name=f"Player{number}").pk for number in range(PLAYERS)]


@pytest.fixture
def boss() -> int:
    return create_player(name="Boss", staff=True).pk


who = st.integers(0, PLAYERS - 1)
results = st.tuples(st.integers(0, 6), st.integers(0, 2), st.integers(0, 1))
submits = st.tuples(st.just("submit"), who, results)
decisions = st.tuples(st.sampled_from(["ban", "unban", "remove", "restore", "withdraw"]), who)
frozen = st.tuples(st.just("freeze"), st.just(0))


class _Model:
    """What the services promise, on dicts."""

    def __init__(self, players: list[int], boss: int) -> None:
        self.players, self.boss = players, boss
        self.best: dict[int, tuple[int, int, int]] = {}
        self.removed: set[int] = set()
        self.banned: set[int] = set()
        self.banned_when_frozen: set[int] | None = None

    def apply(self, action: str, number: int, *result: tuple[int, int, int]) -> None:
        player = self.players[number]
        open_board = self.banned_when_frozen is None
        if action == "submit":
            self._submit(player, result[0])
        elif action in {"ban", "unban"}:
            Player.objects.filter(pk=player).update(is_active=action == "unban")
            (self.banned.add if action == "ban" else self.banned.discard)(player)
        elif action == "withdraw":
            done = withdraw_score(board=BOARD, player_id=player, source="run")
            assert done == (player in self.best and player not in self.removed and open_board)
            if done:
                del self.best[player]
        elif action == "freeze":
            freeze_board(board=BOARD, at=1)
            if open_board:
                self.banned_when_frozen = set(self.banned)
        elif player in self.best:
            decide = remove_score if action == "remove" else restore_score
            decide(board=BOARD, player_id=player, by=self.boss, reason="why")
            (self.removed.add if action == "remove" else self.removed.discard)(player)

    def _submit(self, player: int, result: tuple[int, int, int]) -> None:
        score, placements, finished_at = result
        shown = submit_score(
            board=BOARD,
            player_id=player,
            score=score,
            placements=placements,
            finished_at=finished_at,
            source="run",
        )
        place = (-score, placements, finished_at)
        better = self.banned_when_frozen is None and place < self.best.get(player, (1, 0, 0))
        if better:
            self.best[player] = place
        assert shown == (better and player not in self.removed | self.banned)

    def lines(self) -> list[tuple[int, int]]:
        gone = self.removed | (
            self.banned if self.banned_when_frozen is None else self.banned_when_frozen
        )
        return ranked([(*place, p) for p, place in self.best.items() if p not in gone])


@some
@given(
    first=st.lists(submits, max_size=20),
    then=st.lists(submits | decisions, max_size=25),
    end=st.lists(submits | decisions | frozen, max_size=8),
)
def test_scores_are_what_sorting_says(
    players: list[int], boss: int, first: list[Any], then: list[Any], end: list[Any]
) -> None:
    ScoreEntry.objects.all().delete()
    connection.cursor().execute(
        "DELETE FROM accounts_standingdecision; DELETE FROM accounts_scoreboard"
    )
    Player.objects.update(is_active=True)
    model = _Model(players, boss)
    for step in (*first, *then, *end):
        model.apply(*step)
        check_buckets(MOST)
    lines = model.lines()
    listed = {player for _, player in lines}
    check_board(BOARD, lines, strangers=[p for p in players if p not in listed])


figures = st.tuples(
    st.sampled_from([1400.0, 1499.5, 1499.9, 1500.0, 1500.4, 1500.5, 1600.0]),
    st.sampled_from([90.0, 120.0, rules.PROVISIONAL_SIGMA]),
)


@some
@given(
    start=st.lists(figures, min_size=PLAYERS, max_size=PLAYERS),
    changes=st.lists(st.dictionaries(who, figures, max_size=4), max_size=8),
    banned=st.sets(who, max_size=5),
)
def test_ratings_are_what_sorting_says(
    players: list[int],
    start: list[tuple[float, float]],
    changes: list[dict[int, tuple[float, float]]],
    banned: set[int],
) -> None:
    RatingRow.objects.all().delete()
    Player.objects.update(is_active=True)
    RatingRow.objects.bulk_create(
        RatingRow(player_id=player, key=KEY, mu=mu, sigma=sigma, games=9)
        for player, (mu, sigma) in zip(players, start, strict=True)
    )
    now = dict(enumerate(start))
    for change in changes:
        rows = {row.player_id: row for row in RatingRow.objects.all()}
        for number, (mu, sigma) in change.items():
            rows[players[number]].mu, rows[players[number]].sigma = mu, sigma
        RatingRow.objects.bulk_update(rows.values(), ["mu", "sigma"])
        check_buckets(MOST)
        now |= change
    Player.objects.filter(pk__in=[players[number] for number in banned]).update(is_active=False)
    check_buckets(MOST)
    places = {
        players[n]: (-mu, sigma, players[n])
        for n, (mu, sigma) in now.items()
        if n not in banned and sigma < rules.PROVISIONAL_SIGMA
    }
    order = sorted(places, key=places.__getitem__)
    shown = [rules.shown(-places[player][0]) for player in order]
    lines = [(shown.index(rating) + 1, p) for rating, p in zip(shown, order, strict=True)]
    strangers = [player for player in players if player not in places]
    check_board(KEY, lines, strangers)


def test_a_growing_board_is_split_and_a_shrinking_one_is_joined_again(players: list[int]) -> None:
    for score, player in enumerate(players):
        submit_score(
            board=BOARD, player_id=player, score=score, placements=1, finished_at=1, source="run"
        )
        check_buckets(MOST)
    assert bucket_count(BOARD) > PLAYERS // MOST
    Player.objects.filter(pk__in=players[1:]).update(is_active=False)
    check_buckets(MOST)
    assert bucket_count(BOARD) <= 2
    Player.objects.filter(pk__in=players).delete()
    check_buckets(MOST)
    assert bucket_count(BOARD) == 1


def test_one_statement_with_many_lines_is_counted_as_one_by_one(players: list[int]) -> None:
    ScoreBoard.objects.create(key=BOARD)
    ScoreEntry.objects.bulk_create(
        ScoreEntry(
            board_id=BOARD, player_id=player, score=7, placements=1, finished_at=1, source="run"
        )
        for player in players
    )
    check_buckets(MOST)
    check_board(BOARD, [(1, player) for player in players])
    assert bucket_count(BOARD) == 5
    ScoreEntry.objects.update(score=3)
    check_buckets(MOST)
    check_board(BOARD, [(1, player) for player in players])


def test_a_board_whose_buckets_are_lost_is_counted_again(players: list[int]) -> None:
    for score, player in enumerate(players):
        submit_score(
            board=BOARD, player_id=player, score=score, placements=1, finished_at=1, source="run"
        )
    expected = selectors.leaderboard_page(BOARD)
    LeaderboardBucket.objects.filter(board=BOARD).delete()
    with connection.cursor() as cursor:
        cursor.execute("SELECT accounts_split_bucket('accounts_scoreentry', %s, '{}')", [BOARD])
    check_buckets(MOST)
    assert selectors.leaderboard_page(BOARD) == expected

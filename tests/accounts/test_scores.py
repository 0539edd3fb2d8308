"""Scores: the better one counts, once; who is not on the list; frozen boards; an admin's decisions."""

from typing import Any

import psycopg
import pytest
from django.db import transaction

from accounts import selectors
from accounts.errors import NotOnLeaderboardError, UnknownLeaderboardError, UnknownPlayerError
from accounts.models import Player, ScoreEntry, StandingDecision
from accounts.services.people import become_bot, cpu_player, create_guest, create_player
from accounts.services.scores import (
    freeze_board,
    remove_score,
    restore_score,
    submit_score,
    withdraw_score,
)
from tests.accounts.boards import check_buckets

pytestmark = pytest.mark.django_db

DAY = "daily:2026-11-30"


def _player(name: str) -> int:
    return create_player(name=name).pk


def _submit(
    player_id: int, score: int, placements: int = 9, finished_at: int = 1, **fields: Any
) -> bool:
    values = {"board": DAY, "source": "run", **fields}
    return submit_score(
        player_id=player_id,
        score=score,
        placements=placements,
        finished_at=finished_at,
        **values,
    )


def _ranks(board: str = DAY) -> list[tuple[int, str]]:
    page = selectors.leaderboard_page(board, limit=100)
    assert page.total == len(page.entries)
    return [(entry.rank, entry.player.name) for entry in page.entries]


def test_order_is_score_then_fewer_placements_then_the_earlier_finish_and_equals_share() -> None:
    for name, *result in [
        ("Late", 500, 10, 7),
        ("Long", 500, 11, 1),
        ("Young", 500, 10, 5),
        ("Best", 900, 99, 9),
        ("Equal", 500, 10, 5),
        ("Least", 0, 0, 0),
    ]:
        assert _submit(_player(name), *result)
    assert _ranks() == [
        (1, "Best"),
        (2, "Young"),
        (2, "Equal"),
        (4, "Late"),
        (5, "Long"),
        (6, "Least"),
    ]


@pytest.mark.parametrize("worse", [(499, 1, 1), (500, 11, 1), (500, 10, 6), (500, 10, 5)])
def test_what_is_not_better_changes_nothing(worse: tuple[int, int, int]) -> None:
    ada = _player("Ada")
    assert _submit(ada, 500, 10, 5, source="first")
    before = ScoreEntry.objects.values().get()
    assert not _submit(ada, *worse, source="second")
    assert ScoreEntry.objects.values().get() == before
    assert _ranks() == [(1, "Ada")]


@pytest.mark.parametrize("better", [(501, 99, 9), (500, 9, 9), (500, 10, 4)])
def test_what_is_better_replaces_it(better: tuple[int, int, int]) -> None:
    ada, bob = _player("Ada"), _player("Bob")
    assert _submit(bob, 500, 10, 5)
    assert _submit(ada, 500, 10, 5, source="first")
    assert _ranks() == [(1, "Ada"), (1, "Bob")]
    assert _submit(ada, *better, source="second")
    entry = ScoreEntry.objects.get(player=ada)
    assert (entry.score, entry.placements, entry.finished_at, entry.source) == (*better, "second")
    assert _ranks() == [(1, "Ada"), (2, "Bob")]


def test_guests_and_bots_do_not_enter() -> None:
    guest, _ = create_guest()
    bot = create_player(name="Robot", kind=Player.Kind.BOT)
    for player in (guest, bot, cpu_player("expert")):
        assert not _submit(player.pk, 500)
    assert _ranks() == []
    assert not ScoreEntry.objects.exists()


def test_boards_do_not_meet() -> None:
    ada = _player("Ada")
    boards = ["daily:2024-02-29", "puzzle:easy:10x10:once"]
    assert all(_submit(ada, 5, board=board) for board in boards)
    assert [_ranks(board) for board in [*boards, "puzzle:easy:10x10:off"]] == [
        [(1, "Ada")],
        [(1, "Ada")],
        [],
    ]


@pytest.mark.parametrize(
    "key",
    [
        *("", "daily:", "daily:2025-02-29", "daily:2026-1-1", "daily:x", "puzzle:", "puzzle:Easy"),
        *("duo:blitz", "season:1", "puzzle:a\n", "puzzle:" + "a" * 58, "daily:٢٠٢٦-11-30"),
    ],
)
def test_a_key_that_no_board_of_scores_has(key: str) -> None:
    ada = _player("Ada")
    with pytest.raises(UnknownLeaderboardError):
        _submit(ada, 5, board=key)
    with pytest.raises(UnknownLeaderboardError):
        freeze_board(board=key, at=0)
    if key != "duo:blitz":
        with pytest.raises(UnknownLeaderboardError):
            selectors.leaderboard_page(key)


@pytest.mark.parametrize("result", [(-1, 0, 0), (2**53 + 1, 0, 0), (1, -1, 0), (1, 0, -1)])
def test_what_a_place_cannot_hold_exactly_is_not_kept(result: tuple[int, int, int]) -> None:
    ada = _player("Ada")
    with pytest.raises(psycopg.IntegrityError), transaction.atomic():
        _submit(ada, *result)
    assert _submit(ada, 2**53, 2**31 - 1, 2**53)


def test_a_banned_player_closes_the_ranks_and_comes_back_with_the_better_score() -> None:
    ada, bob = _player("Ada"), _player("Bob")
    _submit(ada, 500)
    _submit(bob, 400)
    Player.objects.filter(pk=ada).update(is_active=False)
    assert _ranks() == [(1, "Bob")]
    assert selectors.leaderboard_rank(DAY, ada) is None
    with pytest.raises(NotOnLeaderboardError):
        selectors.leaderboard_around(DAY, ada, limit=3)
    assert not _submit(ada, 600), "kept, not shown"
    Player.objects.filter(pk=ada).update(is_active=True)
    assert _ranks() == [(1, "Ada"), (2, "Bob")]
    assert ScoreEntry.objects.get(player=ada).score == 600


def test_a_deleted_player_closes_the_ranks() -> None:
    for name, score in [("Ada", 500), ("Bob", 400), ("Cee", 400)]:
        _submit(_player(name), score)
    Player.objects.get(name="Ada").delete()
    assert _ranks() == [(1, "Bob"), (1, "Cee")]


def test_a_frozen_board_takes_nothing_and_bans_leave_it_as_it_was() -> None:
    ada, bob, cee = map(_player, ("Ada", "Bob", "Cee"))
    _submit(ada, 500)
    _submit(bob, 400)
    Player.objects.filter(pk=bob).update(is_active=False)
    freeze_board(board=DAY, at=77)
    freeze_board(board=DAY, at=88)
    assert selectors.leaderboard_page(DAY).frozen_at == 77
    assert not _submit(ada, 900)
    assert not _submit(cee, 900)
    assert not withdraw_score(board=DAY, player_id=ada, source="run")
    Player.objects.filter(pk=ada).update(is_active=False)
    Player.objects.filter(pk=bob).update(is_active=True)
    assert _ranks() == [(1, "Ada")]
    assert not ScoreEntry.objects.filter(score=900).exists()


def test_an_empty_board_can_be_frozen() -> None:
    freeze_board(board=DAY, at=5)
    assert not _submit(_player("Ada"), 1)
    assert selectors.leaderboard_page(DAY) == selectors.LeaderboardPage(DAY, [], None, 0, 5)


def test_a_score_is_withdrawn_only_if_it_came_from_there() -> None:
    ada = _player("Ada")
    _submit(ada, 500, source="one")
    assert not withdraw_score(board=DAY, player_id=ada, source="two")
    assert not withdraw_score(board="daily:2026-11-29", player_id=ada, source="one")
    assert withdraw_score(board=DAY, player_id=ada, source="one")
    assert not withdraw_score(board=DAY, player_id=ada, source="one")
    assert _ranks() == []
    assert _submit(ada, 400, source="two")
    assert _ranks() == [(1, "Ada")]


@pytest.mark.parametrize("frozen", [False, True])
def test_removal_closes_the_ranks_and_restoring_undoes_it_with_rows_that_say_so(
    frozen: bool,
) -> None:
    boss = create_player(name="Boss", staff=True)
    ada, bob, cee = map(_player, ("Ada", "Bob", "Cee"))
    for player, score in [(ada, 900), (bob, 500), (cee, 500)]:
        _submit(player, score, 9, 7)
    if frozen:
        freeze_board(board=DAY, at=1)
    remove_score(board=DAY, player_id=ada, by=boss.pk, reason=" two accounts ")
    remove_score(board=DAY, player_id=ada, by=boss.pk, reason="again")
    assert _ranks() == [(1, "Bob"), (1, "Cee")]
    assert selectors.leaderboard_rank(DAY, ada) is None
    assert not withdraw_score(board=DAY, player_id=ada, source="run")
    restore_score(board=DAY, player_id=ada, by=boss.pk, reason="it was a brother")
    restore_score(board=DAY, player_id=ada, by=boss.pk, reason="again")
    assert _ranks() == [(1, "Ada"), (2, "Bob"), (2, "Cee")]
    said = ["action", "player_name", "by_name", "reason", "key", "facts"]
    facts = {"score": 900, "placements": 9, "finished_at": 7, "source": "run", "rank": 1}
    assert list(StandingDecision.objects.order_by("id").values_list(*said)) == [
        ("score-removed", "Ada", "Boss", "two accounts", DAY, facts),
        ("score-restored", "Ada", "Boss", "it was a brother", DAY, facts),
    ]


def test_a_removed_player_stays_away_and_a_better_score_shows_when_that_is_undone() -> None:
    boss = create_player(name="Boss", staff=True)
    ada = _player("Ada")
    _submit(ada, 500)
    remove_score(board=DAY, player_id=ada, by=boss.pk, reason="why")
    assert not _submit(ada, 800)
    assert _ranks() == []
    restore_score(board=DAY, player_id=ada, by=boss.pk, reason="why not")
    assert ScoreEntry.objects.get().score == 800
    assert _ranks() == [(1, "Ada")]


def test_who_becomes_a_bot_leaves_the_boards_of_people_but_not_final_ones() -> None:
    ada, bob = map(_player, ("Ada", "Bob"))
    frozen = "daily:2026-11-29"
    for player, score in [(ada, 900), (bob, 500)]:
        _submit(player, score)
        _submit(player, score, board=frozen)
    freeze_board(board=frozen, at=1)
    become_bot(player_id=ada)
    assert _ranks() == [(1, "Bob")]
    assert _ranks(frozen) == [(1, "Ada"), (2, "Bob")]
    assert not _submit(ada, 5_000)
    assert ScoreEntry.objects.get(board=DAY, player=ada).score == 900
    check_buckets()


def test_a_decision_outlives_the_player() -> None:
    boss = create_player(name="Boss", staff=True)
    ada = create_player(name="Ada")
    _submit(ada.pk, 500)
    remove_score(board=DAY, player_id=ada.pk, by=boss.pk, reason="why")
    ada.delete()
    boss.delete()
    decision = StandingDecision.objects.get()
    assert (decision.player_name, decision.player_id, decision.by_name) == ("Ada", None, "Boss")


def test_a_decision_needs_a_reason_an_admin_and_a_score() -> None:
    boss = create_player(name="Boss", staff=True)
    ada = _player("Ada")
    for decide in (remove_score, restore_score):
        with pytest.raises(NotOnLeaderboardError):
            decide(board=DAY, player_id=ada, by=boss.pk, reason="why")
    _submit(ada, 500)
    with pytest.raises(ValueError, match="reason"):
        remove_score(board=DAY, player_id=ada, by=boss.pk, reason=" ")
    with pytest.raises(UnknownPlayerError):
        remove_score(board=DAY, player_id=ada, by=0, reason="why")
    assert _ranks() == [(1, "Ada")]
    assert not StandingDecision.objects.exists()

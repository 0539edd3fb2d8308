"""The ledger as a whole: checked to the last bit, repaired while games go on, games annulled and restored."""

import io
import random
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections
from django.db.models import F, ProtectedError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts import rules, selectors
from accounts.models import InboxItem, LedgerRow, Player, RatingRow, StandingDecision
from accounts.services import ledgers
from accounts.services.annulment import annul_game, restore_game
from accounts.services.ledgers import BATCH, Difference, check_key, repair_key
from accounts.services.people import create_player
from common.ids import new_id
from tests.accounts.boards import check_board, check_buckets, ranked
from tests.accounts.ledgers import (
    KEY,
    assert_ledger_is_the_rating,
    ledger_games,
    players,
    rate,
    ratings,
    replay,
)


def _season(people: list[int], count: int, seed: int = 1) -> list[str]:
    """Random games of two to four, some with ties; their ids."""
    dice, ids = random.Random(seed), []
    for _ in range(count):
        seats = dice.sample(people, dice.choice([2, 2, 2, 3, 4]))
        ids.append(new_id())
        rate(*[(player, dice.randint(1, len(seats))) for player in seats], game_id=ids[-1])
    return ids


def _kept() -> Any:
    lines = list(LedgerRow.objects.order_by("id").values())
    standings = list(RatingRow.objects.order_by("id").values("player_id", "mu", "sigma", "games"))
    return lines, standings


def _recompute(*options: str) -> str:
    out = io.StringIO()
    call_command("recompute_ratings", *options, stdout=out)
    return out.getvalue()


@pytest.mark.django_db
def test_a_sound_ledger_has_no_differences_and_the_command_gives_figures() -> None:
    people = players(6)
    _season(people, 30)
    rate((people[0], 1), (people[1], 2), key="classic:rapid")
    text = _recompute("--check")
    assert "duo:blitz: 30 games" in text
    assert "2 keys" in text
    assert "0 differences" in text
    assert "rows/s" in text
    assert "1 keys, 2 rows, 1 games, 2 ratings" in _recompute("--check", "--key", "classic:rapid")
    assert "0 keys" not in _recompute()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda row: LedgerRow.objects.filter(pk=row.pk).update(mu_after=F("mu_after") + 1e-9), 1),
        (lambda row: LedgerRow.objects.filter(pk=row.pk).update(sigma_before=499), 1),
        (lambda row: LedgerRow.objects.filter(pk=row.pk).update(sequence=100), 1),
        (lambda row: RatingRow.objects.filter(player=row.player_id).update(mu=F("mu") + 1e-9), 1),
        (lambda row: RatingRow.objects.filter(player=row.player_id).update(games=3, annulled=2), 1),
        (lambda row: RatingRow.objects.filter(player=row.player_id).delete(), 1),
        (lambda row: LedgerRow.objects.filter(game_id=row.game_id).update(annulled=True), 2),
    ],
)
def test_each_difference_is_reported_and_repaired(spoil: Any, says: int) -> None:
    people = players(6)
    _season(people, 30)
    sound = _kept()
    row = LedgerRow.objects.order_by("id")[20]
    spoil(row)
    wrong: list[Difference] = []
    report = check_key(KEY, found=wrong.append)
    assert len(wrong) == report.differences >= says
    spoilt = _kept()
    with pytest.raises(CommandError) as failed:
        _recompute("--check")
    assert failed.value.returncode == 1
    assert _kept() == spoilt, "--check changes nothing"
    assert "repaired" in _recompute()
    assert_ledger_is_the_rating()
    assert "0 differences" in _recompute("--check")
    annulled = LedgerRow.objects.filter(annulled=True).exists()
    if not annulled:
        assert [line | {"id": 0} for line in _kept()[0]] == [line | {"id": 0} for line in sound[0]]
    assert StandingDecision.objects.get().facts["differences"] == report.differences


@pytest.mark.django_db
def test_what_is_no_key_is_told() -> None:
    with pytest.raises(CommandError, match="variant:speed"):
        _recompute("--key", "daily:2026-11-30")


@pytest.mark.django_db
def test_games_whose_rows_have_ids_by_turns_are_whole() -> None:
    """As two workers write them that rate games without a common player at once."""
    a, b, c, d = players(4)
    first, second = new_id(), new_id()
    rate((a, 1), (b, 2), game_id=first)
    rate((c, 1), (d, 2), game_id=second)
    ids = dict(LedgerRow.objects.values_list("player_id", "id"))
    LedgerRow.objects.filter(player=b).update(id=0)
    LedgerRow.objects.filter(player=c).update(id=ids[b])
    LedgerRow.objects.filter(player=b).update(id=ids[c])
    rate((a, 1), (d, 2))
    assert check_key(KEY).differences == 0
    annul_game(game_id=first, by=create_player(name="Boss").pk, reason="why")
    assert ratings() == replay(ledger_games())


@pytest.mark.django_db
def test_more_lines_than_a_batch_are_repaired(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledgers, "BATCH", 7)
    people = players(5)
    ids = _season(people, 40)
    sound = _kept()
    LedgerRow.objects.filter(game_id__in=ids[10:30]).update(mu_after=0, sequence=-F("sequence"))
    seen: list[int] = []
    assert repair_key(KEY, watch=lambda report: seen.append(report.lines)).differences >= 40
    assert seen == sorted(seen)
    assert len(seen) > 5
    assert _kept() == sound
    assert BATCH > 7


@pytest.mark.django_db(transaction=True)
def test_games_that_end_while_ratings_are_repaired_are_neither_lost_nor_counted_twice() -> None:
    people, boss = players(8), create_player(name="Boss").pk
    ids, over = _season(people, 60), Event()

    def play(seed: int) -> int:
        dice, played = random.Random(seed), 0
        try:
            while not over.is_set():
                rate(*[(player, rank) for rank, player in enumerate(dice.sample(people, 3), 1)])
                played += 1
            return played
        finally:
            connections.close_all()

    def repair() -> None:
        try:
            for game in ids[:8]:
                LedgerRow.objects.filter(game_id=game).update(mu_after=1)
                repair_key(KEY)
                annul_game(game_id=game, by=boss, reason="why")
                assert check_key(KEY).differences == 0
        finally:
            over.set()
            connections.close_all()

    with ThreadPoolExecutor(3) as pool:
        games = [pool.submit(play, seed) for seed in range(2)]
        pool.submit(repair).result()
        played = sum(each.result() for each in games)
    assert played > 0
    assert len(ledger_games()) == 60 - 8 + played
    assert_ledger_is_the_rating()
    check_buckets()


@pytest.mark.django_db
@settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_after_annulments_all_is_as_if_those_games_had_not_been(db: None, data: Any) -> None:
    LedgerRow.objects.all().delete()
    StandingDecision.objects.all().delete()
    RatingRow.objects.all().delete()
    Player.objects.all().delete()
    people, boss = players(7), create_player(name="Boss").pk
    ids = _season(people, 16, seed=data.draw(st.integers(0, 999)))
    sound = _kept()
    chosen = data.draw(st.lists(st.sampled_from(ids), min_size=1, max_size=5, unique=True))
    for game in chosen:
        assert annul_game(game_id=game, by=boss, reason="why") is not None
        assert annul_game(game_id=game, by=boss, reason="again") is None
        assert_ledger_is_the_rating()
    assert len(ledger_games()) == 16 - len(chosen)
    assert check_key(KEY).differences == 0
    rate((people[0], 1), (people[1], 2))
    assert_ledger_is_the_rating()
    check_buckets()
    listed = [row for row in RatingRow.objects.filter(key=KEY) if row.listed]
    expected = ranked([(*row.place[:-1], row.player_id) for row in listed])
    tied = [(-rules.shown(row.mu), row.player_id) for row in listed]
    assert sorted(player for _, player in expected) == sorted(player for _, player in tied)
    LedgerRow.objects.filter(id__gt=sound[0][-1]["id"]).delete()
    repair_key(KEY)
    for game in reversed(chosen):
        restore_game(game_id=game, by=boss, reason="why not")
    assert _kept() == sound


@pytest.mark.django_db
def test_an_annulment_says_who_when_and_why_and_leaderboards_follow() -> None:
    ada, bob, cee = players(3)
    boss = create_player(name="Boss").pk
    for turn in range(24):
        upset = turn % 3 == 0
        for better, worse in ((ada, bob), (bob, cee), (ada, cee)):
            rate((better, 1 + upset), (worse, 2 - upset))
    last = new_id()
    rate((cee, 1), (ada, 2), game_id=last)
    board = [entry.player.name for entry in selectors.leaderboard_page(KEY).entries]
    assert len(board) == 3
    before = ratings()
    with pytest.raises(ValueError, match="reason"):
        annul_game(game_id=last, by=boss, reason="  ")
    with pytest.raises(LookupError):
        annul_game(game_id=new_id(), by=boss, reason="why")
    annul_game(game_id=last, by=boss, reason=" sat beside each other ")
    assert ratings()[bob] == before[bob]
    assert ratings()[cee].games == 48
    check_board(KEY, [(rank, row) for rank, row in enumerate([ada, bob, cee], 1)])
    (decision,) = StandingDecision.objects.all()
    assert (decision.action, decision.by_name, decision.reason) == (
        "game-annulled",
        "Boss",
        "sat beside each other",
    )
    assert decision.facts["ratings_before"][str(cee)] == str(before[cee])
    for player in (ada, cee):
        (item,) = InboxItem.objects.filter(player=player)
        assert '"type":"game_annulled"' in item.payload
        assert "sat beside each other" in item.payload
    assert not InboxItem.objects.filter(player=bob).exists()
    (row, *_) = selectors.rating_history(cee, KEY, limit=5)
    assert row.annulled
    assert row.mu_before == row.mu_after
    assert rate((cee, 1), (ada, 2), game_id=last) == [
        line.change for line in LedgerRow.objects.filter(game_id=last).order_by("id")
    ], "settled again, it stays annulled"
    restore_game(game_id=last, by=boss, reason="they did not")
    assert ratings() == before
    assert InboxItem.objects.filter(player=ada, payload__contains="game_restored").exists()


@pytest.mark.django_db
def test_a_player_in_the_ledger_cannot_be_deleted() -> None:
    ada, bob = players(2)
    rate((ada, 1), (bob, 2))
    with pytest.raises(ProtectedError):
        Player.objects.get(pk=ada).delete()
    assert connection.in_atomic_block

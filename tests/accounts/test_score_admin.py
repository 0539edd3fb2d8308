"""The admin's lists of boards, scores and decisions: lines are found, removed with a reason, and restored."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse

from accounts import selectors
from accounts.models import Player, ScoreBoard, ScoreEntry, StandingDecision
from accounts.services.people import create_player
from accounts.services.scores import freeze_board, remove_score, submit_score

pytestmark = pytest.mark.django_db

DAY, ALL_TIME = "daily:2026-11-30", "puzzle:easy:10x10:once"
ENTRIES = "admin:accounts_scoreentry_changelist"
DECISIONS = "admin:accounts_standingdecision_changelist"


@pytest.fixture
def boss() -> Player:
    return create_player(name="Boss", staff=True)


@pytest.fixture
def site(boss: Player) -> Client:
    client = Client()
    client.force_login(boss)
    return client


def _populate(count: int) -> list[Player]:
    players = [create_player(name=f"Player{number}") for number in range(count)]
    for number, player in enumerate(players):
        for board in (DAY, ALL_TIME):
            submit_score(
                board=board,
                player_id=player.pk,
                score=number * 10,
                placements=number,
                finished_at=1,
                source=f"run{number}",
            )
    return players


def _decide(site: Client, action: str, entries: list[ScoreEntry], reason: str) -> str:
    chosen = {
        "action": action,
        "_selected_action": [entry.pk for entry in entries],
        "reason": reason,
    }
    # The list of what is not listed is where one restores.
    address = reverse(ENTRIES) + ("?unlisted=1" if action == "restore" else "")
    return site.post(address, chosen, follow=True).content.decode()


def _order(page: str, *texts: str) -> bool:
    found = [page.index(text) for text in texts]
    return found == sorted(found)


def test_the_lists_ask_as_much_for_forty_lines_as_for_two(
    site: Client, boss: Player, django_assert_max_num_queries: Any
) -> None:
    for player in _populate(40)[:20]:
        remove_score(board=DAY, player_id=player.pk, by=boss.pk, reason="why")
    for name, query in [
        (ENTRIES, {}),
        (ENTRIES, {"board__exact": DAY}),
        (ENTRIES, {"unlisted": "1"}),
        (DECISIONS, {}),
        ("admin:accounts_scoreboard_changelist", {}),
    ]:
        with django_assert_max_num_queries(6):
            assert site.get(reverse(name), query).status_code == 200


def test_no_list_of_scores_counts_or_reads_all_of_them(site: Client) -> None:
    _populate(3)
    asked: list[str] = []

    def note(execute: Any, sql: str, *rest: Any) -> Any:
        asked.append(sql)
        return execute(sql, *rest)

    from django.db import connection

    with connection.execute_wrapper(note):
        site.get(reverse(ENTRIES), {"board__exact": DAY})
    counts = [sql for sql in asked if "COUNT(*)" in sql and "scoreentry" in sql]
    assert counts
    assert all("LIMIT 10000" in sql for sql in counts)


def test_a_board_is_shown_in_its_order_and_others_by_the_newest(site: Client) -> None:
    _populate(3)
    page = site.get(reverse(ENTRIES), {"board__exact": DAY}).content.decode()
    assert _order(page, "Player2", "Player1", "Player0")
    assert ALL_TIME not in page
    page = site.get(reverse(ENTRIES)).content.decode()
    assert page.count("Player0") == 2


def test_lines_are_found_by_a_whole_name_or_a_key(site: Client) -> None:
    _populate(12)
    for query, found, missing in [
        ("player1", "Player1<", "Player11"),
        (DAY, DAY, ALL_TIME),
        ("daily:2026-01-01", "0 scores", "Player"),
        ("\0", "Player1", "error"),
    ]:
        page = site.get(reverse(ENTRIES), {"q": query}).content.decode()
        table = page[page.index('id="changelist-form"') :]
        assert found in table
        assert missing not in table


def test_lines_are_removed_with_a_reason_and_restored(site: Client) -> None:
    players = _populate(3)
    freeze_board(board=DAY, at=1)
    best = ScoreEntry.objects.get(board=DAY, player=players[2])
    assert "write the reason" in _decide(site, "remove", [best], "  ")
    assert selectors.leaderboard_rank(DAY, players[2].pk) == 1
    assert "Done with 1 lines" in _decide(site, "remove", [best], "a program played")
    assert selectors.leaderboard_rank(DAY, players[2].pk) is None
    assert selectors.leaderboard_rank(DAY, players[1].pk) == 1
    assert selectors.leaderboard_rank(ALL_TIME, players[2].pk) == 1
    page = site.get(reverse(ENTRIES), {"unlisted": "1"}).content.decode()
    assert "Player2" in page
    assert "Player1" not in page
    assert "Done with 1 lines" in _decide(site, "restore", [best], "it did not")
    assert selectors.leaderboard_rank(DAY, players[2].pk) == 1
    page = site.get(reverse(DECISIONS)).content.decode()
    for word in ("a program played", "it did not", "Boss", "Player2", "removed", "restored"):
        assert word in page


def test_too_many_at_once_are_refused(site: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    from accounts.admin.scores import ScoreEntryAdmin

    monkeypatch.setattr(ScoreEntryAdmin, "MOST_AT_ONCE", 3)
    _populate(2)
    assert "choose 3 at most" in _decide(site, "remove", list(ScoreEntry.objects.all()), "why")
    assert not StandingDecision.objects.exists()


def test_who_may_only_look_cannot_remove() -> None:
    (player,) = _populate(1)
    looker = create_player(name="Looker")
    looker.is_staff = True
    looker.save()
    looker.user_permissions.set(Permission.objects.filter(codename="view_scoreentry"))
    client = Client()
    client.force_login(looker)
    _decide(client, "remove", list(ScoreEntry.objects.filter(player=player)), "why")
    assert not StandingDecision.objects.exists()


def test_a_line_shows_its_rank_and_its_player_leads_to_it(site: Client) -> None:
    players = _populate(3)
    entry = ScoreEntry.objects.get(board=DAY, player=players[0])
    address = reverse("admin:accounts_scoreentry_change", args=[entry.pk])
    page = site.get(address).content.decode()
    assert "run0" in page
    assert '<div class="readonly">3</div>' in page
    page = site.get(reverse("admin:accounts_player_change", args=[players[0].pk])).content.decode()
    assert f"{reverse(ENTRIES)}?player__id__exact={players[0].pk}" in page
    page = site.get(reverse(ENTRIES), {"player__id__exact": players[0].pk}).content.decode()
    assert page.count("run0") == 2


def test_boards_show_how_many_lines_they_list(site: Client) -> None:
    players = _populate(3)
    Player.objects.filter(pk=players[0].pk).update(is_active=False)
    freeze_board(board="daily:2026-11-29", at=0)
    page = site.get(reverse("admin:accounts_scoreboard_changelist")).content.decode()
    for text in ('field-listed">2<', 'field-listed">0<', "1970-01-01T00:00:00.000Z"):
        assert text in page
    assert f"{reverse(ENTRIES)}?board__exact=daily%3A2026-11-30" in page


@pytest.mark.parametrize("model", [ScoreBoard, ScoreEntry, StandingDecision])
def test_nothing_is_edited_or_deleted_by_hand(site: Client, boss: Player, model: Any) -> None:
    (player,) = _populate(1)
    remove_score(board=DAY, player_id=player.pk, by=boss.pk, reason="why")
    row = model.objects.order_by("pk").first()
    before = model.objects.values().get(pk=row.pk)
    name = f"admin:accounts_{model._meta.model_name}"
    assert site.get(reverse(f"{name}_change", args=[row.pk])).status_code == 200
    change = {"score": 1, "reason": "x", "frozen_at": 5}
    assert site.post(reverse(f"{name}_change", args=[row.pk]), change).status_code == 403
    assert site.post(reverse(f"{name}_delete", args=[row.pk])).status_code == 403
    assert site.get(reverse(f"{name}_add")).status_code == 403
    assert model.objects.values().get(pk=row.pk) == before

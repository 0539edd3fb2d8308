"""The admin's pages of standing: excluded, annulled, frozen, ended and closed with a reason, and by whom who may."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.urls import reverse

from accounts import selectors
from accounts.models import (
    Exclusion,
    LedgerRow,
    Player,
    RatingRow,
    ScoreBoard,
    Season,
    SeasonLine,
    SeasonPlan,
    StandingDecision,
    StandingJob,
)
from accounts.services.people import create_player
from accounts.services.scores import submit_score
from accounts.services.seasons import close_season
from accounts.services.standing_jobs import do_jobs
from common.ids import new_id
from tests.accounts.ledgers import KEY, players, rate
from tests.accounts.test_seasons import DUE, END, START, play, season

pytestmark = pytest.mark.django_db

MODELS = (
    *("ratingrow", "ledgerrow", "exclusion", "season", "seasonplan", "seasonline"),
    *("standingjob", "standingdecision", "scoreboard"),
)
RIGHTS = ("annul_game", "exclude_player", "freeze_board", "manage_season", "recompute_ratings")


def _site(*rights: str) -> Client:
    staff = create_player(name="Staff")
    staff.is_staff = True
    staff.save()
    wanted = [*rights, *(f"view_{model}" for model in MODELS)]
    staff.user_permissions.set(Permission.objects.filter(codename__in=wanted))
    client = Client()
    client.force_login(staff)
    return client


@pytest.fixture
def site() -> Client:
    return _site(*RIGHTS)


def _list(model: str) -> str:
    return reverse(f"admin:accounts_{model}_changelist")


def _do(site: Client, model: str, action: str, rows: Any, reason: str = "why") -> str:
    chosen = {"action": action, "_selected_action": [row.pk for row in rows], "reason": reason}
    return site.post(_list(model), chosen, follow=True).content.decode()


def test_a_player_is_excluded_here_or_everywhere_and_put_back(site: Client) -> None:
    (ada,) = players(1)
    for key in (KEY, "duo:rapid"):
        RatingRow.objects.create(player_id=ada, key=key, mu=2000, sigma=90, games=9)
    blitz = RatingRow.objects.filter(key=KEY)
    assert "write the reason" in _do(site, "ratingrow", "exclude_here", blitz, " ")
    assert selectors.leaderboard_rank(KEY, ada) == 1
    assert "Done with 1 lines" in _do(site, "ratingrow", "exclude_here", blitz, "under inquiry")
    assert selectors.leaderboard_rank(KEY, ada) is None
    assert selectors.leaderboard_rank("duo:rapid", ada) == 1
    _do(site, "ratingrow", "exclude_everywhere", blitz)
    assert selectors.leaderboard_rank("duo:rapid", ada) is None
    assert "Player0" in site.get(_list("ratingrow"), {"excluded": "1"}).content.decode()
    _do(site, "exclusion", "restore", Exclusion.objects.all(), "no proof")
    assert selectors.leaderboard_rank(KEY, ada) == selectors.leaderboard_rank("duo:rapid", ada) == 1
    page = site.get(_list("standingdecision")).content.decode()
    for words in ("under inquiry", "no proof", "Staff", "Player Restored"):
        assert words in page


def test_games_are_annulled_and_restored_by_jobs(site: Client) -> None:
    ada, bob = players(2)
    games = [new_id(), new_id()]
    for game in games:
        rate((ada, 1), (bob, 2), game_id=game)
    rows = LedgerRow.objects.filter(game_id=games[0])
    assert "1 jobs asked for" in _do(site, "ledgerrow", "annul", rows, "sat together")
    assert "Waiting" in site.get(_list("standingjob")).content.decode()
    assert do_jobs() == 1
    page = site.get(_list("standingjob")).content.decode()
    for words in ("Done", "sat together", "Staff", "2 games in 4 rows"):
        assert words in page
    page = site.get(_list("ledgerrow"), {"annulled": "1"}).content.decode()
    assert games[0] in page
    assert games[1] not in page
    _do(site, "ledgerrow", "restore", rows, "they did not")
    do_jobs()
    assert not LedgerRow.objects.filter(annulled=True).exists()


def test_a_key_is_recomputed_by_a_job_and_the_form_checks_it(site: Client) -> None:
    ada, bob = players(2)
    rate((ada, 1), (bob, 2))
    RatingRow.objects.update(mu=1)
    address = reverse("admin:accounts_standingjob_add")
    assert (
        "A key such as"
        in site.post(address, {"kind": "check", "subject": "x", "reason": "why"}).content.decode()
    )
    assert "required" in site.post(address, {"kind": "check", "subject": KEY}).content.decode()
    site.post(address, {"kind": "recompute", "subject": KEY, "reason": "a fault"}, follow=True)
    assert do_jobs() == 1
    assert RatingRow.objects.filter(mu=1).count() == 0
    assert StandingDecision.objects.get().reason == "a fault"


def test_a_board_is_frozen_with_a_reason(site: Client) -> None:
    (ada,) = players(1)
    board = "daily:2026-11-30"
    submit_score(board=board, player_id=ada, score=5, placements=1, finished_at=1, source="run")
    boards = ScoreBoard.objects.all()
    assert "write the reason" in _do(site, "scoreboard", "freeze", boards, "")
    _do(site, "scoreboard", "freeze", boards, "over")
    frozen = ScoreBoard.objects.get().frozen_at
    assert frozen is not None
    _do(site, "scoreboard", "freeze", boards, "again")
    assert ScoreBoard.objects.get().frozen_at == frozen
    assert StandingDecision.objects.get().action == "board-frozen"
    page = site.get(_list("standingdecision"), {"key": board}).content.decode()
    assert "over" in page


def _form(**fields: Any) -> dict[str, Any]:
    usual = {
        "name": "Winter",
        "begins_0": "2027-01-01",
        "begins_1": "00:00:00",
        "ends_0": "2027-04-01",
        "ends_1": "00:00:00",
        "begins": "2027-01-01 00:00:00",
        "ends": "2027-04-01 00:00:00",
        "keys": "duo:blitz, duo:rapid",
        "min_games": "3",
        "titles": '[{"title": "First", "rank": 1}]',
        "reason": "announced",
    }
    return usual | fields


def test_a_season_is_made_changed_ended_closed_and_frozen_again(site: Client) -> None:
    site.post(reverse("admin:accounts_season_add"), _form())
    made = Season.objects.get()
    assert (made.starts_at, made.ends_at, made.keys) == (START, END, [KEY, "duo:rapid"])
    change = reverse("admin:accounts_season_change", args=[made.pk])
    assert "2027-01-01" in site.get(change).content.decode()
    site.post(change, _form(min_games="5", reason="too few games"))
    assert Season.objects.get().min_games == 5
    assert "has not begun" in _do(site, "season", "end_now", [made])
    Season.objects.update(starts_at=1)
    _do(site, "season", "end_now", [made], "it is over")
    ended = Season.objects.get()
    assert ended.ends_at < END
    Season.objects.update(ends_at=2)
    assert "1 jobs asked for" in _do(site, "season", "close", [made], "over")
    do_jobs()
    assert Season.objects.get().closed_at is not None
    page = site.get(change).content.decode()
    assert "duo:rapid: 0 lines" in page
    site.post(change, _form(name="Other"))
    assert Season.objects.get().name == "Winter", "closed ones are not changed"
    _do(site, "season", "refreeze", [made], "fraud")
    do_jobs()
    said = StandingDecision.objects.order_by("id").values_list("action", "reason")
    assert list(said) == [
        ("season-made", "announced"),
        ("season-changed", "too few games"),
        ("season-ended", "it is over"),
        ("season-closed", "over"),
        ("season-refrozen", "fraud"),
    ]


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("keys", "duo:blitz,daily:2026-11-30", "variant:speed"),
        ("keys", "duo:blitz,duo:blitz", "each once"),
        ("titles", '[{"title": "x"}]', "A title is"),
        ("titles", "5", "Titles are a list"),
        ("ends", "2027-01-01 00:00:00", "ends after it begins"),
        ("reason", "", "required"),
        ("min_games", "0", "season_min_games"),
    ],
)
def test_a_season_that_makes_no_sense_is_not_made(
    site: Client, field: str, value: str, told: str
) -> None:
    fields = {field: value}
    if field == "ends":
        fields |= {"ends_0": "2027-01-01", "ends_1": "00:00:00"}
    page = site.post(reverse("admin:accounts_season_add"), _form(**fields)).content.decode()
    assert told in page
    assert not Season.objects.exists()
    assert not StandingDecision.objects.exists()


def test_a_plan_is_made_and_switched_on(site: Client) -> None:
    fields = _form(name="Kado", period="quarter", active="on")
    site.post(reverse("admin:accounts_seasonplan_add"), fields)
    assert SeasonPlan.objects.get().active
    assert StandingDecision.objects.get().facts["what"] == "Kado"


@pytest.mark.parametrize("right", RIGHTS)
def test_who_lacks_a_right_can_do_nothing_with_it(right: str) -> None:
    site = _site(*(other for other in RIGHTS if other != right))
    ada, bob = players(2)
    rate((ada, 1), (bob, 2))
    submit_score(
        board="daily:2026-11-30", player_id=ada, score=5, placements=1, finished_at=1, source="run"
    )
    held = season(starts_at=1, ends_at=2)
    if right == "annul_game":
        _do(site, "ledgerrow", "annul", LedgerRow.objects.all())
        page = site.get(reverse("admin:accounts_standingjob_add")).content.decode()
        assert "annul a game" not in page
    elif right == "exclude_player":
        _do(site, "ratingrow", "exclude_here", RatingRow.objects.all())
    elif right == "freeze_board":
        _do(site, "scoreboard", "freeze", ScoreBoard.objects.all())
    elif right == "manage_season":
        _do(site, "season", "close", [held])
        assert site.get(reverse("admin:accounts_season_add")).status_code == 403
    else:
        fields = {"kind": "recompute", "subject": KEY, "reason": "why"}
        site.post(reverse("admin:accounts_standingjob_add"), fields)
    assert not StandingJob.objects.exists()
    assert not StandingDecision.objects.exists()
    assert not ScoreBoard.objects.exclude(frozen_at=None).exists()


def _crowd() -> Iterator[Any]:
    people = players(24)
    play(people[:6], rounds=8)
    for number, player in enumerate(people):
        Exclusion.objects.create(player_id=player, key="duo:rapid", since=number)
    held = season(min_games=1)
    close_season(season_id=held.pk, now=DUE)
    yield held


def test_no_list_counts_a_large_table_or_asks_for_each_line(
    site: Client, django_assert_max_num_queries: Any
) -> None:
    (held,) = _crowd()
    table = held.tables.get().pk
    asked: list[str] = []

    def note(execute: Any, sql: str, *rest: Any) -> Any:
        asked.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(note):
        for model, query in [
            ("ratingrow", {"leaderboard": KEY}),
            ("ratingrow", {"excluded": "1"}),
            ("ratingrow", {"q": "player3"}),
            ("ledgerrow", {"q": KEY}),
            ("ledgerrow", {"annulled": "1"}),
            ("exclusion", {}),
            ("season", {}),
            ("seasonline", {"table__id__exact": table}),
            ("standingjob", {}),
            ("standingdecision", {}),
        ]:
            with django_assert_max_num_queries(10):
                assert site.get(_list(model), query).status_code == 200
    counts = [
        sql
        for sql in asked
        if "COUNT(*)" in sql
        and any(name in sql for name in ("ratingrow", "ledgerrow", "seasonline", "standingjob"))
    ]
    assert len(counts) >= 7
    assert all("LIMIT 10000" in sql for sql in counts)


def test_a_leaderboard_and_a_table_are_shown_in_their_order(site: Client) -> None:
    (held,) = _crowd()
    table = held.tables.get()
    names = list(SeasonLine.objects.order_by("line").values_list("name", flat=True))
    for address in (
        f"{_list('ratingrow')}?leaderboard={KEY}",
        f"{_list('seasonline')}?table__id__exact={table.pk}",
    ):
        page = site.get(address).content.decode()
        page = page[page.index('id="changelist-form"') :]
        found = [page.index(f">{name}<") for name in names]
        assert found == sorted(found), address
    assert Player.objects.filter(name__in=names).count() == len(names)

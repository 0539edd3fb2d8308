"""Seasons: who counts, the order, the boundary to the millisecond, closed once, frozen for good."""

import random
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import IntegrityError, connections, transaction

from accounts import rules
from accounts.errors import SeasonNotOverError, UnknownSeasonError
from accounts.models import (
    LedgerRow,
    Player,
    RatingRow,
    Season,
    SeasonLine,
    SeasonPlan,
    SeasonTable,
    StandingDecision,
)
from accounts.season_rules import GRACE_MS
from accounts.services import seasons
from accounts.services.annulment import annul_game, restore_game
from accounts.services.exclusions import exclude_player
from accounts.services.people import create_player
from accounts.services.seasons import (
    close_due_seasons,
    close_season,
    end_season,
    make_due_seasons,
    refreeze_season,
)
from common.clock import to_datetime
from common.ids import new_id
from games.territory.models import Game
from tests.accounts.ledgers import KEY, players, rate

START, END = 1_798_761_600_000, 1_806_537_600_000  # 2027-01-01 and 2027-04-01, UTC
DUE = END + GRACE_MS


def season(**fields: Any) -> Season:
    usual = {"name": "Winter", "starts_at": START, "ends_at": END, "keys": [KEY], "min_games": 2}
    return Season.objects.create(**{**usual, **fields})


def play(people: list[int], rounds: int = 12, seed: int = 1, at: int = START) -> None:
    """Everybody against everybody, so often that ratings are not provisional."""
    dice = random.Random(seed)
    for turn in range(rounds):
        for one, other in [(a, b) for a in people for b in people if a < b]:
            rate((one, dice.randint(1, 2)), (other, dice.randint(1, 2)), at=at + turn)


def table(key: str = KEY) -> list[tuple[int, str, int]]:
    lines = SeasonLine.objects.filter(table__key=key).order_by("line")
    return [(line.rank, line.name, line.games) for line in lines]


@pytest.mark.django_db
def test_the_final_table_is_the_leaderboard_of_those_who_played_enough() -> None:
    people = players(5)
    play(people)
    rate((people[0], 1), (create_player(name="Guesting").pk, 2), at=START + 50)
    RatingRow.objects.filter(key=KEY).update(mu=0)  # what is so now does not matter
    held = season(
        min_games=45, titles=[{"title": "First", "rank": 1}, {"title": "Half", "percent": 50}]
    )
    assert close_season(season_id=held.pk, now=DUE)
    last = {row.player_id: row for row in LedgerRow.objects.order_by("sequence")}
    expected = sorted(
        (row for row in last.values() if row.player_id in people),
        key=lambda row: (-rules.shown(row.mu_after), -row.mu_after, row.sigma_after, row.player_id),
    )
    lines = list(SeasonLine.objects.order_by("line"))
    assert [(line.player_id, line.mu, line.sigma) for line in lines] == [
        (row.player_id, row.mu_after, row.sigma_after) for row in expected
    ]
    assert [line.line for line in lines] == [1, 2, 3, 4, 5]
    assert sorted(line.games for line in lines) == [48, 48, 48, 48, 49]
    assert [line.title for line in lines] == ["First", "Half", "", "", ""]
    assert SeasonTable.objects.get().lines == 5


@pytest.mark.django_db
def test_equal_ratings_as_shown_share_the_rank_and_its_title() -> None:
    people = players(3)
    for number, player in enumerate(people):
        RatingRow.objects.create(player_id=player, key=KEY, sigma=90, games=1)
        LedgerRow.objects.create(
            game_id=new_id(),
            player_id=player,
            key=KEY,
            sequence=1,
            rank=1,
            mu_before=1500,
            sigma_before=90,
            mu_after=[1600.2, 1600.4, 1500][number],
            sigma_after=90,
            at=START,
        )
    held = season(min_games=1, titles=[{"title": "Champion", "rank": 1}])
    close_season(season_id=held.pk, now=DUE)
    lines = SeasonLine.objects.order_by("line").values_list("line", "rank", "player_id", "title")
    assert list(lines) == [
        (1, 1, people[1], "Champion"),
        (2, 1, people[0], "Champion"),
        (3, 3, people[2], ""),
    ]


@pytest.mark.django_db
def test_a_game_at_the_boundary_belongs_to_one_season() -> None:
    """The last millisecond is of the season, the end is of the next one."""
    people = players(4)
    play(people, at=START - 100)
    rate((people[0], 1), (people[1], 2), at=END - 1)
    rate((people[2], 1), (people[3], 2), at=END)
    first = season(min_games=1)
    second = season(name="Spring", starts_at=END, ends_at=END + 1000, min_games=1)
    earlier = season(name="Autumn", starts_at=START - 1000, ends_at=START, min_games=1)
    for each in (first, second, earlier):
        assert close_season(season_id=each.pk, now=DUE + 1000)
    names = {
        each.name: set(SeasonLine.objects.filter(table__season=each).values_list("name", flat=True))
        for each in (first, second, earlier)
    }
    assert names["Winter"] == {"Player0", "Player1"}
    assert names["Spring"] == {"Player2", "Player3"}
    assert len(names["Autumn"]) == 4


@pytest.mark.django_db
def test_provisional_excluded_and_banned_players_and_bots_are_left_out() -> None:
    people = players(5)
    play(people)
    newcomer = create_player(name="Newcomer").pk
    for _ in range(2):
        rate((newcomer, 1), (people[0], 2), at=START + 60)
    exclude_player(player_id=people[1], key=KEY, by=create_player(name="Boss").pk, reason="why")
    Player.objects.filter(pk=people[2]).update(is_active=False)
    Player.objects.filter(pk=people[3]).update(kind="bot")
    close_season(season_id=season().pk, now=DUE)
    assert {name for _, name, _ in table()} == {"Player0", "Player4"}


@pytest.mark.django_db
def test_a_season_is_closed_once_and_not_before_its_time() -> None:
    play(players(3))
    held = season()
    for now in (START, END - 1, END, DUE - 1):
        with pytest.raises(SeasonNotOverError):
            close_season(season_id=held.pk, now=now)
    assert close_due_seasons(now=DUE - 1) == 0
    assert close_due_seasons(now=DUE) == 1
    first = table()
    assert len(first) == 3
    assert close_due_seasons(now=DUE + 1) == 0
    assert not close_season(season_id=held.pk, now=DUE + 1)
    assert table() == first
    assert StandingDecision.objects.get().facts == {KEY: 3}
    with pytest.raises(UnknownSeasonError):
        close_season(season_id="nothing", now=DUE)


@pytest.mark.django_db(transaction=True)
def test_of_closers_at_once_one_closes() -> None:
    play(players(3), rounds=8)
    held, together = season(), Barrier(4)

    def close(_: int) -> bool:
        try:
            together.wait(20)
            return close_season(season_id=held.pk, now=DUE)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(close, range(4))) == [False, False, False, True]
    assert SeasonTable.objects.count() == 1
    assert StandingDecision.objects.count() == 1


@pytest.mark.django_db
def test_a_season_waits_for_games_that_are_not_rated_yet() -> None:
    play(players(3))
    held = season()
    game = {
        "variant": "duo",
        "rated": True,
        "clock_kind": "realtime",
        "initial_ms": 120_000,
        "increment_ms": 3_000,
        "status": "finished",
        "version": 9,
        "created_at": to_datetime(START),
    }
    waiting = Game.objects.create(finished_at=to_datetime(END - 1), **game)
    Game.objects.create(finished_at=to_datetime(END), **game)
    Game.objects.create(finished_at=to_datetime(END - 1), **{**game, "rated": False})
    Game.objects.create(finished_at=to_datetime(END - 1), **{**game, "variant": "junior"})
    with pytest.raises(SeasonNotOverError, match="1 games"):
        close_season(season_id=held.pk, now=DUE)
    assert close_due_seasons(now=DUE) == 0
    Game.objects.filter(pk=waiting.pk).update(settled_at=to_datetime(DUE))
    assert close_due_seasons(now=DUE) == 1


@pytest.mark.django_db
def test_what_happens_later_does_not_change_a_frozen_table_unless_an_admin_says_so() -> None:
    people, boss = players(4), create_player(name="Boss").pk
    play(people)
    fraud = new_id()
    rate((people[3], 1), (people[0], 2), game_id=fraud, at=END - 1)
    held = season()
    close_season(season_id=held.pk, now=DUE)
    kept = list(SeasonLine.objects.order_by("line").values())
    annul_game(game_id=fraud, by=boss, reason="why")
    annul_game(game_id=LedgerRow.objects.first().game_id, by=boss, reason="why")  # type: ignore[union-attr]
    Player.objects.filter(pk=people[1]).update(is_active=False)
    Player.objects.filter(pk=people[2]).update(name="Another")
    rate((people[0], 1), (people[1], 2), at=END)
    assert list(SeasonLine.objects.order_by("line").values()) == kept
    assert SeasonTable.objects.get().late_changes == 2
    facts = StandingDecision.objects.filter(action="game-annulled").first()
    assert facts is not None
    assert facts.facts["final_tables_left_as_they_are"] == ["Winter"]
    with pytest.raises(ValueError, match="reason"):
        refreeze_season(season_id=held.pk, by=boss, reason="", now=DUE)
    assert refreeze_season(season_id=held.pk, by=boss, reason="fraud", now=DUE + 5) == {KEY: 3}
    names = {name: games for _, name, games in table()}
    assert names.keys() == {"Player0", "Another", "Player3"}
    assert names["Player3"] == 36
    assert (SeasonTable.objects.get().late_changes, SeasonTable.objects.get().frozen_at) == (
        0,
        DUE + 5,
    )
    restore_game(game_id=fraud, by=boss, reason="no fraud")
    assert SeasonTable.objects.get().late_changes == 1
    last = StandingDecision.objects.filter(action="season-refrozen").get()
    assert (last.reason, last.by_name, last.season_id) == ("fraud", "Boss", held.pk)


@pytest.mark.django_db
def test_a_season_can_be_ended_early_and_an_open_one_cannot_be_frozen_again() -> None:
    boss = create_player(name="Boss").pk
    held = season()
    with pytest.raises(SeasonNotOverError):
        end_season(season_id=held.pk, by=boss, reason="why", now=START)
    with pytest.raises(SeasonNotOverError):
        refreeze_season(season_id=held.pk, by=boss, reason="why", now=DUE)
    end_season(season_id=held.pk, by=boss, reason="the rules change", now=START + 5)
    end_season(season_id=held.pk, by=boss, reason="again", now=START + 9)
    held.refresh_from_db()
    assert held.ends_at == START + 5
    assert StandingDecision.objects.get().facts["end_before"] == "2027-04-01T00:00:00.000Z"
    assert close_season(season_id=held.pk, now=START + 5 + GRACE_MS)


@pytest.mark.django_db
def test_a_plan_that_is_switched_on_has_the_present_and_the_next_season() -> None:
    plan = SeasonPlan.objects.create(name="Kado", period="quarter", keys=[KEY], min_games=7)
    assert make_due_seasons(now=START) == 0
    SeasonPlan.objects.update(active=True)
    assert make_due_seasons(now=START) == 2
    assert make_due_seasons(now=END - 1) == 0
    assert make_due_seasons(now=END) == 1
    made = Season.objects.order_by("starts_at").values_list("name", "starts_at", "min_games")
    assert [(name, start, games) for name, start, games in made][:2] == [
        ("Kado 2027 Q1", START, 7),
        ("Kado 2027 Q2", END, 7),
    ]
    Season.objects.filter(plan=plan, starts_at=START).update(ends_at=START + 1)
    assert make_due_seasons(now=START) == 0, "one that was ended early is not made again"
    season(name="Kado 2027 Q4")
    assert make_due_seasons(now=END + 100 * 86_400_000) == 0, "the name is taken; the others go on"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "fields",
    [
        {"ends_at": START},
        {"min_games": 0},
        {"closed_at": END - 1},
        {"starts_at": -1},
    ],
)
def test_the_database_refuses_seasons_that_make_no_sense(fields: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        season(**fields)


@pytest.mark.django_db
def test_games_have_told_seasons_how_to_wait() -> None:
    from games.territory.services.settle import unsettled_rated

    assert seasons._unsettled == [unsettled_rated]

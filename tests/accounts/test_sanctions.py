"""Bans: in force by the clock, told to the banned, off the leaderboards while they last, and kept for ever."""

import json
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from accounts import selectors
from accounts.errors import BannedError, QueueBannedError, UnknownPlayerError
from accounts.models import InboxItem, Player, RatingRow, Sanction
from accounts.selectors.sanctions import (
    ban_of,
    bans_of,
    require_may_play,
    require_may_queue,
    sanctions_of,
)
from accounts.services.people import cpu_player, create_player
from accounts.services.sanctions import ban, end_bans, lift
from accounts.services.scores import freeze_board, submit_score
from common.errors import ForbiddenError
from tests.accounts.boards import check_buckets

pytestmark = pytest.mark.django_db

NOW = 1_800_000_000_000
HOUR = 3_600_000
DAY, YESTERDAY = "daily:2026-11-30", "daily:2026-11-29"


@pytest.fixture
def boss() -> Player:
    return create_player(name="Boss", staff=True)


@pytest.fixture
def cheat() -> Player:
    return create_player(name="Cheat")


def _told(player: Player) -> list[dict[str, Any]]:
    rows = InboxItem.objects.filter(player=player).order_by("version")
    return [json.loads(row.payload) for row in rows]


def test_a_ban_is_in_force_to_the_millisecond_and_no_longer(cheat: Player) -> None:
    ban(player_id=cheat.pk, kind="play", reason="why", now=NOW, until=NOW + HOUR)
    found = ban_of(cheat.pk, "play", NOW + HOUR - 1)
    assert found is not None
    assert (found.until, found.reason, found.by) == (NOW + HOUR, "why", "")
    assert ban_of(cheat.pk, "play", NOW + HOUR) is None
    assert ban_of(cheat.pk, "queue", NOW) is None
    assert ban_of(create_player(name="Ada").pk, "play", NOW) is None


def test_of_several_bans_the_one_that_ends_last_is_told(cheat: Player, boss: Player) -> None:
    for hours, by in [(2, None), (5, boss.pk), (3, None)]:
        ban(
            player_id=cheat.pk, kind="queue", reason=f"{hours}", now=NOW, until=NOW + hours * HOUR,
            by=by,
        )  # fmt: skip
    (found,) = bans_of([cheat.pk, boss.pk], ["queue", "play"], NOW).values()
    assert (found.until, found.by) == (NOW + 5 * HOUR, "Boss")
    last = ban(player_id=cheat.pk, kind="queue", reason="for good", now=NOW)
    assert ban_of(cheat.pk, "queue", NOW + 10**12) is not None
    assert sanctions_of(cheat.pk)[0] == last
    assert len(sanctions_of(cheat.pk)) == 4


def test_the_refusals_say_until_when_and_why_to_the_banned_alone(
    cheat: Player, boss: Player
) -> None:
    ban(player_id=cheat.pk, kind="play", reason="a program played", now=NOW, until=NOW + HOUR)
    with pytest.raises(BannedError) as caught:
        require_may_play([cheat.pk, cheat.pk], NOW)
    problem = caught.value.problem()
    assert problem["until"] == "2027-01-15T09:00:00.000Z"
    assert problem["reason"] == "a program played"
    with pytest.raises(BannedError):
        require_may_queue(cheat.pk, NOW)
    with pytest.raises(BannedError) as caught:
        require_may_play([cheat.pk, boss.pk], NOW)
    assert caught.value.player_ids == {cheat.pk}
    assert "program" not in json.dumps(caught.value.problem())
    require_may_play([boss.pk], NOW)
    require_may_play([cheat.pk], NOW + HOUR)


def test_a_queue_ban_leaves_games_open(cheat: Player) -> None:
    ban(player_id=cheat.pk, kind="queue", reason="left three games", now=NOW)
    require_may_play([cheat.pk], NOW)
    with pytest.raises(QueueBannedError) as caught:
        require_may_queue(cheat.pk, NOW)
    assert caught.value.problem()["until"] is None


def test_the_banned_player_is_told_and_when_it_is_lifted_too(cheat: Player, boss: Player) -> None:
    made = ban(player_id=cheat.pk, kind="play", reason=" why ", now=NOW, by=boss.pk)
    assert lift(sanction_id=made.pk, reason="a mistake", by=boss.pk, now=NOW + 5)
    assert not lift(sanction_id=made.pk, reason="again", by=boss.pk, now=NOW + 6)
    assert _told(cheat) == [
        {"type": "banned", "kind": "play", "until": None, "reason": "why"},
        {"type": "ban_lifted", "kind": "play", "reason": "a mistake"},
    ]
    made.refresh_from_db()
    assert (made.by_name, made.lifted_by_name, made.lift_reason) == ("Boss", "Boss", "a mistake")
    assert (made.made_at, made.lifted_at) == (NOW, NOW + 5)
    assert ban_of(cheat.pk, "play", NOW + 6) is None


def test_a_ban_that_is_over_cannot_be_lifted(cheat: Player, boss: Player) -> None:
    made = ban(player_id=cheat.pk, kind="queue", reason="why", now=NOW, until=NOW + 1)
    assert not lift(sanction_id=made.pk, reason="too late", by=boss.pk, now=NOW + 1)
    made.refresh_from_db()
    assert made.lifted_at is None


def test_who_cannot_be_banned(cheat: Player, boss: Player) -> None:
    moderator = create_player(name="Moderator")
    Player.objects.filter(pk=moderator.pk).update(is_staff=True)
    for player, by in [
        (cpu_player("expert"), boss),
        (boss, boss),
        (boss, moderator),
    ]:
        with pytest.raises(ForbiddenError):
            ban(player_id=player.pk, kind="play", reason="why", now=NOW, by=by.pk)
    with pytest.raises(UnknownPlayerError):
        ban(player_id=2**40, kind="play", reason="why", now=NOW)
    assert not Sanction.objects.exists()
    ban(player_id=moderator.pk, kind="play", reason="why", now=NOW, by=boss.pk)


@pytest.mark.parametrize(
    "wrong",
    [
        {"reason": ""},
        {"until": NOW},
        {"lifted_at": NOW},
        {"lift_reason": "x"},
    ],
)
def test_the_database_refuses_what_no_ban_can_be(cheat: Player, wrong: dict[str, Any]) -> None:
    fields = {"kind": "play", "reason": "why", "made_at": NOW, **wrong}
    with pytest.raises(IntegrityError), transaction.atomic():
        Sanction.objects.create(player=cheat, **fields)


def _boards(cheat: Player) -> Player:
    """The cheat is first on two boards of scores, one of them frozen, and one of ratings; the rival is second."""
    rival = create_player(name="Rival")
    for number, player in enumerate([rival, cheat]):
        for board in (YESTERDAY, DAY):
            submit_score(
                board=board, player_id=player.pk, score=number, placements=0, finished_at=0,
                source="run",
            )  # fmt: skip
    freeze_board(board=YESTERDAY, at=NOW)
    _rate(cheat, rival)
    return rival


def _rate(*players: Player) -> None:
    for number, player in enumerate(players):
        RatingRow.objects.create(player=player, key="duo:blitz", mu=1800 - number, sigma=100)


def _first(board: str) -> str:
    return selectors.leaderboard_page(board, cursor=None, limit=1).entries[0].player.name


def test_ranks_close_up_while_a_play_ban_lasts_and_open_when_the_clock_has_passed_it(
    cheat: Player,
) -> None:
    rival = _boards(cheat)
    assert (_first(DAY), _first("duo:blitz")) == ("Cheat", "Cheat")
    ban(player_id=cheat.pk, kind="play", reason="why", now=NOW, until=NOW + HOUR)
    assert (_first(DAY), _first("duo:blitz")) == ("Rival", "Rival")
    assert selectors.leaderboard_rank(DAY, rival.pk) == 1
    assert _first(YESTERDAY) == "Cheat"  # what is final stays
    assert end_bans(now=NOW + HOUR - 1) == 0
    assert _first(DAY) == "Rival"
    assert end_bans(now=NOW + HOUR) == 1
    assert (_first(DAY), _first("duo:blitz")) == ("Cheat", "Cheat")
    assert end_bans(now=NOW + HOUR) == 0
    check_buckets()


def test_a_queue_ban_leaves_the_boards_alone(cheat: Player) -> None:
    _boards(cheat)
    ban(player_id=cheat.pk, kind="queue", reason="why", now=NOW)
    assert _first(DAY) == "Cheat"


def test_what_is_entered_during_a_ban_is_shown_after_it(cheat: Player) -> None:
    made = ban(player_id=cheat.pk, kind="play", reason="why", now=NOW)
    shown = submit_score(
        board=DAY, player_id=cheat.pk, score=1, placements=0, finished_at=0, source="run"
    )
    assert not shown
    assert not RatingRow.objects.filter(eligible=True, player=cheat).exists()
    boss = create_player(name="Boss", staff=True)
    lift(sanction_id=made.pk, reason="a mistake", by=boss.pk, now=NOW)
    assert _first(DAY) == "Cheat"


def test_one_of_two_bans_lifted_does_not_bring_back(cheat: Player, boss: Player) -> None:
    _boards(cheat)
    first = ban(player_id=cheat.pk, kind="play", reason="why", now=NOW, until=NOW + HOUR)
    ban(player_id=cheat.pk, kind="play", reason="why", now=NOW, until=NOW + 2 * HOUR)
    lift(sanction_id=first.pk, reason="a mistake", by=boss.pk, now=NOW)
    assert end_bans(now=NOW + HOUR) == 0
    assert _first(DAY) == "Rival"
    assert end_bans(now=NOW + 2 * HOUR) == 1
    assert _first(DAY) == "Cheat"


def test_a_closed_account_stays_off_when_its_ban_ends(cheat: Player) -> None:
    _boards(cheat)
    ban(player_id=cheat.pk, kind="play", reason="why", now=NOW, until=NOW + 1)
    Player.objects.filter(pk=cheat.pk).update(is_active=False)
    assert end_bans(now=NOW + 1) == 1
    assert _first(DAY) == "Rival"


def test_a_banned_bot_is_off_the_board_of_bots() -> None:
    bot, rival = (create_player(name=name, kind="bot") for name in ("Robot", "Rival"))
    _rate(bot, rival)

    def bots() -> list[str]:
        page = selectors.leaderboard_page("duo:blitz", cursor=None, limit=9, bots=True)
        return [entry.player.name for entry in page.entries]

    assert bots() == ["Robot", "Rival"]
    ban(player_id=bot.pk, kind="play", reason="why", now=NOW)
    assert bots() == ["Rival"]

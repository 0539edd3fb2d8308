"""Reports: made within limits, once for each matter; worked off with an outcome that their makers learn."""

import json
import threading
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, connections, transaction
from django.test import Client

from accounts.errors import AlreadyReportedError, TooManyReportsError
from accounts.models import InboxItem, Player, Report, Sanction
from accounts.selectors.reports import open_cases, open_reports, reports_about, reports_by
from accounts.selectors.sanctions import ban_of
from accounts.services import reports as service
from accounts.services.people import cpu_player, create_guest, create_player
from accounts.services.reports import (
    Flag,
    Punishment,
    claim_case,
    close_reports,
    raise_flags,
    release_case,
    report_player,
)
from accounts.services.tokens import issue_token
from tests.games.territory.tables import started

pytestmark = pytest.mark.django_db

NOW = 1_800_000_000_000


@pytest.fixture
def people() -> list[Player]:
    return [create_player(name=name) for name in ("Ada", "Ben", "Cy")]


@pytest.fixture
def moderator() -> Player:
    return create_player(name="Mo", staff=True)


def _report(reporter: Player, player: Player, now: int = NOW, **rest: str) -> Report:
    fields = {"kind": "cheating", "game_id": "", "words": "", **rest}
    return report_player(reporter_id=reporter.pk, player=player, now=now, **fields)


def _told(player: Player) -> list[dict[str, Any]]:
    rows = InboxItem.objects.filter(player=player).order_by("version")
    return [json.loads(row.payload) for row in rows]


def _post(player: Player, body: object, **headers: str) -> Any:
    _, secret = issue_token(player_id=player.pk, scopes=["play"])
    return Client(headers={"authorization": f"Bearer {secret}", **headers}).post(
        "/api/v1/reports", body, content_type="application/json"
    )


def test_a_report_by_rest_is_kept_once_for_a_key(people: list[Player]) -> None:
    ada, ben, _ = people
    game = started([ada.pk, ben.pk])
    body = {"player": "ben", "kind": "stalling", "game": game, "words": "He let the clock run."}
    key = {"idempotency-key": str(uuid4())}
    first, second = _post(ada, body, **key), _post(ada, body, **key)
    assert first.status_code == 201
    assert second.json() == first.json()
    (report,) = Report.objects.all()
    assert first.json() == {"report": report.pk}
    assert (report.reporter, report.player, report.game_id) == (ada, ben, game)
    assert (report.kind, report.words) == ("stalling", "He let the clock run.")
    assert _post(ada, body).json()["code"] == "already-reported"
    assert _post(ada, {"player": "Ben", "kind": "name"}).status_code == 201


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"player": "Nobody"}, "unknown-player"),
        ({"player": 7.5}, "unknown-player"),
        ({"player": "a\0b"}, "invalid"),
        ({"player": ["Ben"]}, "invalid"),
        ({"player": "Ada"}, "forbidden"),
        ({"player": "CPU-Expert"}, "forbidden"),
        ({"kind": "win-trading"}, "invalid"),
        ({"kind": "other"}, "invalid"),
        ({"words": "x" * 1_001}, "invalid"),
        ({"game": "NoSuchGame00"}, "unknown-game"),
        ({"game": "a b"}, "unknown-game"),
        ({"game": "other"}, "not-in-game"),
        ({"colour": "red"}, "invalid"),
    ],
)
def test_reports_that_are_refused(people: list[Player], change: dict[str, Any], code: str) -> None:
    ada, _, cy = people
    cpu_player("expert")
    if change.get("game") == "other":
        change = {"game": started([ada.pk, cy.pk])}
    answer = _post(ada, {"player": "Ben", "kind": "cheating", **change})
    assert answer.json()["code"] == code
    assert not Report.objects.exists()


def test_guests_and_strangers_do_not_report(people: list[Player]) -> None:
    guest, secret = create_guest()
    body = {"player": "Ben", "kind": "name"}
    assert _post(guest, body).json()["code"] == "not-for-guests"
    assert secret
    anonymous = Client().post("/api/v1/reports", body, content_type="application/json")
    assert anonymous.status_code == 401
    assert not Report.objects.exists()


def test_the_limits(people: list[Player], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MOST_OPEN", 2)
    monkeypatch.setattr(service, "MOST_A_DAY", 3)
    ada, ben, cy = people
    first = _report(ada, ben)
    _report(ada, cy)
    with pytest.raises(TooManyReportsError):
        _report(ada, create_player(name="Dee"))
    mo = create_player(name="Mo", staff=True)
    close_reports(
        player_id=ben.pk, report_ids=[first.pk], outcome="dismissed", note="no", by=mo.pk, now=NOW
    )
    _report(ada, ben, now=NOW + 1)
    Report.objects.all().delete()
    for number in range(3):
        report = _report(ada, ben, now=NOW + number)
        Report.objects.filter(pk=report.pk).update(closed_at=NOW, outcome="dismissed", note="x")
    with pytest.raises(TooManyReportsError):
        _report(ada, ben, now=NOW + service.DAY_MS - 1)
    assert _report(ada, ben, now=NOW + service.DAY_MS + 1).at == NOW + service.DAY_MS + 1


@pytest.mark.django_db(transaction=True)
def test_the_same_report_at_once_is_kept_once(people: list[Player]) -> None:
    ada, ben, _ = people
    barrier, refused = threading.Barrier(5), []

    def work() -> None:
        barrier.wait()
        try:
            _report(ada, ben)
        except AlreadyReportedError as error:
            refused.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Report.objects.count() == 1
    assert len(refused) == 4


def test_the_work_list_groups_by_player_and_begins_with_the_longest_waiting(
    people: list[Player], moderator: Player
) -> None:
    ada, ben, cy = people
    _report(ada, ben, now=NOW + 2)
    _report(ada, cy, now=NOW + 1)
    _report(cy, ben, now=NOW)
    cases = open_cases()
    assert [(case.name, case.oldest, case.reports) for case in cases] == [
        ("Ben", NOW, 2),
        ("Cy", NOW + 1, 1),
    ]
    assert claim_case(player_id=ben.pk, by=moderator.pk, now=NOW) == 2
    assert [case.claimed_by for case in open_cases()] == [("Mo",), ()]
    assert release_case(player_id=ben.pk, by=ada.pk) == 0
    assert release_case(player_id=ben.pk, by=moderator.pk) == 2
    assert open_cases(limit=1, offset=1)[0].name == "Cy"
    assert [report.reporter for report in open_reports(ben.pk)] == [cy, ada]


def test_a_warning_reaches_the_player_and_the_news_of_it_the_reporters(
    people: list[Player], moderator: Player
) -> None:
    ada, ben, cy = people
    chosen = [_report(ada, ben).pk, _report(cy, ben).pk]
    closed = close_reports(
        player_id=ben.pk,
        report_ids=chosen,
        outcome="warned",
        note="two at once",
        warning="Do not stall.",
        by=moderator.pk,
        now=NOW + 9,
    )
    assert closed == 2
    assert _told(ben) == [{"type": "warned", "reason": "Do not stall."}]
    for reporter, report in zip((ada, cy), chosen, strict=True):
        assert _told(reporter) == [
            {"type": "report_closed", "report": report, "player": "Ben", "acted": True}
        ]
    assert open_cases() == []
    (row, _) = reports_about(ben.pk)
    assert (row.outcome, row.note, row.closed_by_name, row.closed_at) == (
        "warned", "two at once", "Mo", NOW + 9,
    )  # fmt: skip
    assert [report.pk for report in reports_by(ada.pk)] == chosen[:1]


def test_a_ban_is_made_with_the_outcome_or_neither_is(
    people: list[Player], moderator: Player
) -> None:
    ada, ben, _ = people
    report = _report(ada, ben)
    ban = Punishment("play", NOW + 1_000, "A program played.")

    def close() -> int:
        return close_reports(
            player_id=ben.pk, report_ids=[report.pk], outcome="banned", note="sure",
            punishment=ban, by=moderator.pk, now=NOW,
        )  # fmt: skip

    assert close() == 1
    assert close() == 0  # another moderator's page, a moment later
    (sanction,) = Sanction.objects.all()
    report.refresh_from_db()
    assert report.sanction == sanction
    assert ban_of(ben.pk, "play", NOW) is not None
    assert _told(ada)[0]["acted"]
    assert "program" not in json.dumps(_told(ada))


def test_a_dismissal_is_told_and_has_no_consequence(
    people: list[Player], moderator: Player
) -> None:
    ada, ben, cy = people
    report, other = _report(ada, ben), _report(ada, cy)
    closed = close_reports(
        player_id=ben.pk, report_ids=[report.pk, other.pk], outcome="dismissed", note="fine",
        by=moderator.pk, now=NOW,
    )  # fmt: skip
    assert closed == 1  # the other is about somebody else
    assert _told(ben) == []
    assert [event["acted"] for event in _told(ada)] == [False]
    with pytest.raises(ValueError, match="a note"):
        close_reports(
            player_id=cy.pk, report_ids=[other.pk], outcome="dismissed", note=" ",
            by=moderator.pk, now=NOW,
        )  # fmt: skip
    assert _report(ada, ben).pk != report.pk  # closed ones do not stand in the way of a new one


def _flag(one: Player, two: Player, ended: list[int], enough: int = 3) -> Flag:
    games = tuple((f"game{at:08}", at) for at in ended)
    return Flag("win-trading", one.pk, two.pk, {"games_together": len(ended)}, games, enough)


def test_a_flag_is_open_once_and_comes_back_only_with_enough_new_games(
    people: list[Player], moderator: Player
) -> None:
    ada, ben, _ = people
    assert raise_flags(flags=[_flag(ada, ben, [1, 2, 3])], now=10) == 1
    assert raise_flags(flags=[_flag(ada, ben, [1, 2, 3])], now=10) == 0
    assert raise_flags(flags=[_flag(ada, ben, [1, 2, 3, 4])], now=20) == 0
    (flag,) = Report.objects.all()
    assert flag.evidence == {
        "games_together": 4,
        "games": ["game00000001", "game00000002", "game00000003", "game00000004"],
    }
    assert [report.pk for report in reports_about(ben.pk)] == [flag.pk]
    assert [report.pk for report in reports_about(ada.pk)] == [flag.pk]
    close_reports(
        player_id=ada.pk, report_ids=[flag.pk], outcome="dismissed", note="friends",
        by=moderator.pk, now=30,
    )  # fmt: skip
    assert InboxItem.objects.count() == 0
    assert raise_flags(flags=[_flag(ada, ben, [2, 3, 4, 31, 32])], now=40) == 0
    assert raise_flags(flags=[_flag(ada, ben, [4, 31, 32, 33])], now=40) == 1
    assert Report.objects.filter(closed_at=None).count() == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"reporter": None},
        {"evidence": {}},
        {"closed_at": NOW},
        {"closed_at": NOW, "outcome": "dismissed"},
        {"outcome": "dismissed"},
    ],
)
def test_the_database_refuses_what_no_report_can_be(
    people: list[Player], wrong: dict[str, Any]
) -> None:
    ada, ben, _ = people
    fields = {"reporter": ada, "player": ben, "kind": "name", "at": NOW, **wrong}
    with pytest.raises(IntegrityError), transaction.atomic():
        Report.objects.create(**fields)

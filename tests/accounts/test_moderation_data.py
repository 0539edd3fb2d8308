"""Reports, flags and sanctions in a person's export, and what an erasure leaves of them."""

import json
from typing import Any

import msgspec
import pytest

from accounts.models import InboxItem, Report, Sanction
from accounts.names import Renaming
from accounts.services.own_data import moderation
from accounts.services.people import create_player
from accounts.services.reports import Flag, close_reports, raise_flags, report_player
from accounts.services.sanctions import ban, lift

pytestmark = pytest.mark.django_db

NOW = 1_800_000_000_000


def test_a_person_gets_their_bans_their_own_reports_and_the_flags_and_not_who_reported_them() -> (
    None
):
    ada, ben, mo = (create_player(name=name, staff=name == "Mo") for name in ("Ada", "Ben", "Mo"))
    made = ban(player_id=ada.pk, kind="queue", reason="left games", now=NOW, until=NOW + 1_000)
    lift(sanction_id=made.pk, reason="an outage", by=mo.pk, now=NOW + 1)
    fields: dict[str, Any] = {"kind": "other", "game_id": "", "now": NOW}
    report_player(reporter_id=ada.pk, player=ben, words="Ben is rude.", **fields)
    report_player(reporter_id=ben.pk, player=ada, words="A secret of Ben's.", **fields)
    games = tuple((f"game{n:08}", n) for n in range(3))
    flag = Flag("win-trading", ben.pk, ada.pk, {"words": "3 of 3"}, games, 3)
    raise_flags(flags=[flag], now=NOW)
    (sanction,) = moderation.export_sanctions(ada.pk)
    assert (sanction.kind, sanction.reason, sanction.lift_reason) == ("queue", "left games", "an outage")  # fmt: skip
    reports = moderation.export_reports(ada.pk)
    assert [(each.about, each.words) for each in reports.made] == [("Ben", "Ben is rude.")]
    assert [(each.kind, each.words) for each in reports.flags] == [("win-trading", "3 of 3")]
    assert b"secret" not in msgspec.json.encode(reports)


def test_an_erasure_removes_what_is_about_the_person_and_renames_what_they_decided() -> None:
    ada, ben, mo = (create_player(name=name, staff=name == "Mo") for name in ("Ada", "Ben", "Mo"))
    ban(player_id=ada.pk, kind="play", reason="why", now=NOW)
    kept = ban(player_id=ben.pk, kind="play", reason="as ada and Adam said", now=NOW, by=mo.pk)
    fields: dict[str, Any] = {"kind": "other", "game_id": "", "words": "x", "now": NOW}
    report_player(reporter_id=ada.pk, player=ben, **fields)
    report_player(reporter_id=ben.pk, player=ada, **fields)
    third = create_player(name="Cy")
    report = report_player(reporter_id=third.pk, player=ben, **fields | {"words": "Ada knows."})
    close_reports(
        player_id=ben.pk, report_ids=[report.pk], outcome="dismissed", note="asked Mo", by=mo.pk,
        now=NOW,
    )  # fmt: skip
    moderation.erase_sanctions(ada.pk)
    moderation.erase_reports(ada.pk)
    moderation.rename_in_moderation(Renaming.of(ada.pk, ["Ada"], "Erased-1"))
    moderation.rename_in_moderation(Renaming.of(mo.pk, ["Mo"], "Erased-2"))
    (sanction,) = Sanction.objects.all()
    assert (sanction, sanction.reason) == (kept, "as Erased-1 and Adam said")
    assert sanction.by_name == "Erased-2"
    told = json.loads(InboxItem.objects.get(player=ben, payload__contains="banned").payload)
    assert told == {"type": "banned", "kind": "play", "until": None, "reason": sanction.reason}
    (left,) = Report.objects.all()
    assert (left.words, left.note) == ("Erased-1 knows.", "asked Erased-2")
    assert left.closed_by_name == "Erased-2"

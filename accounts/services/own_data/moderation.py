"""Reports, flags and sanctions: about the person, and by the person."""

from datetime import datetime

import msgspec
from django.db.models import Q
from msgspec import Struct

from accounts.events import BanLifted, Banned, Warned
from accounts.models import InboxItem, Report, Sanction
from accounts.names import Renaming
from common.clock import to_datetime


class SanctionData(Struct, frozen=True):
    """A ban of the person; `until` null is for good."""

    kind: str
    made_at: datetime
    until: datetime | None
    reason: str
    lifted_at: datetime | None
    lift_reason: str


class ReportMadeData(Struct, frozen=True):
    about: str
    kind: str
    game: str
    words: str
    at: datetime


class FlagData(Struct, frozen=True):
    """What the nightly look at games found; `words` say the numbers."""

    kind: str
    at: datetime
    words: str
    games: list[str]


class ReportsData(Struct, frozen=True):
    """What others reported about the person is theirs, and not here."""

    made: list[ReportMadeData]
    flags: list[FlagData]


def export_sanctions(player_id: int) -> list[SanctionData]:
    return [
        SanctionData(
            kind=row.kind,
            made_at=to_datetime(row.made_at),
            until=None if row.until is None else to_datetime(row.until),
            reason=row.reason,
            lifted_at=None if row.lifted_at is None else to_datetime(row.lifted_at),
            lift_reason=row.lift_reason,
        )
        for row in Sanction.objects.filter(player_id=player_id).order_by("pk")
    ]


def erase_sanctions(player_id: int) -> None:
    """The account is closed for good, which is more than any ban."""
    Sanction.objects.filter(player_id=player_id).delete()


def export_reports(player_id: int) -> ReportsData:
    made = Report.objects.filter(reporter_id=player_id).select_related("player").order_by("at")
    pair = Q(player_id=player_id) | Q(other_id=player_id)
    flags = Report.objects.filter(pair, reporter=None).order_by("at")
    return ReportsData(
        made=[
            ReportMadeData(row.player.name, row.kind, row.game_id, row.words, to_datetime(row.at))
            for row in made
        ],
        flags=[
            FlagData(
                kind=row.kind,
                at=to_datetime(row.at),
                words=str((row.evidence or {}).get("words", "")),
                games=[str(game) for game in (row.evidence or {}).get("games", [])],
            )
            for row in flags
        ],
    )


def erase_reports(player_id: int) -> None:
    mine = Q(player_id=player_id) | Q(other_id=player_id) | Q(reporter_id=player_id)
    Report.objects.filter(mine).delete()


def rename_in_moderation(renaming: Renaming) -> None:
    """What the person decided as a moderator stays, and what others wrote that names them."""
    _rename_in_sanctions(renaming)
    _rename_in_inboxes(renaming)
    closed = Q(closed_by_id=renaming.player_id)
    for old in renaming.olds:
        closed |= Q(words__icontains=old) | Q(note__icontains=old)
    for report in Report.objects.filter(closed).iterator(chunk_size=500):
        report.words = renaming.in_words(report.words)[:1000]
        report.note = renaming.in_words(report.note)[:1000]
        if report.closed_by_id == renaming.player_id:
            report.closed_by_name = renaming.new
        report.save(update_fields=["words", "note", "closed_by_name"])


def _rename_in_sanctions(renaming: Renaming) -> None:
    by = Q(by_id=renaming.player_id) | Q(lifted_by_id=renaming.player_id)
    for old in renaming.olds:
        by |= Q(reason__icontains=old) | Q(lift_reason__icontains=old)
    for sanction in Sanction.objects.filter(by).iterator(chunk_size=500):
        sanction.reason = renaming.in_words(sanction.reason)[:500]
        sanction.lift_reason = renaming.in_words(sanction.lift_reason)[:500]
        if sanction.by_id == renaming.player_id:
            sanction.by_name = renaming.new
        if sanction.lifted_by_id == renaming.player_id:
            sanction.lifted_by_name = renaming.new
        sanction.save(update_fields=["reason", "lift_reason", "by_name", "lifted_by_name"])


def _rename_in_inboxes(renaming: Renaming) -> None:
    """Moderators' words were sent to players. One look at every item, as for names (own_data/inbox.py)."""
    mentions, kinds = Q(), Q()
    for old in renaming.olds:
        mentions |= Q(payload__icontains=old)
    for event in (Banned, BanLifted, Warned):
        kinds |= Q(payload__startswith=f'{{"type":"{event.__struct_config__.tag}"')
    for item in InboxItem.objects.filter(mentions, kinds).iterator(chunk_size=500):
        told = msgspec.json.decode(item.payload)
        told["reason"] = renaming.in_words(told["reason"])
        InboxItem.objects.filter(pk=item.pk).update(payload=msgspec.json.encode(told).decode())

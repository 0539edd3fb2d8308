"""Reports about players: made by players, raised as flags by the nightly look at games, worked off by moderators."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q

from accounts.errors import (
    AlreadyReportedError,
    NotForGuestsError,
    NotInGameError,
    TooManyReportsError,
)
from accounts.events import ReportClosed, Warned
from accounts.models import Player, Report, Sanction
from accounts.selectors.sanctions import BanKind
from accounts.services.inbox import notify
from accounts.services.sanctions import ban
from common.errors import ForbiddenError

MOST_OPEN = 20
"""Reports of one player that wait for a moderator."""
MOST_A_DAY = 40
"""Reports that one player makes in 24 hours."""
DAY_MS = 24 * 3_600_000

PLAYER_KINDS = (
    Report.Kind.CHEATING,
    Report.Kind.STALLING,
    Report.Kind.NAME,
    Report.Kind.OTHER,
)
"""What players may report; the other kinds are flags."""

Seated = Callable[[str], Collection[int]]
_games: list[Seated] = []


def offer_games(seated: Seated) -> None:
    """Let reports name games. `seated` gives the players of a game, or raises what its app says of an unknown one.

    The app that keeps the games calls this at start-up.
    """
    _games[:] = [seated]


@transaction.atomic
def report_player(
    *, reporter_id: int, player: Player, kind: str, game_id: str, words: str, now: int
) -> Report:
    """A player complains about another, perhaps about a game (its id, or empty).

    Raises `NotForGuestsError`, `ForbiddenError` (oneself, or a built-in CPU player), the games' own error for an
    unknown game, `NotInGameError`, `AlreadyReportedError`, `TooManyReportsError`.
    """
    # The row lock lets one after the other count.
    reporter = Player.objects.select_for_update(no_key=True).get(pk=reporter_id)
    if reporter.kind == Player.Kind.GUEST:
        raise NotForGuestsError
    if player == reporter:
        raise ForbiddenError("Nobody reports themselves.")
    if player.level:
        raise ForbiddenError("The built-in CPU players cannot be reported.")
    if game_id and player.pk not in _games[0](game_id):
        raise NotInGameError
    mine = Report.objects.filter(reporter=reporter)
    if mine.filter(closed_at=None)[:MOST_OPEN].count() == MOST_OPEN:
        raise TooManyReportsError("Wait until a moderator has read some.", limit=MOST_OPEN)
    if mine.filter(at__gt=now - DAY_MS)[:MOST_A_DAY].count() == MOST_A_DAY:
        raise TooManyReportsError("Go on tomorrow.", limit=MOST_A_DAY)
    try:
        with transaction.atomic():
            return Report.objects.create(
                reporter=reporter, player=player, kind=kind, game_id=game_id, words=words, at=now
            )
    except IntegrityError:
        raise AlreadyReportedError from None


@dataclass(frozen=True, slots=True)
class Flag:
    """What the nightly look found about two players; `games` are those that it was counted in, oldest first.

    `enough` is how many games the rule needs: after a moderator has closed a flag, only so many new games raise it
    again.
    """

    kind: str
    player_id: int
    other_id: int
    facts: dict[str, Any]
    games: tuple[tuple[str, int], ...]
    """Their ids, and when they ended (milliseconds since the epoch)."""
    enough: int


KEPT_GAMES = 50
"""Games that the evidence of a flag names, the newest."""


def raise_flags(*, flags: Iterable[Flag], now: int) -> int:
    """Put flags into the moderators' work list; how many are new. One that is open already gets the newer evidence.

    Doing it twice changes nothing. Nobody is punished, and nobody is told but the moderators.
    """
    return sum(_raise_flag(flag, now) for flag in flags)


@transaction.atomic
def _raise_flag(flag: Flag, now: int) -> bool:
    # Two nightly tasks at once meet in the first player's row.
    first = Player.objects.select_for_update(no_key=True).filter(pk=flag.player_id).first()
    if first is None or not Player.objects.filter(pk=flag.other_id).exists():
        return False
    about = Report.objects.filter(
        kind=flag.kind, player_id=flag.player_id, other_id=flag.other_id, reporter=None
    )
    evidence = {**flag.facts, "games": [game_id for game_id, _ in flag.games][-KEPT_GAMES:]}
    if about.filter(closed_at=None).update(evidence=evidence):
        return False
    closed = about.order_by("-closed_at").first()
    since = -1 if closed is None or closed.closed_at is None else closed.closed_at
    if sum(ended > since for _, ended in flag.games) < flag.enough:
        return False
    about.create(
        kind=flag.kind,
        player_id=flag.player_id,
        other_id=flag.other_id,
        evidence=evidence,
        at=now,
    )
    return True


def claim_case(*, player_id: int, by: int, now: int) -> int:
    """A moderator takes what is open about a player, from whoever had it; how many reports."""
    return Report.objects.filter(player_id=player_id, closed_at=None).update(
        claimed_by=by, claimed_at=now
    )


def release_case(*, player_id: int, by: int) -> int:
    """The moderator gives back what they had claimed."""
    mine = Report.objects.filter(player_id=player_id, closed_at=None, claimed_by=by)
    return mine.update(claimed_by=None, claimed_at=None)


@dataclass(frozen=True, slots=True)
class Punishment:
    """The ban that an outcome makes; `until` None is for good, `reason` is what the player reads."""

    kind: BanKind
    until: int | None
    reason: str


@transaction.atomic
def close_reports(
    *,
    player_id: int,
    report_ids: Collection[str],
    outcome: str,
    note: str,
    by: int,
    now: int,
    warning: str = "",
    punishment: Punishment | None = None,
) -> int:
    """Close open reports about one player with an outcome and a note for moderators; how many.

    `warned` tells the player the `warning`; `banned` makes the `punishment`. Each reporter learns whether it had a
    consequence. Reports that somebody else has closed meanwhile are left as they are, and without any left nothing
    happens. Raises what `ban` raises.
    """
    if not (note := note.strip()):
        raise ValueError("an outcome has a note")
    if (outcome == Report.Outcome.BANNED) != (punishment is not None):
        raise ValueError("the outcome `banned`, and no other, has a punishment")
    if (outcome == Report.Outcome.WARNED) != bool(warning.strip()):
        raise ValueError("the outcome `warned`, and no other, has a warning")
    moderator = Player.objects.get(pk=by)
    # Players first, in the order of their ids; then reports: as everywhere.
    people = Q(pk=player_id) | Q(reports_made__in=report_ids)
    ids = sorted(set(Player.objects.filter(people).values_list("pk", flat=True)))
    list(Player.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk"))
    reports = list(
        Report.objects.select_for_update()
        .filter(player_id=player_id, pk__in=report_ids, closed_at=None)
        .order_by("pk")
    )
    if not reports:
        return 0
    made = _punish(player_id, by, now, warning, punishment)
    Report.objects.filter(pk__in=[report.pk for report in reports]).update(
        closed_at=now,
        closed_by=moderator,
        closed_by_name=moderator.name,
        outcome=outcome,
        note=note,
        sanction=made,
    )
    _tell(reports, acted=outcome != Report.Outcome.DISMISSED, now=now)
    return len(reports)


def _punish(
    player_id: int, by: int, now: int, warning: str, punishment: Punishment | None
) -> Sanction | None:
    if warning.strip():
        notify(player_id=player_id, event=Warned(reason=warning.strip()), at=now)
    if punishment is None:
        return None
    return ban(
        player_id=player_id,
        kind=punishment.kind,
        reason=punishment.reason,
        until=punishment.until,
        now=now,
        by=by,
    )


def _tell(reports: Iterable[Report], *, acted: bool, now: int) -> None:
    told = [report for report in reports if report.reporter_id is not None]
    for report in sorted(told, key=lambda each: (each.reporter_id or 0, each.pk)):
        assert report.reporter_id is not None
        event = ReportClosed(report=report.pk, player=report.player.name, acted=acted)
        notify(player_id=report.reporter_id, event=event, at=now)

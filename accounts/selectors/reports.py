"""Reports as moderators see them: what is open, player by player, and what there was."""

from dataclasses import dataclass

from django.db.models import Count, Min, Q, QuerySet

from accounts.models import Report

PAGE = 50
"""Cases on a page of the work list."""


@dataclass(frozen=True, slots=True)
class Case:
    """All that is open about one player. `oldest` is in milliseconds since the epoch; `claimed_by` may be empty."""

    player_id: int
    name: str
    oldest: int
    kinds: tuple[tuple[str, int], ...]
    """Each kind of report, and how many of them are open; the most frequent first."""
    claimed_by: tuple[str, ...]

    @property
    def reports(self) -> int:
        return sum(count for _, count in self.kinds)


def open_cases(limit: int = PAGE, offset: int = 0) -> list[Case]:
    """The players about whom something is open, the longest waiting first."""
    waiting = (
        Report.objects.filter(closed_at=None)
        .values("player_id", "player__name")
        .annotate(oldest=Min("at"))
        .order_by("oldest", "player_id")[offset : offset + limit]
    )
    rows = list(waiting)
    open_now = Report.objects.filter(
        closed_at=None, player_id__in=[row["player_id"] for row in rows]
    )
    kinds = (
        open_now.values("player_id", "kind")
        .annotate(number=Count("id"))
        .order_by("-number", "kind")
    )
    by_player: dict[int, list[tuple[str, int]]] = {}
    for row in kinds:
        by_player.setdefault(row["player_id"], []).append((row["kind"], row["number"]))
    claims: dict[int, set[str]] = {}
    claimed = open_now.exclude(claimed_by=None).values_list("player_id", "claimed_by__name")
    for player_id, name in claimed.distinct():
        claims.setdefault(player_id, set()).add(name)
    return [
        Case(
            player_id=row["player_id"],
            name=row["player__name"],
            oldest=row["oldest"],
            kinds=tuple(by_player.get(row["player_id"], ())),
            claimed_by=tuple(sorted(claims.get(row["player_id"], ()))),
        )
        for row in rows
    ]


def open_reports(player_id: int) -> list[Report]:
    """What is open about a player, the oldest first."""
    return _with_people(Report.objects.filter(player_id=player_id, closed_at=None).order_by("at"))


def reports_about(player_id: int, limit: int = 20) -> list[Report]:
    """The newest reports about a player, flags of a pair that the player is in too, and closed ones."""
    about = Q(player_id=player_id) | Q(other_id=player_id)
    return _with_people(Report.objects.filter(about).order_by("-at")[:limit])


def reports_by(player_id: int, limit: int = 20) -> list[Report]:
    """The newest reports that a player has made."""
    return _with_people(Report.objects.filter(reporter_id=player_id).order_by("-at")[:limit])


def open_report_count(most: int = 1000) -> int:
    """How many reports are open; `most` is the largest answer, so that it is cheap whatever happens."""
    return Report.objects.filter(closed_at=None)[:most].count()


def _with_people(rows: QuerySet[Report]) -> list[Report]:
    return list(rows.select_related("player", "other", "reporter", "claimed_by"))

"""Seasons and their final tables. A line knows its rank, so everything here is a look-up in an index."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q

from accounts.errors import (
    InvalidCursorError,
    NotOnLeaderboardError,
    SeasonNotOverError,
    UnknownLeaderboardError,
    UnknownSeasonError,
)
from accounts.models import Season, SeasonLine, SeasonTable
from common.ids import is_id

MOST_TITLES = 20
"""So many titles a profile shows, the newest."""


@dataclass(frozen=True, slots=True)
class TablePage:
    """Lines that follow one another; `next` is the cursor of what comes after them, or None."""

    season: Season
    table: SeasonTable
    lines: Sequence[SeasonLine]
    next: str | None


def seasons_page(*, cursor: str | None = None, limit: int) -> tuple[list[Season], str | None]:
    """Seasons, those that begin last first, and the cursor of the next ones. Raises `InvalidCursorError`."""
    rows = Season.objects.prefetch_related("tables").order_by("-starts_at", "-id")
    if cursor is not None:
        begun, _, season_id = cursor.partition("-")
        if not _is_number(begun) or not is_id(season_id):
            raise InvalidCursorError
        after = Q(starts_at__lt=int(begun)) | Q(starts_at=int(begun), id__lt=season_id)
        rows = rows.filter(after, starts_at__lte=int(begun))
    found = list(rows[: limit + 1])
    shown = found[:limit]
    more = len(found) > limit
    return shown, f"{shown[-1].starts_at}-{shown[-1].pk}" if more else None


def season_of(season_id: str) -> Season:
    """Raises `UnknownSeasonError`."""
    seasons = Season.objects.prefetch_related("tables")
    season = seasons.filter(pk=season_id).first() if is_id(season_id) else None
    if season is None:
        raise UnknownSeasonError
    return season


def table_page(season_id: str, key: str, *, cursor: str | None, limit: int) -> TablePage:
    """A page of a final table. Raises `InvalidCursorError`, and what `_table` does."""
    season, table = _table(season_id, key)
    if cursor is not None and not _is_number(cursor):
        raise InvalidCursorError
    return _page(season, table, int(cursor or 0) + 1, limit)


def table_around(season_id: str, key: str, player_id: int, *, limit: int) -> TablePage:
    """`limit` lines with the player's in the middle, as far as the ends allow. Raises `NotOnLeaderboardError` too."""
    season, table = _table(season_id, key)
    own = SeasonLine.objects.filter(player_id=player_id, table=table)
    line = own.values_list("line", flat=True).first()
    if line is None:
        raise NotOnLeaderboardError
    first = max(1, min(line - limit // 2, table.lines - limit + 1))
    return _page(season, table, first, limit)


def season_titles(player_id: int) -> list[SeasonLine]:
    """The lines of final tables by which a player has titles, the newest first."""
    lines = SeasonLine.objects.filter(player_id=player_id).exclude(title="")
    return list(lines.select_related("table__season").order_by("-id")[:MOST_TITLES])


def _table(season_id: str, key: str) -> tuple[Season, SeasonTable]:
    """Raises `UnknownSeasonError`; `UnknownLeaderboardError` if it does not cover the key; `SeasonNotOverError`."""
    season = season_of(season_id)
    if key not in season.keys:
        raise UnknownLeaderboardError(f"{season.name} has no table {key!r}.")
    for table in season.tables.all():
        if table.key == key:
            return season, table
    raise SeasonNotOverError(f"The tables of {season.name} are made after its end.")


def _page(season: Season, table: SeasonTable, first: int, limit: int) -> TablePage:
    span = SeasonLine.objects.filter(table=table, line__range=(first, first + limit - 1))
    lines = list(span.select_related("player").order_by("line"))
    more = bool(lines) and lines[-1].line < table.lines
    return TablePage(season, table, lines, str(lines[-1].line) if more else None)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 15

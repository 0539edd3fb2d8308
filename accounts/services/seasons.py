"""Seasons: made by hand or by the calendar, ended, closed once, and frozen again if an admin says so."""

from collections.abc import Callable, Collection
from typing import Any

import structlog
from django.db import IntegrityError, connection, transaction

from accounts import rules
from accounts.errors import SeasonNotOverError, UnknownSeasonError
from accounts.models import Season, SeasonLine, SeasonPlan, SeasonTable
from accounts.season_rules import GRACE_MS, span_at, titles_of
from accounts.services.decisions import Action, checked_reason, note
from common.clock import rfc3339

logger = structlog.get_logger(__name__)

BY_CALENDAR = "by the calendar"

# The order is that of leaderboards (accounts/models/ratings.py, `place`), by the last change that ended in the span.
_FREEZE = """
WITH titles AS (
    SELECT * FROM unnest(%(titles)s::text[], %(ranks)s::int[], %(percents)s::float8[])
        WITH ORDINALITY AS title (title, rank, percent, number)
), played AS MATERIALIZED (
    SELECT DISTINCT ON (player_id) player_id, mu_after AS mu, sigma_after AS sigma,
        count(*) FILTER (WHERE NOT annulled) OVER (PARTITION BY player_id) AS games
    FROM accounts_ledgerrow WHERE key = %(key)s AND at >= %(starts_at)s AND at < %(ends_at)s
    ORDER BY player_id, sequence DESC
), counted AS (
    SELECT played.*, floor(played.mu + 0.5) AS shown
    FROM played JOIN accounts_ratingrow AS rating ON rating.player_id = played.player_id AND rating.key = %(key)s
    WHERE played.games >= %(min_games)s AND played.sigma < %(provisional)s
        AND rating.eligible AND NOT rating.excluded
), ranked AS (
    SELECT *, count(*) OVER () AS lines, rank() OVER (ORDER BY shown DESC) AS rank,
        row_number() OVER (ORDER BY shown DESC, mu DESC, sigma, player_id) AS line
    FROM counted
), lasts AS MATERIALIZED (
    SELECT title, number, coalesce(rank, floor(lines * percent / 100)) AS last
    FROM titles, (SELECT count(*) AS lines FROM counted) AS all_of_them
)
INSERT INTO accounts_seasonline (table_id, line, rank, player_id, name, mu, sigma, games, title)
SELECT %(table)s, line, rank, player_id, player.name, mu, sigma, games,
    CASE WHEN rank <= (SELECT max(last) FROM lasts)
        THEN (SELECT title FROM lasts WHERE rank <= last ORDER BY number LIMIT 1) ELSE '' END
FROM ranked JOIN accounts_player AS player ON player.id = player_id
"""

_unsettled: list[Callable[[Collection[str], int], int]] = []


def offer_unsettled(count: Callable[[Collection[str], int], int]) -> None:
    """Tell how many rated games of some keys that ended before an instant are not rated yet: seasons wait for them."""
    _unsettled.append(count)


def make_due_seasons(*, now: int) -> int:
    """The present and the next season of each plan that is switched on; how many were missing. Twice is once."""
    made = 0
    for plan in SeasonPlan.objects.filter(active=True).order_by("id"):
        for ahead in (0, 1):
            span = span_at(plan.period, now, ahead=ahead)
            if Season.objects.filter(plan=plan, starts_at=span.starts_at).exists():
                continue
            season = Season(
                plan=plan,
                name=f"{plan.name} {span.name}",
                starts_at=span.starts_at,
                ends_at=span.ends_at,
                keys=plan.keys,
                min_games=plan.min_games,
                titles=plan.titles,
            )
            made += _make(season)
    return made


def _make(season: Season) -> bool:
    try:
        with transaction.atomic():
            season.save(force_insert=True)
            note(Action.SEASON_MADE, by=None, reason=BY_CALENDAR, season_id=season.pk)
    except IntegrityError:  # another scheduler has just made it; or an admin a season of this name
        logger.warning("season_not_made", name=season.name)
        return False
    return True


def end_season(*, season_id: str, by: int, reason: str, now: int) -> None:
    """Let a season that runs end at this millisecond instead of later. It can be closed a minute after.

    Raises `UnknownSeasonError`, and `SeasonNotOverError` for one that has not begun.
    """
    with transaction.atomic():
        season = _locked(season_id)
        if season.closed_at is not None or season.ends_at <= now:
            return
        if season.starts_at >= now:
            raise SeasonNotOverError(f"{season.name} has not begun: change or delete it.")
        was, season.ends_at = season.ends_at, now
        season.save(update_fields=["ends_at"])
        facts = {"end_before": rfc3339(was), "end": rfc3339(now)}
        note(Action.SEASON_ENDED, by=by, reason=reason, season_id=season.pk, facts=facts)


def close_season(
    *, season_id: str, now: int, by: int | None = None, reason: str = BY_CALENDAR
) -> bool:
    """Freeze the tables of a season that is over; False if that has been done. Of two closers at once, one does it.

    Raises `UnknownSeasonError`; and `SeasonNotOverError` until a minute after its end, and while rated games that
    ended in it are not rated yet.
    """
    with transaction.atomic():
        season = _locked(season_id)
        if season.closed_at is not None:
            return False
        if now < season.ends_at + GRACE_MS:
            raise SeasonNotOverError(f"{season.name} can be closed a minute after its end.")
        if waiting := sum(count(season.keys, season.ends_at) for count in _unsettled):
            raise SeasonNotOverError(f"{waiting} games of {season.name} are not rated yet.")
        lines = {key: _freeze(season, key, now) for key in sorted(set(season.keys))}
        season.closed_at = now
        season.save(update_fields=["closed_at"])
        note(Action.SEASON_CLOSED, by=by, reason=reason, season_id=season.pk, facts=lines)
    logger.info("season_closed", season=season.pk, name=season.name, lines=lines)
    return True


def close_due_seasons(*, now: int) -> int:
    """Close every season whose end is a minute ago; how many. One that has to wait does not hold up the others."""
    due = Season.objects.filter(closed_at=None, ends_at__lte=now - GRACE_MS).order_by("ends_at")
    closed = 0
    for season_id in due.values_list("pk", flat=True):
        try:
            closed += close_season(season_id=season_id, now=now)
        except SeasonNotOverError as error:
            logger.warning("season_waits", season=season_id, why=str(error))
    return closed


def refreeze_season(*, season_id: str, by: int, reason: str, now: int) -> dict[str, int]:
    """Make the final tables of a closed season anew, from the ledger and the players as they are; lines by key.

    Raises `UnknownSeasonError`, and `SeasonNotOverError` for one that is not closed.
    """
    reason = checked_reason(reason)
    with transaction.atomic():
        season = _locked(season_id)
        if season.closed_at is None:
            raise SeasonNotOverError(f"{season.name} is not closed.")
        SeasonLine.objects.filter(table__season=season).delete()
        SeasonTable.objects.filter(season=season).delete()
        lines = {key: _freeze(season, key, now) for key in sorted(set(season.keys))}
        note(Action.SEASON_REFROZEN, by=by, reason=reason, season_id=season.pk, facts=lines)
    return lines


def _freeze(season: Season, key: str, now: int) -> int:
    """Write one final table; how many lines it has."""
    table = SeasonTable.objects.create(season=season, key=key, lines=0, frozen_at=now)
    titles = titles_of(season.titles)
    values: dict[str, Any] = {
        "table": table.pk,
        "key": key,
        "starts_at": season.starts_at,
        "ends_at": season.ends_at,
        "min_games": season.min_games,
        "provisional": rules.PROVISIONAL_SIGMA,
        "titles": [title.title for title in titles],
        "ranks": [title.rank for title in titles],
        "percents": [title.percent for title in titles],
    }
    with connection.cursor() as cursor:
        cursor.execute(_FREEZE, values)
        table.lines = cursor.rowcount
    table.save(update_fields=["lines"])
    return table.lines


def _locked(season_id: str) -> Season:
    season = Season.objects.select_for_update(no_key=True).filter(pk=season_id).first()
    if season is None:
        raise UnknownSeasonError
    return season

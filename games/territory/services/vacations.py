"""Vacations: while a player is on one, the time stands in all correspondence games that the player was in.

The row of the player says what is so; the games are told afterwards, each by an event. Telling holds the row's lock, so
that a beginning and an end that follow each other do not overtake in any game, and is done again by the sweeper until
it is `settled`.
"""

from dataclasses import dataclass
from typing import Final

from django.db import transaction
from django.db.models import Q

from common import database
from common.clock import to_datetime
from games.territory import decide as de
from games.territory import leaving, selectors
from games.territory.errors import NoVacationLeftError
from games.territory.models import Vacation
from games.territory.services.live import LiveGame
from games.territory.services.play import perform

DAY_MS: Final = 24 * 60 * 60 * 1000
QUOTA_MS: Final = 30 * DAY_MS
"""How long a player may be on vacation in a year, by UTC. A vacation counts for the year in which it begins."""
LEAST_MS: Final = DAY_MS
"""What a vacation counts at least, so that it is not switched on and off for every game that is in a hurry."""
LIMIT: Final = 50


@dataclass(frozen=True, slots=True)
class VacationView:
    """Whether a player is on vacation, until when at the latest, and how much is left of the year's quota."""

    on: bool
    until: int | None
    left_ms: int


def vacation_of(*, player_id: int, now: int) -> VacationView:
    """A player's vacation."""
    row = Vacation.objects.filter(pk=player_id).first()
    if row is None:
        return VacationView(on=False, until=None, left_ms=QUOTA_MS)
    if row.until is not None and now < row.until:
        return VacationView(on=True, until=row.until, left_ms=row.until - now)
    return VacationView(on=False, until=None, left_ms=_left(row, now))


def begin(*, player_id: int, now: int) -> VacationView:
    """Go on vacation; nothing happens if the player is. Raises `NoVacationLeftError`."""
    with transaction.atomic():
        Vacation.objects.get_or_create(pk=player_id, defaults={"year": _year(now), "used_ms": 0})
        row = Vacation.objects.select_for_update().get(pk=player_id)
        _end_if_over(row, now)
        if row.began is None:
            left = _left(row, now)
            if left < LEAST_MS:
                raise NoVacationLeftError
            row.used_ms, row.year = QUOTA_MS - left, _year(now)
            row.began, row.until, row.settled = now, now + left, False
        row.save()
    see_to(player_id, now=now)
    return vacation_of(player_id=player_id, now=now)


def end(*, player_id: int, now: int) -> VacationView:
    """Come back; nothing happens if the player is."""
    with transaction.atomic():
        row = Vacation.objects.select_for_update().filter(pk=player_id).first()
        if row is not None and row.began is not None:
            _end(row, now)
            row.save()
    see_to(player_id, now=now)
    return vacation_of(player_id=player_id, now=now)


def due(*, now: int) -> list[int]:
    """Players whose vacation is over, or of whose vacation games are still to be told."""
    wanted = Vacation.objects.filter(Q(until__lte=now) | Q(settled=False))
    return list(wanted.values_list("pk", flat=True)[:LIMIT])


def see_to(player_id: int, *, now: int) -> None:
    """End the player's vacation if it is over, and tell the games what has changed. Doing it again changes nothing."""
    with transaction.atomic():
        row = Vacation.objects.select_for_update().filter(pk=player_id).first()
        if row is None:
            return
        _end_if_over(row, now)
        if not row.settled:
            for game_id in selectors.correspondence_games(player_id):
                _tell(game_id, player_id, row.until)
            row.settled = True
        row.save()


def _tell(game_id: str, player_id: int, until: int | None) -> None:
    def command(live: LiveGame) -> de.Command:
        return leaving.Vacation(live.seating.seat_for(player_id, None), until)

    database.wait(perform(game_id, command, fresh=True))


def _end_if_over(row: Vacation, now: int) -> None:
    if row.until is not None and now >= row.until:
        _end(row, row.until)


def _end(row: Vacation, now: int) -> None:
    assert row.began is not None
    row.used_ms = min(QUOTA_MS, row.used_ms + max(LEAST_MS, now - row.began))
    row.began = row.until = None
    row.settled = False


def _left(row: Vacation, now: int) -> int:
    return QUOTA_MS - row.used_ms if row.year == _year(now) else QUOTA_MS


def _year(now: int) -> int:
    return to_datetime(now).year

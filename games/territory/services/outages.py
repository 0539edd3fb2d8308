"""Outages, noticed by a heartbeat in the database, and given back to the games whose clocks ran meanwhile.

Each web process beats every second. The first beat after a gap, whichever process makes it, writes the gap down as an
outage: nobody could play then, whether the web processes, PostgreSQL or the whole machine were away. While there are no
beats no realtime turn is ended, and before one ends every outage is given back that the game has lived through
(services/play.py); the sweeper gives it to all others. docs/clocks.md publishes the rule.
"""

from dataclasses import dataclass

import structlog
from django.conf import settings
from django.db import transaction

from common.clock import to_datetime
from common.errors import UnavailableError
from games.territory.models import Game, Heartbeat, Outage

logger = structlog.get_logger(__name__)

BEAT_SECONDS = 1.0
LIMIT = 500
"""Games that one round of a sweeper gives time to."""

_here: list[str] = []


@dataclass(frozen=True, slots=True)
class Away:
    """An outage: its number, when the service was last there, and when it was back."""

    number: int
    began: int
    ended: int


def serve(*, here: bool) -> None:
    """This process is a web process, and beats; or it is none any more."""
    _here[:] = ["web"] if here else []


def beat(now: int) -> Outage | None:
    """Say that the service is there; the outage, if it was away until now."""
    with transaction.atomic():
        last = Heartbeat.objects.select_for_update().filter(pk=Heartbeat.ONLY).first()
        if last is None:
            Heartbeat.objects.bulk_create(
                [Heartbeat(pk=Heartbeat.ONLY, at=now)], ignore_conflicts=True
            )
            return None
        outage = None
        if now - last.at > settings.OUTAGE_MS:
            outage = Outage.objects.create(began=last.at, ended=now)
            logger.warning("service_was_away", outage=outage.pk, ms=now - last.at)
        if now > last.at:
            last.at = now
            last.save(update_fields=["at"])
    return outage


def is_away(now: int) -> bool:
    """Whether no web process has said for too long that the service is there. Before the first one ever did, it is."""
    last = Heartbeat.objects.filter(pk=Heartbeat.ONLY).values_list("at", flat=True).first()
    return last is not None and now - last > settings.OUTAGE_MS


def since(began: int, deadline: int, now: int) -> list[Away]:
    """The outages that a game which began then has lived through, asked because its turn's `deadline` has come.

    Raises `UnavailableError` if the service is not known to have been there at the deadline: an outage that nobody has
    noticed yet may have begun before it.
    """
    if _here:
        beat(now)  # this process may be back before its next beat: the gap is written down first
    else:
        last = Heartbeat.objects.filter(pk=Heartbeat.ONLY).values_list("at", flat=True).first()
        if last is not None and last < deadline:
            raise UnavailableError("The service is coming back; ask again.")
    lived = Outage.objects.filter(ended__gt=began).order_by("pk")
    return [Away(*row) for row in lived.values_list("pk", "began", "ended")]


def unfinished() -> list[Outage]:
    """The outages that have not been given to every game yet."""
    return list(Outage.objects.filter(done=False).order_by("pk"))


def next_games(outage: Outage) -> list[str]:
    """Some realtime games that were being played in an outage and have not been looked at since, in order."""
    played = Game.objects.filter(
        status=Game.Status.STARTED,
        clock_kind="realtime",
        created_at__lt=to_datetime(outage.ended),
        id__gt=outage.given_to,
    )
    return list(played.order_by("id").values_list("id", flat=True)[:LIMIT])


def looked_at(outage: Outage, game_ids: list[str]) -> None:
    """Go on after these games; without any, all have been given theirs. Several sweepers may be at it."""
    unfinished = Outage.objects.filter(pk=outage.pk)
    if game_ids:
        unfinished.filter(given_to__lt=game_ids[-1]).update(given_to=game_ids[-1])
    else:
        unfinished.update(done=True)

"""Counting who leaves matched games, and keeping from the pools who does so again and again."""

from typing import Final

import redis
import structlog
from django.db import transaction

from accounts.selectors import presence
from accounts.services.sanctions import ban
from common import database
from common.clock import from_datetime
from common.errors import KadoError
from games.territory import rules, selectors
from games.territory.departures import MEMORY_MS, Kind, ban_ms, departures
from games.territory.models import Departure, Game

logger = structlog.get_logger(__name__)

ONE_BY_ONE: Final = "SELECT pg_advisory_xact_lock(hashtext('territory_departure'), %s)"


def note_departures(*, game_id: str, now: int) -> None:
    """Count who has spoilt a matched realtime game that is over. Doing it again, or in several processes, adds nothing.

    It has transactions of its own: a ban tells its player, and settling tells all players in a fixed order.
    """
    game = Game.objects.filter(pk=game_id, settled_at=None, clock_kind="realtime").first()
    if game is None or not game.pool or game.finished_at is None:
        return
    if game.termination in ("completed", "resigned") and rules.variant(game.variant).seats == 2:
        return  # both were there: the most frequent ends need not be read
    state, seating = selectors.load_state(game_id), selectors.seating(game_id)
    ended_at = from_datetime(game.finished_at)
    for seat, kind in departures(state, _away(seating, now), ended_at).items():
        if not seating.levels[seat]:
            _note(game_id, seating.players[seat], kind, now)


def _note(game_id: str, player_id: int, kind: Kind, now: int) -> None:
    with transaction.atomic():
        database.prepared(ONE_BY_ONE, [player_id])  # or two games at once would count one each
        mine = Departure.objects.filter(player_id=player_id)
        if mine.filter(game_id=game_id).exists():
            return
        Departure.objects.create(game_id=game_id, player_id=player_id, kind=kind, at=now)
        count = mine.filter(at__gt=now - MEMORY_MS).count()
        logger.info("departure", game=game_id, player=player_id, kind=kind, count=count)
        if banned_ms := ban_ms(count):
            reason = f"You have left, or not begun, {count} games in a week."
            try:
                with transaction.atomic():
                    until = now + banned_ms
                    ban(player_id=player_id, kind="queue", reason=reason, now=now, until=until)
            except (
                KadoError
            ):  # whom the rules may not ban: that must not keep the game from being settled
                logger.exception("departure_without_ban", game=game_id, player=player_id)


def _away(seating: selectors.Seating, now: int) -> dict[int, int]:
    """The seats whose players are not connected, and since when; none while that is not known."""
    try:
        since = presence.away_since(seating.people, now)
    except redis.RedisError:
        return {}
    return {seat: since[player] for seat, player in enumerate(seating.players) if player in since}

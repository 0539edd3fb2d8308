"""What matchmaking does when something happens in the games below it."""

from typing import Any

import redis
import structlog
from django.dispatch import receiver

from common.clock import now_ms
from games.territory.signals import game_started
from matchmaking.services.tickets import drop_tickets

log = structlog.get_logger(__name__)


@receiver(game_started, dispatch_uid="matchmaking.drop_tickets")
def forget_tickets(*, player_ids: list[int], **_: Any) -> None:
    """Whoever starts a game, even one against the CPU, no longer waits for another."""
    try:
        drop_tickets(player_ids=player_ids, now=now_ms())
    except redis.RedisError as error:
        # A ticket that stays lapses with its lease; a second matched game is refused by the engagement.
        log.warning("tickets not dropped", players=player_ids, error=str(error))

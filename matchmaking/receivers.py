"""What matchmaking does when something happens in the games below it."""

from typing import Any

import redis
import structlog
from django.dispatch import receiver

from accounts.signals import player_banned, player_became_bot
from common.clock import now_ms
from games.territory.signals import game_started
from matchmaking.services.tickets import drop_tickets

log = structlog.get_logger(__name__)


@receiver(game_started, dispatch_uid="matchmaking.drop_tickets")
def forget_tickets(*, player_ids: list[int], **_: Any) -> None:
    """Whoever starts a game, even one against the CPU, no longer waits for another."""
    _drop(player_ids)


@receiver(player_became_bot, dispatch_uid="matchmaking.drop_tickets_of_bot")
def forget_tickets_of_bot(*, player_id: int, **_: Any) -> None:
    """Whoever becomes a bot does not wait among people any more; a match of this moment is refused (`make_match`)."""
    _drop([player_id])


@receiver(player_banned, dispatch_uid="matchmaking.drop_tickets_of_banned")
def forget_tickets_of_banned(*, player_id: int, **_: Any) -> None:
    """Whoever is banned, from play or from pools, does not wait any more; a match of this moment is refused."""
    _drop([player_id])


def _drop(player_ids: list[int]) -> None:
    try:
        drop_tickets(player_ids=player_ids, now=now_ms())
    except redis.RedisError as error:
        # A ticket that stays lapses with its lease; a second matched game is refused by the engagement.
        log.warning("tickets not dropped", players=player_ids, error=str(error))

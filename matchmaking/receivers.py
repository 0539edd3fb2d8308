"""What matchmaking does when something happens in the games below it."""

from typing import Any

import redis
import structlog
from django.dispatch import receiver

from accounts.signals import block_made, player_banned, player_became_bot
from common.clock import now_ms
from games.territory.signals import game_started
from matchmaking.services.matching import note_blocks
from matchmaking.services.tickets import drop_tickets

log = structlog.get_logger(__name__)


@receiver(game_started, dispatch_uid="matchmaking.drop_tickets")
def forget_tickets(*, player_ids: list[int], live: bool, **_: Any) -> None:
    """Whoever starts a game, even one against the CPU, no longer waits for another, but of one by correspondence."""
    if live:
        _drop(player_ids)


@receiver(player_became_bot, dispatch_uid="matchmaking.drop_tickets_of_bot")
def forget_tickets_of_bot(*, player_id: int, **_: Any) -> None:
    """Whoever becomes a bot does not wait among people any more; a match of this moment is refused (`make_match`)."""
    _drop([player_id])


@receiver(player_banned, dispatch_uid="matchmaking.drop_tickets_of_banned")
def forget_tickets_of_banned(*, player_id: int, **_: Any) -> None:
    """Whoever is banned, from play or from pools, does not wait any more; a match of this moment is refused."""
    _drop([player_id])


@receiver(block_made, dispatch_uid="matchmaking.note_blocks")
def part_tickets(*, blocker_id: int, blocked_id: int, **_: Any) -> None:
    """Two of whom one blocks the other are not paired, though both wait already."""
    try:
        note_blocks(player_ids=[blocker_id, blocked_id])
    except redis.RedisError as error:
        # A match of the two is refused all the same, and their tickets are put right then (`make_match`).
        log.warning("block not noted", players=[blocker_id, blocked_id], error=str(error))


def _drop(player_ids: list[int]) -> None:
    try:
        drop_tickets(player_ids=player_ids, now=now_ms())
    except redis.RedisError as error:
        # A ticket that stays lapses with its lease; a second matched game is refused by the engagement.
        log.warning("tickets not dropped", players=player_ids, error=str(error))

"""What runs in the default Celery workers."""

import structlog
from celery import shared_task

from common.clock import now_ms
from games.territory.services.settle import settle

logger = structlog.get_logger(__name__)


@shared_task(name="territory.settle_games")
def settle_games(game_ids: list[str]) -> None:
    """Settle finished games. Delivered twice or late, it finds nothing to do; what fails is left to the sweeper."""
    for game_id in game_ids:
        try:
            settle(game_id=game_id, now=now_ms())
        except Exception:
            logger.exception("settle_failed", game=game_id)

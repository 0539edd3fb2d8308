"""What runs in the default Celery workers."""

import structlog
from celery import shared_task

from accounts.services.jobs import claimed, day_of
from common.clock import now_ms
from games.territory.services.fair_play import look
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


@shared_task(name="territory.fair_play")
def fair_play() -> None:
    """Look for pairs worth a moderator's look, once a day; what fails is tried again in an hour."""
    with claimed("fair-play", day_of(now_ms())) as claim:
        if claim is not None:
            looked = look(now=now_ms())
            logger.info("fair_play", games=looked.games, found=looked.found, new=looked.new)

"""What runs in the default Celery workers."""

from celery import shared_task

from common.clock import now_ms
from games.territory.services.settle import settle


@shared_task(name="territory.settle_game")
def settle_game(game_id: str) -> None:
    """Settle a finished game. Delivered twice or late, it finds nothing to do."""
    settle(game_id=game_id, now=now_ms())

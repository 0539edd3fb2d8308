"""A CPU is to move: queue the choice. By name, so that no web process imports an engine."""

from typing import Any

from celery import current_app
from django.dispatch import receiver

from bots.queue import MOVE_LINE, QUEUE
from games.territory.services.follow_up import CPU_PATIENCE_MS
from games.territory.signals import turn_started


@receiver(turn_started)
def queue_choice(game_id: str, version: int, player_ids: list[int], **facts: Any) -> None:
    """Ask a bots worker for the move. When it is not chosen in time the sweeper asks again, and this wish expires."""
    priority = MOVE_LINE.join(player_ids, game_id, ms=CPU_PATIENCE_MS)
    current_app.send_task(
        "bots.choose_move",
        args=[game_id, version],
        queue=QUEUE,
        priority=priority,
        expires=CPU_PATIENCE_MS / 1000,
    )

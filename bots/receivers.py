"""A CPU is to move: queue the choice. By name, so that no web process imports an engine."""

from typing import Any

from celery import current_app
from django.dispatch import receiver

from games.territory.signals import turn_started


@receiver(turn_started)
def queue_choice(game_id: str, ply: int, **facts: Any) -> None:
    """Ask a bots worker for the move; if the queue is unreachable, the sweeper asks again."""
    current_app.send_task("bots.choose_move", args=[game_id, ply], queue="bots")

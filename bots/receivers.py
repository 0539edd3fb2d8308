"""What games tell: a CPU is to move, a sweeper has done a round. Tasks go by name: no web process imports an engine."""

from typing import Any

from celery import current_app
from django.dispatch import receiver

from bots.queue import MOVE_LINE, QUEUE
from bots.services.analyses import resume_analyses
from games.territory.services.follow_up import CPU_PATIENCE_MS
from games.territory.signals import swept, turn_started


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


@receiver(swept)
def look_for_analyses(now: int, **facts: Any) -> None:
    """Ask for the tasks of analyses that were lost."""
    resume_analyses(now=now)

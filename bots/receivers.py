"""What games tell: a CPU is to move, a sweeper has done a round. Tasks go by name: no web process imports an engine."""

from typing import Any

from django.dispatch import receiver

from bots.queue import MOVE_LINE
from bots.services.analyses import resume_analyses
from games.territory.services.follow_up import CPU_PATIENCE_MS
from games.territory.signals import swept, turn_started


@receiver(turn_started)
def queue_choice(game_id: str, version: int, player_ids: list[int], **facts: Any) -> None:
    """Ask a bots worker for the move. When it is not chosen in time the sweeper asks again, and this wish expires."""
    wish = game_id, version
    MOVE_LINE.send("bots.choose_move", wish, player_ids, game_id, ms=CPU_PATIENCE_MS)


@receiver(swept)
def look_for_analyses(now: int, **facts: Any) -> None:
    """Ask for the tasks of analyses that were lost."""
    resume_analyses(now=now)

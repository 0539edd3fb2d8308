"""What this app does on its own signals: hand the end of a game to a worker."""

from typing import Any

from django.dispatch import receiver

from games.territory import signals, tasks


@receiver(signals.game_finished)
def settle_in_worker(game_id: str, **facts: Any) -> None:
    """Ask a default worker to settle; if the queue is unreachable, the sweeper settles."""
    tasks.settle_game.delay(game_id)

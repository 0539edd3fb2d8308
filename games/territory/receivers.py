"""What this app does on its own signals: hand the end of a game to a worker."""

from typing import Any

from django.dispatch import receiver

from games.territory import signals, tasks


@receiver(signals.games_finished)
def settle_in_worker(game_ids: list[str], **facts: Any) -> None:
    """Ask a default worker to settle; if the queue is unreachable, the sweeper settles."""
    tasks.settle_games.delay(game_ids)

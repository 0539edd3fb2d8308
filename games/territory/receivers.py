"""What this app does on its own signals: hand the end of a game to a worker, and feature another one."""

from typing import Any

from django.dispatch import receiver

from games.territory import signals, tasks, watching


@receiver(signals.games_finished)
def settle_in_worker(game_ids: list[str], **facts: Any) -> None:
    """Ask a default worker to settle; if the queue is unreachable, the sweeper settles."""
    tasks.settle_games.delay(game_ids)


@receiver(signals.games_finished)
def feature_another(game_ids: list[str], **facts: Any) -> None:
    """Show the next featured game at once; otherwise the followers' comparison shows it."""
    watching.tell_of_ends(game_ids)

"""What this app does on its own signals: hand the end of a game to a worker, and feature another one."""

from typing import Any

from django.dispatch import receiver

from accounts.signals import presence_changed
from common import states
from games.territory import present, signals, tasks, watching
from games.territory.selectors import engaged_games


@receiver(signals.games_finished)
def settle_in_worker(game_ids: list[str], **facts: Any) -> None:
    """Ask a default worker to settle; if the queue is unreachable, the sweeper settles."""
    tasks.settle_games.delay(game_ids)


@receiver(signals.games_finished)
def feature_another(game_ids: list[str], **facts: Any) -> None:
    """Show the next featured game at once; otherwise the followers' comparison shows it."""
    watching.tell_of_ends(game_ids)


@receiver(presence_changed, dispatch_uid="territory.show_presence")
def show_presence(online: tuple[int, ...], offline: tuple[int, ...], **facts: Any) -> None:
    """Followers of the players' matched games see it at once, those of other games with the next comparison."""
    game_ids = engaged_games([*online, *offline]).values()
    if game_ids:
        states.touch(*sorted({present.stream_of(game_id) for game_id in game_ids}))

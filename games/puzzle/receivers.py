"""What this app does on signals of people: a guest who signs in brings scores along."""

from typing import Any

from django.dispatch import receiver

from accounts import signals
from games.puzzle.services.finish import enter_bests


@receiver(signals.player_registered)
def enter_bests_of_guest(player_id: int, **facts: Any) -> None:
    """In the transaction that makes the guest a registered player."""
    enter_bests(player_id=player_id)

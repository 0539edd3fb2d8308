"""`manage.py seed_pools`: the pools that the project starts with."""

from typing import Any

from django.core.management.base import BaseCommand

from matchmaking.models import Pool

MINUTE = 60_000
SECOND = 1_000
DAY = 24 * 60 * MINUTE
TIMES = {
    "duo-blitz": ("duo", Pool.Kind.REALTIME, 2 * MINUTE, 3 * SECOND),
    "duo-rapid": ("duo", Pool.Kind.REALTIME, 5 * MINUTE, 5 * SECOND),
    "duo-correspondence": ("duo", Pool.Kind.CORRESPONDENCE, 2 * DAY, 0),
    "classic-rapid": ("classic", Pool.Kind.REALTIME, 5 * MINUTE, 5 * SECOND),
    "classic-2-rapid": ("classic-2", Pool.Kind.REALTIME, 5 * MINUTE, 5 * SECOND),
    "classic-3-rapid": ("classic-3", Pool.Kind.REALTIME, 5 * MINUTE, 5 * SECOND),
}
"""Key: variant, kind of clock, initial time (for each move by correspondence) and increment, in milliseconds."""


class Command(BaseCommand):
    """Create the pools that are missing. What an operator has changed stays as it is."""

    help = "Create the seeded pools that are missing: manage.py seed_pools"

    def handle(self, *args: Any, **options: Any) -> None:
        for key, (variant, kind, initial_ms, increment_ms) in TIMES.items():
            for rated in (True, False):
                _, created = Pool.objects.get_or_create(
                    key=key if rated else f"{key}-casual",
                    defaults={
                        "variant": variant,
                        "kind": kind,
                        "initial_ms": initial_ms,
                        "increment_ms": increment_ms,
                        "rated": rated,
                        # Nothing is at stake in a casual game: rather a strong opponent than none.
                        "window_limit": 500 if rated else 1_000,
                    },
                )
                if created:
                    self.stdout.write(f"created {key if rated else f'{key}-casual'}")
        self.stdout.write(f"{Pool.objects.count()} pools")

"""The Django app."""

from django.apps import AppConfig


class MatchmakingConfig(AppConfig):
    """Pools, tickets and waves."""

    name = "matchmaking"

    def ready(self) -> None:
        from matchmaking import receivers  # noqa: F401  (connects them)
        from matchmaking.services.own_data import register_sections

        register_sections()

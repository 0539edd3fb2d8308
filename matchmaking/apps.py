"""The Django app."""

from django.apps import AppConfig


class MatchmakingConfig(AppConfig):
    """Pools, tickets and waves; rooms and challenges."""

    name = "matchmaking"

    def ready(self) -> None:
        from matchmaking import receivers  # noqa: F401  (connects them)
        from matchmaking.selectors.rooms import register_streams
        from matchmaking.services import own_data, own_tables

        register_streams()
        own_data.register_sections()
        own_tables.register_sections()

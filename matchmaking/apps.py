"""The Django app: it owns the state streams `pool:<key>`."""

from django.apps import AppConfig


class MatchmakingConfig(AppConfig):
    """Pools, tickets and waves; rooms and challenges."""

    name = "matchmaking"

    def ready(self) -> None:
        from matchmaking import receivers, states  # noqa: F401  (connects them)
        from matchmaking.selectors import rooms
        from matchmaking.services import own_data, own_tables

        states.register()
        rooms.register_streams()
        own_data.register_sections()
        own_tables.register_sections()

"""The Django app: it owns the state streams `pool:<key>`."""

from django.apps import AppConfig


class MatchmakingConfig(AppConfig):
    """Pools, tickets and waves."""

    name = "matchmaking"

    def ready(self) -> None:
        from matchmaking import receivers, states  # noqa: F401  (connects them)
        from matchmaking.services.own_data import register_sections

        states.register()
        register_sections()

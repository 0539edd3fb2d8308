"""The Django app of corner-to-corner games."""

from django.apps import AppConfig


class TerritoryConfig(AppConfig):
    name = "games.territory"
    label = "territory"
    verbose_name = "Corner-to-corner games"

    def ready(self) -> None:
        from games.territory import receivers, selectors  # noqa: F401  (receivers connect themselves)
        from games.territory.services.own_data import register_sections

        selectors.register_streams()
        register_sections()

"""The Django app of CPU players, hints and analyses."""

from django.apps import AppConfig


class BotsConfig(AppConfig):
    name = "bots"

    def ready(self) -> None:
        from accounts.selectors import offer_calibrated
        from bots import ratings, receivers  # noqa: F401  (receivers connect themselves)
        from bots.levels import LEVELS
        from bots.services.own_data import register_sections
        from games.territory.services.casual import offer_levels

        offer_levels(LEVELS)
        offer_calibrated(ratings.by_level())
        register_sections()

"""The Django app of corner-to-corner games."""

from django.apps import AppConfig


class TerritoryConfig(AppConfig):
    name = "games.territory"
    label = "territory"
    verbose_name = "Corner-to-corner games"

    def ready(self) -> None:
        from accounts.services.reports import offer_games
        from games.territory import present, receivers, selectors  # noqa: F401  (receivers connect themselves)

        selectors.register_streams()
        present.register_states()
        offer_games(lambda game_id: selectors.seating(game_id).players)

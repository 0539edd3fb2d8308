"""The Django app of corner-to-corner games."""

from django.apps import AppConfig


class TerritoryConfig(AppConfig):
    name = "games.territory"
    label = "territory"
    verbose_name = "Corner-to-corner games"

    def ready(self) -> None:
        from accounts.services import seasons
        from accounts.services.reports import offer_games
        from games.territory import (
            cards,  # noqa: F401  (they connect themselves)
            present,
            receivers,  # noqa: F401
            selectors,
            viewing,
            watching,
        )
        from games.territory.services.own_data import register_sections
        from games.territory.services.settle import unsettled_rated

        selectors.register_streams()
        viewing.register_streams()
        watching.register_streams()
        present.register_states()
        seasons.offer_unsettled(unsettled_rated)
        register_sections()
        offer_games(lambda game_id: selectors.seating(game_id).players)

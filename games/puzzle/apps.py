"""The Django app of the block puzzle."""

from django.apps import AppConfig


class PuzzleConfig(AppConfig):
    name = "games.puzzle"
    label = "puzzle"
    verbose_name = "Block puzzle"

    def ready(self) -> None:
        from games.puzzle import cards, receivers, selectors  # noqa: F401  (they register themselves)
        from games.puzzle.services.own_data import register_sections

        selectors.register_streams()
        register_sections()

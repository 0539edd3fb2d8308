"""The composition root as a Django app: it has the process commands and receivers, and no models."""

from django.apps import AppConfig


class KadoConfig(AppConfig):
    name = "config"
    label = "kado"

    def ready(self) -> None:
        from config import cards, receivers  # noqa: F401  (they register themselves)

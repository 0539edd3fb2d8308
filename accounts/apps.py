"""The app's entry: it owns the streams `inbox:<player id>`."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        from accounts.selectors.inbox import InboxSource
        from accounts.services.own_data import register_sections
        from common import streams

        streams.register("inbox", InboxSource())
        register_sections()

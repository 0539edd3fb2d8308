"""The app's entry: it owns the streams `inbox:<player id>`, and the state streams `friends:<player id>`."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        from accounts import receivers  # noqa: F401  (receivers connect themselves)
        from accounts import states as friends
        from accounts.selectors.inbox import InboxSource
        from accounts.services.own_data import register_sections
        from common import streams

        streams.register("inbox", InboxSource())
        friends.register()
        register_sections()

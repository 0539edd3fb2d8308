"""`manage.py erase_player`: a person's data are gone, and the games of others stay."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from accounts.selectors.people import anybody_named
from accounts.services.erasure import erase_player
from common.commands import ExampleCommand
from common.errors import KadoError

EXAMPLES = """\
  python manage.py erase_player Ada --reason "by letter of 30 November"
  python manage.py export_player Ada --output ada.json      beforehand, if the person wants a copy
"""


class Command(ExampleCommand):
    help = (
        "Erase a person: addresses, sign-ins, tokens, inbox and everything else of their own is removed, games stay "
        "without the name. There is no way back."
    )
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="of the player, in any case")
        parser.add_argument(
            "--reason", required=True, help="kept with the erasure; name nobody in it"
        )
        parser.add_argument("--by", default="", help="the operator's name, kept with it too")

    def handle(self, *args: Any, **options: Any) -> None:
        if not (reason := options["reason"].strip()):
            raise CommandError("--reason says why; it must not be empty.")
        try:
            player = anybody_named(options["name"])
            name = erase_player(player_id=player.pk, reason=reason, by_name=options["by"])
        except KadoError as error:
            raise CommandError(error.detail) from error
        self.stdout.write(f"erased; the games of others name {name} now")

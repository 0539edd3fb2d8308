"""`manage.py create_player`: a player with a token, for local use and for the first admin."""

import secrets
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from accounts.models import Player
from accounts.rules import PERSON_SCOPES, Scope
from accounts.services.people import create_player
from accounts.services.tokens import issue_token
from common.errors import KadoError

EXAMPLE = """examples:
  manage.py create_player Ada                            a player, and a token to play with
  manage.py create_player Ada --staff                    ... who may also sign in to /admin/
  manage.py create_player Deep --bot --scopes play bot   a bot with a narrow token
"""


class Command(BaseCommand):
    help = "Create a player and print a personal access token, which is shown this once."

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> Any:
        kwargs.update(epilog=EXAMPLE, formatter_class=RawDescriptionHelpFormatter)
        return super().create_parser(prog_name, subcommand, **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="2-24 letters, digits, _ or -, beginning with a letter")
        parser.add_argument(
            "--bot", action="store_true", help="a program makes this player's moves"
        )
        parser.add_argument("--staff", action="store_true", help="may use the admin site")
        parser.add_argument("--password", help="for --staff; one is made up and printed without it")
        parser.add_argument(
            "--scopes",
            nargs="+",
            choices=[scope.value for scope in Scope],
            metavar="SCOPE",
            help=f"what the token allows, some of: {', '.join(Scope)} (default: all that fits)",
        )
        parser.add_argument("--label", default="create_player", help="to know the token by")
        parser.add_argument(
            "--url", default="http://127.0.0.1:8000", help="where the server is, for the example"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["password"] and not options["staff"]:
            raise CommandError("--password is for --staff; players have tokens instead.")
        password = options["password"] or secrets.token_urlsafe(12) if options["staff"] else None
        scopes = options["scopes"] or (set(Scope) if options["bot"] else PERSON_SCOPES)
        try:
            with transaction.atomic():
                player = create_player(
                    name=options["name"],
                    staff=options["staff"],
                    password=password,
                    kind=Player.Kind.BOT if options["bot"] else Player.Kind.REGISTERED,
                )
                _, secret = issue_token(player_id=player.pk, scopes=scopes, label=options["label"])
        except KadoError as error:
            raise CommandError(error.detail) from error
        url = options["url"].rstrip("/")
        self.stdout.write(f"player  {player.name} ({player.kind})")
        self.stdout.write(
            f"token   {secret}   (shown this once; scopes: {' '.join(sorted(scopes))})"
        )
        self.stdout.write(f'try     curl -H "Authorization: Bearer {secret}" {url}/api/v1/me')
        if options["staff"]:
            given = "as given" if options["password"] else password
            self.stdout.write(f"admin   {url}/admin/   name {player.name}, password {given}")

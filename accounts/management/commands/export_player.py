"""`manage.py export_player`: all that is kept of a person."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from accounts.selectors.people import anybody_named
from accounts.services.person_export import export_schema, person_export
from common.commands import ExampleCommand
from common.errors import KadoError

EXAMPLES = """\
  python manage.py export_player Ada                      on the standard output
  python manage.py export_player Ada --output ada.json    into a file
  python manage.py export_player --schema                 what such a document looks like (JSON Schema)
"""


class Command(ExampleCommand):
    help = "Write all that is kept of a person as one JSON document. What is secret, such as tokens, is in no export."
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("name", nargs="?", help="of the player, in any case; banned ones too")
        what.add_argument("--schema", action="store_true", help="write the schema instead")
        parser.add_argument("--output", type=Path, help="a file (default: the standard output)")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["schema"]:
            parts = iter([json.dumps(export_schema(), indent=2) + "\n"])
        else:
            try:
                parts = person_export(anybody_named(options["name"]).pk)
            except KadoError as error:
                raise CommandError(error.detail) from error
        with ExitStack() as stack:
            output = self.stdout
            if options["output"] is not None:
                try:
                    opened = options["output"].open("w", encoding="utf-8")
                except OSError as error:
                    raise CommandError(f"{options['output']}: {error.strerror}.") from error
                output = stack.enter_context(opened)
            for part in parts:
                output.write(part) if options["output"] else output.write(part, ending="")

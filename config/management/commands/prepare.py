"""`manage.py prepare`: bring the database to this version; safe to run again and again."""

from typing import Any

from django.core.management import call_command

from accounts.services.people import cpu_player
from bots.levels import LEVELS
from common.commands import ExampleCommand
from config.roles import write_roles

EXAMPLES = """\
  python manage.py prepare      once, before the processes of a new version start
"""


class Command(ExampleCommand):
    help = (
        "Migrate the database, create the standard pools and the CPU players where they are missing, and give the "
        "roles of the admin site their permissions."
    )
    examples = EXAMPLES

    def handle(self, *args: Any, verbosity: int = 1, **options: Any) -> None:
        call_command("migrate", interactive=False, verbosity=verbosity)
        call_command("seed_pools", verbosity=verbosity)
        for level in LEVELS:
            cpu_player(level)
        write_roles()

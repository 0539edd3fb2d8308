"""A bots worker whose engine kills its own process at every junior position, as a fault in compiled code would.

Run as a file, with the arguments of `manage.py worker`.
"""

import os
import signal
import sys
from pathlib import Path
from random import Random

import django
from django.core.management import call_command

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


from games.territory.rules import Move, Position


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from bots import tasks

    choose = tasks.choose

    def choose_or_die(level: str, position: Position, random: Random, effort: float = 1.0) -> Move:
        if position.variant.key == "junior":
            os.kill(os.getpid(), signal.SIGKILL)
        return choose(level, position, random, effort)

    tasks.choose = choose_or_die
    call_command("worker", *sys.argv[1:])


if __name__ == "__main__":
    main()

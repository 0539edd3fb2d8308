#!/usr/bin/env python
"""Kado's commands: `python manage.py help` lists them, `python manage.py serve` runs everything."""

import os
import sys
from importlib import import_module

WITHOUT_SETTINGS = {
    "serve": "config",
    "perft": "games.territory",
    "verify_games": "games.territory",
    "show": "games.territory",
    "convert": "games.territory",
    "replay_run": "games.puzzle",
    "play_puzzle": "games.puzzle",
    "kernels": "bots",
    "gtp": "bots",
    "arena": "bots",
    "analyse": "bots",
    "puzzle_baseline": "bots",
    "calibrate": "bots",
}
"""The commands that run where no service does, and their apps: the settings, which want addresses, are not loaded."""


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        from config.env import ConfigurationError
    except ImportError as error:
        sys.exit(
            f"kado: {error}. Run `make setup` and use .venv/bin/python, or simply `make serve`."
        )
    try:
        run(sys.argv)
        sys.stdout.flush()
    except ConfigurationError as error:
        sys.exit(f"kado: {error}")
    except BrokenPipeError:  # whoever reads has had enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def run(arguments: list[str]) -> None:
    """Run a command: `serve`, those of the rules and of the engine at once, any other within Django."""
    name = arguments[1] if len(arguments) > 1 else ""
    if name in WITHOUT_SETTINGS:
        module = import_module(f"{WITHOUT_SETTINGS[name]}.management.commands.{name}")
        module.Command().run_from_argv(arguments)
        return
    from django.core.management import execute_from_command_line

    execute_from_command_line(arguments)


if __name__ == "__main__":
    main()

#!/usr/bin/env python
"""Kado's commands: `python manage.py help` lists them, `python manage.py serve` runs everything."""

import os
import sys


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
    except ConfigurationError as error:
        sys.exit(f"kado: {error}")


def run(arguments: list[str]) -> None:
    """Run a command; `serve` without loading the settings, whose addresses only exist once it has begun."""
    if arguments[1:2] == ["serve"]:
        from config.management.commands.serve import Command

        Command().run_from_argv(arguments)
        return
    from django.core.management import execute_from_command_line

    execute_from_command_line(arguments)


if __name__ == "__main__":
    main()

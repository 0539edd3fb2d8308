"""What Kado's commands have in common: a short `--help` with examples."""

from argparse import RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand, CommandParser, DjangoHelpFormatter


class _Formatter(DjangoHelpFormatter, RawDescriptionHelpFormatter):
    """Keeps the lines of the examples as they are."""


class ExampleCommand(BaseCommand):
    """A command whose `--help` ends with `examples` and leaves out Django's rarely used options."""

    examples = ""
    requires_system_checks = ()
    suppressed_base_arguments = {
        *("--version", "--settings", "--pythonpath", "--traceback"),
        *("--no-color", "--force-color", "--verbosity"),
    }

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(
            prog_name,
            subcommand,
            epilog=f"examples:\n{self.examples}",
            formatter_class=_Formatter,
            **kwargs,
        )

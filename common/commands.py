"""What Kado's commands have in common: a short `--help` with examples, and files that are written whole."""

import os
import tempfile
from argparse import RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.core.management.base import (
    BaseCommand,
    CommandError,
    CommandParser,
    DjangoHelpFormatter,
)


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


def replace_file(path: Path, text: str) -> None:
    """Put a text into a file at once or not at all; raises `CommandError` with the status 2."""
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as draft:
            draft.write(text)
        umask = os.umask(0)
        os.umask(umask)
        Path(draft.name).chmod(0o666 & ~umask)
        Path(draft.name).replace(path)
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}.", returncode=2) from error

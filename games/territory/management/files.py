"""Records in files: Blokus SGF (`.blksgf`, `.sgf`) and JSON (`.json`), told apart by the end of the name."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from django.core.management.base import CommandError

from common.commands import replace_file
from games.territory.rules import Record, RulesError, read_json, read_sgf, write_json, write_sgf

READERS: Final[dict[str, Callable[[bytes], Record]]] = {
    ".blksgf": read_sgf,
    ".sgf": read_sgf,
    ".json": read_json,
}
WRITERS: Final[dict[str, Callable[[Record], str]]] = {
    ".blksgf": write_sgf,
    ".sgf": write_sgf,
    ".json": write_json,
}


def load(path: Path) -> Record:
    """The record of a file, every move of it checked; raises `CommandError` with the status 2."""
    read = READERS[ending(path)]
    try:
        return read(path.read_bytes())
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.", returncode=2) from error
    except RulesError as error:
        raise CommandError(f"{path}: {error} [{error.code}]", returncode=2) from error


def save(record: Record, path: Path) -> None:
    """Write a record; raises `CommandError` with the status 2, and then nothing has changed."""
    write = WRITERS[ending(path)]
    try:
        text = write(record)
    except RulesError as error:
        raise CommandError(f"{path}: {error} [{error.code}]", returncode=2) from error
    replace_file(path, text)


def ending(path: Path) -> str:
    """The end of a file's name, which says what is in it; raises `CommandError` with the status 2 for any other."""
    found = path.suffix.lower()
    if found not in READERS:
        raise CommandError(
            f"{path}: the name of a record ends with {', '.join(READERS)}.", returncode=2
        )
    return found
